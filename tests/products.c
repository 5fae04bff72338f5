/* SPDX-License-Identifier: BSD-3-Clause */
#include "support.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void set_layout(shape *of, int layout)
{
    of->order = layout & 1 ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR;
    of->transa = layout & 2 ? XGEMM_TRANS : XGEMM_NO_TRANS;
    of->transb = layout & 4 ? XGEMM_TRANS : XGEMM_NO_TRANS;
}

product *product_new(xgemm_handle *handle, const shape *of)
{
    const bool ta = of->transa != XGEMM_NO_TRANS, tb = of->transb != XGEMM_NO_TRANS;
    product *p = allocate(sizeof *p);
    p->shape = *of;
    p->handle = handle;
    p->a = matrix_new(handle, of->order, ta ? of->k : of->m, ta ? of->m : of->k, of->gap_a,
                      of->shift_a);
    p->b = matrix_new(handle, of->order, tb ? of->n : of->k, tb ? of->k : of->n, of->gap_b,
                      of->shift_b);
    p->c = matrix_new(handle, of->order, of->m, of->n, of->gap_c, of->shift_c);
    p->why[0] = '\0';
    return p;
}

void product_free(product *p)
{
    matrix_free(&p->a);
    matrix_free(&p->b);
    matrix_free(&p->c);
    free(p);
}

void product_fill(product *p, float (*draw)(generator *), generator *from)
{
    matrix_fill(&p->a, draw, from);
    matrix_fill(&p->b, draw, from);
    matrix_fill(&p->c, draw, from);
    if (p->shape.alpha == 0.0f) {
        matrix_set(&p->a, NAN);
        matrix_set(&p->b, NAN);
    }
    if (p->shape.beta == 0.0f)
        matrix_set(&p->c, NAN);
}

static char letter_of(xgemm_transpose trans)
{
    return trans == XGEMM_NO_TRANS ? 'N' : trans == XGEMM_TRANS ? 'T' : 'C';
}

/* The product, with the kernel that it ran, and what was wrong. */
static bool wrong(product *p, const char *what)
{
    const shape *s = &p->shape;
    const char *kernel = xgemm_last_kernel(p->handle);
    snprintf(p->why, sizeof p->why,
             "%s: %s order, %c%c, m %" PRId64 ", n %" PRId64 ", k %" PRId64
             ", alpha %g, beta %g, lda %" PRId64 ", ldb %" PRId64 ", ldc %" PRId64
             ", shifts %d %d %d: %s",
             kernel ? kernel : "no kernel", s->order == XGEMM_ROW_MAJOR ? "row" : "column",
             letter_of(s->transa), letter_of(s->transb), s->m, s->n, s->k, (double)s->alpha,
             (double)s->beta, p->a.ld, p->b.ld, p->c.ld, s->shift_a, s->shift_b, s->shift_c, what);
    return false;
}

bool product_left_c(const product *p)
{
    return matrix_is_unchanged(&p->c);
}

static xgemm_status call(product *p)
{
    const shape *s = &p->shape;
    return xgemm_sgemm(p->handle, s->order, s->transa, s->transb, s->m, s->n, s->k, s->alpha,
                       p->a.memory + p->a.first, p->a.ld, p->b.memory + p->b.first, p->b.ld,
                       s->beta, p->c.memory + p->c.first, p->c.ld);
}

bool product_run(product *p)
{
    const matrix *matrices[] = {&p->a, &p->b, &p->c};
    xgemm_status status = XGEMM_OK;
    for (int i = 0; i < COUNT(matrices) && !status; i++)
        status = matrix_send(matrices[i]);
    if (!status)
        status = call(p);
    for (int i = 0; i < COUNT(matrices); i++)
        matrix_unpoison(matrices[i]);
    for (int i = 0; i < COUNT(matrices) && !status; i++)
        status = matrix_receive(matrices[i]);
    if (status)
        return wrong(p, xgemm_last_error(p->handle));
    if (!matrix_is_unchanged(&p->a) || !matrix_is_unchanged(&p->b))
        return wrong(p, "A or B, or what lies around them, has changed");
    if (!matrix_gaps_are_unchanged(&p->c))
        return wrong(p, "a canary around C or beyond its leading dimension has changed");
    return true;
}

/* op(X) in double precision, dense and K-major. */
static double *gather(const matrix *x, bool k_is_rows)
{
    const int64_t k = k_is_rows ? x->rows : x->columns, mn = k_is_rows ? x->columns : x->rows;
    double *dense = allocate((size_t)(k * mn + 1) * sizeof *dense);
    for (int64_t i = 0; i < mn; i++)
        for (int64_t l = 0; l < k; l++)
            dense[i * k + l] =
                (double)x->before[k_is_rows ? matrix_at(x, l, i) : matrix_at(x, i, l)];
    return dense;
}

typedef struct {
    double value;
    double magnitude; /* |alpha| |A| |B| + |beta| |C| */
} expectation;

static expectation expect(const shape *s, const double *a, const double *b, double c)
{
    const bool multiplies = s->k > 0 && s->alpha != 0.0f;
    double sum = 0.0, magnitude = 0.0;
    for (int64_t l = 0; multiplies && l < s->k; l++) {
        sum += a[l] * b[l];
        magnitude += fabs(a[l] * b[l]);
    }
    expectation e = {0.0, 0.0};
    if (multiplies) {
        e.value = (double)s->alpha * sum;
        e.magnitude = fabs((double)s->alpha) * magnitude;
    }
    if (s->beta != 0.0f) {
        const double term = (double)s->beta * c;
        e.value = multiplies ? e.value + term : term;
        e.magnitude += fabs(term);
    }
    return e;
}

/* Any NaN is as good as another; a BLAS may add a product of -0 to a C that it set to 0 before. */
static bool is_exactly(float result, double value, bool any_zero)
{
    const float rounded = (float)value;
    if (isnan(rounded))
        return isnan(result);
    if (any_zero && rounded == 0.0f)
        return result == 0.0f;
    return memcmp(&result, &rounded, sizeof result) == 0;
}

/*
 * The worst case of FP32 arithmetic in any order: k roundings of products and
 * sums, those of alpha * sum, beta * C and their sum, and the terms of second
 * order, which are less than one more rounding for the sizes here.
 */
static bool is_within(float result, const expectation *e, int64_t k, const char *kernel)
{
    const double gamma = (double)(k + 4) * 0x1p-24;
    /* FP32 split into two FP16: as XGEMM_MATH_DEFAULT allows, also where k is short. */
    const bool fp16 = kernel && strncmp(kernel, "fp16x3", 6) == 0;
    return fabs((double)result - e->value) <= fmax(gamma, fp16 ? 0x1p-20 : 0.0) * e->magnitude;
}

static bool element_agrees(product *p, accuracy how, int64_t row, int64_t column,
                           const expectation *e)
{
    const float result = p->c.after[matrix_at(&p->c, row, column)];
    const char *kernel = xgemm_last_kernel(p->handle);
    char what[160];
    if (how == EXACT ? is_exactly(result, e->value, kernel && strcmp(kernel, "blas") == 0)
                     : is_within(result, e, p->shape.k, kernel))
        return true;
    snprintf(what, sizeof what, "C(%" PRId64 ", %" PRId64 ") is %.9g (%a), should be %.17g (%a)",
             row, column, (double)result, (double)result, e->value, e->value);
    return wrong(p, what);
}

bool product_agrees(product *p, accuracy how)
{
    const shape *s = &p->shape;
    double *a = gather(&p->a, s->transa != XGEMM_NO_TRANS);
    double *b = gather(&p->b, s->transb == XGEMM_NO_TRANS);
    bool right = true;
    for (int64_t row = 0; row < s->m && right; row++)
        for (int64_t column = 0; column < s->n && right; column++) {
            const double c = (double)p->c.before[matrix_at(&p->c, row, column)];
            const expectation e = expect(s, a + row * s->k, b + column * s->k, c);
            right = element_agrees(p, how, row, column, &e);
        }
    free(a);
    free(b);
    return right;
}

void product_check(product *p, accuracy how)
{
    require(product_run(p) && product_agrees(p, how), p->why);
}

void check_shape(xgemm_handle *handle, const shape *of, float (*draw)(generator *), accuracy how,
                 uint64_t seed)
{
    generator from = {seed};
    product *p = product_new(handle, of);
    product_fill(p, draw, &from);
    product_check(p, how);
    product_free(p);
}
