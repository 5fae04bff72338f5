/* SPDX-License-Identifier: BSD-3-Clause */
#include "reference.h"

#include <math.h>

/* ---- Sums ---- */

static void add(precise *to, double x)
{
    const double sum = to->high + x, rounded = sum - to->high;
    to->low += (to->high - (sum - rounded)) + (x - rounded);
    to->high = sum;
}

static void add_product(precise *to, double x, double y)
{
    const double product = x * y;
    add(to, product);
    to->low += fma(x, y, -product);
}

/* Where there is Inf or NaN, the low part, in which Inf - Inf may have been computed, is nothing.
 */
static precise finished(precise x)
{
    return (precise){x.high, isfinite(x.high) ? x.low : 0.0};
}

double precise_value(precise x)
{
    return x.high + x.low;
}

double precise_difference(double got, precise x)
{
    return (got - x.high) - x.low;
}

/* ---- Operands ---- */

int64_t reference_row_length(const workload *w)
{
    return type_is_complex(w->type) ? 2 * w->size.k : w->size.k;
}

void reference_row(const workload *w, bool is_b, const void *memory, int64_t product, int64_t row,
                   double *values)
{
    const workload_place place = workload_place_of(w, is_b, product);
    const bool conjugate = (is_b ? w->transb : w->transa) == XGEMM_CONJ_TRANS;
    const bool is_complex = type_is_complex(w->type);
    for (int64_t l = 0; l < w->size.k; l++) {
        const scalar x = element_load(w->type, memory,
                                      place.first + row * place.row_stride + l * place.k_stride);
        if (is_complex) {
            values[2 * l] = x.re;
            values[2 * l + 1] = conjugate ? -x.im : x.im;
        } else {
            values[l] = x.re;
        }
    }
}

/* ---- Elements ---- */

/* Products of floats are exact in double. */
static void sum_single(const workload *w, const double *a, const double *b, expected *e)
{
    double sum = 0.0, mass = 0.0;
    for (int64_t l = 0; l < w->size.k; l++) {
        const double x = a[l] * b[l];
        sum += x;
        mass += fabs(x);
    }
    e->part[0].high = sum;
    e->sum_mass[0] = mass;
}

static void sum_double(const workload *w, const double *a, const double *b, expected *e)
{
    for (int64_t l = 0; l < w->size.k; l++) {
        add_product(&e->part[0], a[l], b[l]);
        e->sum_mass[0] += fabs(a[l] * b[l]);
    }
}

static void add_complex(expected *e, const double *a, const double *b)
{
    add_product(&e->part[0], a[0], b[0]);
    add_product(&e->part[0], -a[1], b[1]);
    add_product(&e->part[1], a[0], b[1]);
    add_product(&e->part[1], a[1], b[0]);
    e->sum_mass[0] += fabs(a[0] * b[0]) + fabs(a[1] * b[1]);
    e->sum_mass[1] += fabs(a[0] * b[1]) + fabs(a[1] * b[0]);
}

static void sum_complex(const workload *w, const double *a, const double *b, expected *e)
{
    for (int64_t l = 0; l < w->size.k; l++)
        add_complex(e, a + 2 * l, b + 2 * l);
}

/* Adds factor * x to a part, where x is a sum with its mass. */
static void add_scaled(expected *e, int part, double factor, precise x, double mass)
{
    add_product(&e->part[part], factor, x.high);
    e->part[part].low += factor * x.low;
    e->mass[part] += fabs(factor) * mass;
}

/* A factor of 1 leaves the parts apart. */
static void add_factor(expected *e, bool is_complex, scalar factor, const precise x[2],
                       const double mass[2])
{
    add_scaled(e, 0, factor.re, x[0], mass[0]);
    if (!is_complex)
        return;
    add_scaled(e, 1, factor.re, x[1], mass[1]);
    if (factor.re == 1.0 && factor.im == 0.0)
        return;
    add_scaled(e, 0, -factor.im, x[1], mass[1]);
    add_scaled(e, 1, factor.im, x[0], mass[0]);
}

expected reference_element(const workload *w, const double *a, const double *b, scalar c,
                           scalar bias)
{
    expected sum = {.mass = {0.0, 0.0}}, e = {.mass = {0.0, 0.0}};
    const bool is_complex = type_is_complex(w->type);
    const bool multiplied = !scalar_is_zero(w->alpha) && w->size.k > 0;
    if (multiplied) {
        if (is_complex)
            sum_complex(w, a, b, &sum);
        else if (type_part(w->type) == XGEMM_F64)
            sum_double(w, a, b, &sum);
        else
            sum_single(w, a, b, &sum);
        const precise parts[2] = {finished(sum.part[0]), finished(sum.part[1])};
        add_factor(&e, is_complex, w->alpha, parts, sum.sum_mass);
    }
    if (!scalar_is_zero(w->beta)) {
        const precise parts[2] = {{c.re, 0.0}, {c.im, 0.0}};
        const double magnitudes[2] = {fabs(c.re), fabs(c.im)};
        add_factor(&e, is_complex, w->beta, parts, magnitudes);
    }
    const double biases[2] = {bias.re, bias.im};
    for (int part = 0; part < 2; part++) {
        if (w->has_bias) {
            add(&e.part[part], biases[part]);
            e.mass[part] += fabs(biases[part]);
        }
        e.part[part] = finished(e.part[part]);
        e.sum_mass[part] = sum.sum_mass[part];
    }
    e.may_be_nan = is_complex && !(isfinite(e.part[0].high) && isfinite(e.part[1].high));
    return e;
}
