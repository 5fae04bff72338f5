/* SPDX-License-Identifier: BSD-3-Clause */
#include "checking_compare.h"

#include "reference.h"

#include <math.h>
#include <stdlib.h>

static bool same_kind(double got, double want)
{
    if (isnan(want))
        return isnan(got);
    if (isinf(want))
        return got == want;
    return isfinite(got);
}

static bool is_unit(scalar factor)
{
    return (factor.re == 0.0 || fabs(factor.re) == 1.0) &&
           (factor.im == 0.0 || fabs(factor.im) == 1.0);
}

/* ---- How much an element may be off ---- */

/* Parts of the magnitudes of its terms, and of itself, and an absolute part for subnormal sums. */
typedef struct {
    double part, own, absolute;
} tolerance;

static tolerance tolerance_of(const workload *w, values_kind kind, xgemm_math math)
{
    const xgemm_type sums = type_of_sums(w->type);
    const bool is_half = type_is_half(w->type), is_double = type_part(sums) == XGEMM_F64;
    const double terms = (double)w->size.k * (type_is_complex(w->type) ? 2.0 : 1.0);
    const double unit = type_unit(sums);
    /* Half the least subnormal for each rounding below the normal range; of sums times alpha. */
    const double roundings = terms * fmax(1.0, fabs(w->alpha.re) + fabs(w->alpha.im)) + 4.0;
    tolerance t = {(terms + 4.0) * unit, 0.0, roundings * type_least(sums) / 2.0};
    if (is_double)
        t.absolute = roundings * type_least(sums); /* half of the least would be 0 */
    /* Both inputs are rounded to TF32, by 2^-11 each. */
    if (math == XGEMM_MATH_TF32 && !is_half && !is_double)
        t.part += 0x1p-10;
    if (math == XGEMM_MATH_DEFAULT && !is_half && kind == VALUES_DATA)
        t = (tolerance){fmax(2.0 * t.part, is_double ? 0x1p-51 : 0x1p-20), 0.0, 2.0 * t.absolute};
    if (w->activation)
        t = (tolerance){1.2 * t.part, 16.0 * unit, 1.2 * t.absolute};
    if (type_is_half(w->type_c)) {
        t.own += type_unit(w->type_c);
        t.absolute += type_least(w->type_c) / 2.0;
    }
    return t;
}

/*
 * Whether a partial sum may exceed the sums' type where the reference does not, or where it is
 * Inf, by the terms' magnitudes before and after alpha. NaN comes from the operands, and stays.
 */
static bool may_overflow(const workload *w, double sum_mass, double mass, double want)
{
    const bool is_double = type_part(type_of_sums(w->type)) == XGEMM_F64;
    const double most = (is_double ? 0x1.fffffffffffffp1023 : (double)0x1.fffffep127f) / 4.0;
    return !isnan(want) && !(sum_mass <= most && mass <= most);
}

/* ---- Elements ---- */

/* What all elements of a product have in common. */
typedef struct {
    const workload *w;
    bool exact, overflows;
    tolerance allowed;
    check_result *result;
} comparison;

/* Which of the two it is, where it may be either: beyond the type, or the largest that is not. */
static precise clipped(precise want, double got, double bound, xgemm_type type)
{
    const double limit = type_limit(type), magnitude = fabs(precise_value(want));
    if (!isfinite(magnitude) || magnitude + bound < limit)
        return want;
    const double inf = copysign((double)INFINITY, want.high);
    return magnitude - bound >= limit || got == inf ? (precise){inf, 0.0} : want;
}

static void compare_part(const comparison *to, double got, const expected *e, int part, int64_t row,
                         int64_t col)
{
    const workload *w = to->w;
    check_result *result = to->result;
    precise want = e->part[part];
    /* Inf in one part of a complex sum reaches both by alpha, also by its imaginary part of 0. */
    const double sum_mass =
        type_is_complex(w->type_c) ? fmax(e->sum_mass[0], e->sum_mass[1]) : e->sum_mass[0];
    if (to->overflows && may_overflow(w, sum_mass, e->mass[part], want.high))
        return;
    if (e->may_be_nan && isnan(got))
        return;
    if (w->activation)
        want = (precise){activated(w->activation, precise_value(want)), 0.0};
    if (to->exact)
        want = (precise){type_round(w->type_c, precise_value(want)), 0.0};
    const double bound = to->allowed.part * e->mass[part] +
                         to->allowed.own * fabs(precise_value(want)) + to->allowed.absolute;
    want = clipped(want, got, to->exact ? 0.0 : bound, w->type_c);
    const double value = precise_value(want);
    const double error =
        isfinite(got) && isfinite(value) ? fabs(precise_difference(got, want)) : 0.0;
    const double share =
        to->exact ? (got == value ? 0.0 : INFINITY) : (error == 0.0 ? 0.0 : error / bound);
    if (share > result->worst) {
        result->worst = share;
        result->error = e->mass[part] > 0.0 ? error / e->mass[part] : 0.0;
        result->bound = !to->exact && e->mass[part] > 0.0 ? bound / e->mass[part] : 0.0;
    }
    if (!same_kind(got, value) || (isfinite(value) && share > 1.0)) {
        if (result->wrong++ == 0) {
            result->row = row, result->col = col;
            result->got = got, result->want = value;
        }
    }
}

static void compare_element(const comparison *to, scalar got, const expected *e, int64_t row,
                            int64_t col)
{
    to->result->elements++;
    compare_part(to, got.re, e, 0, row, col);
    if (type_is_complex(to->w->type_c))
        compare_part(to, got.im, e, 1, row, col);
}

static int64_t place_in_c(const workload *w, int64_t product, int64_t i, int64_t j)
{
    return product * w->stride_c + (w->order == XGEMM_ROW_MAJOR ? i * w->ldc + j : j * w->ldc + i);
}

/* a holds one row of A, b all columns of B. */
static void compare_row(const comparison *to, const checked_memory *m, int64_t product, int64_t i,
                        const double *a, const double *b)
{
    const workload *w = to->w;
    const int64_t length = reference_row_length(w);
    for (int64_t j = 0; j < w->size.n; j++) {
        const int64_t at = place_in_c(w, product, i, j);
        const scalar none = {0.0, 0.0};
        const scalar bias =
            w->has_bias ? element_load(w->type_c, m->bias, w->bias_per_row ? i : j) : none;
        const scalar c = element_load(w->type_c, m->c_before, at);
        const expected e = reference_element(w, a, b + j * length, c, bias);
        compare_element(to, element_load(w->type_c, m->c_after, at), &e, i, j);
    }
}

static void compare_product(const comparison *to, const checked_memory *m, int64_t product,
                            double *a, double *b)
{
    const workload *w = to->w;
    const int64_t length = reference_row_length(w);
    for (int64_t j = 0; j < w->size.n; j++)
        reference_row(w, true, m->b, product, j, b + j * length);
    for (int64_t i = 0; i < w->size.m; i++) {
        reference_row(w, false, m->a, product, i, a);
        compare_row(to, m, product, i, a, b);
    }
}

bool compare_products(const workload *w, const values_choice *values, xgemm_math math,
                      const checked_memory *memory, check_result *result)
{
    const size_t length = (size_t)reference_row_length(w);
    const comparison to = {.w = w,
                           .exact = values->kind == VALUES_DYADIC && is_unit(w->alpha) &&
                                    is_unit(w->beta) && !w->activation,
                           .overflows = values->kind == VALUES_DATA &&
                                        data_pair_has(values->data, DATA_OVERFLOWS),
                           .allowed = tolerance_of(w, values->kind, math),
                           .result = result};
    double *const a = malloc((length + 1) * sizeof *a);
    double *const b = malloc((length * (size_t)w->size.n + 1) * sizeof *b);
    for (int64_t product = 0; product < w->batch && a && b; product++)
        compare_product(&to, memory, product, a, b);
    const bool done = a && b;
    free(a);
    free(b);
    return done;
}
