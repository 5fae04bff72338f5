/* SPDX-License-Identifier: BSD-3-Clause */
#include "error_sample.h"

#include "failure.h"
#include "random.h"
#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ELEMENTS_LEAST = 16, ELEMENTS_MOST = 4096 };
#define PRODUCTS_MOST ((int64_t)1 << 28)

/* In host memory; and a row of op(A) and a column of op(B). */
typedef struct {
    void *a, *b, *before, *after, *bias;
    double *row, *column;
} copies;

static void *download(xgemm_handle *handle, const void *from, size_t bytes)
{
    void *to = malloc(bytes);
    if (to && xgemm_download(handle, to, from, bytes) == XGEMM_OK)
        return to;
    free(to);
    return NULL;
}

static bool run(xgemm_handle *handle, const rotation *sets, const workload *w, enqueue call,
                void *context, copies *to)
{
    const buffers first = rotation_at(sets, 0);
    const size_t length = (size_t)reference_row_length(w) + 1;
    return (to->row = malloc(length * sizeof *to->row)) &&
           (to->column = malloc(length * sizeof *to->column)) &&
           (to->a = download(handle, first.a, sets->a_bytes)) &&
           (to->b = download(handle, first.b, sets->b_bytes)) &&
           (to->before = download(handle, first.c, sets->c_bytes)) &&
           (!w->has_bias || (to->bias = download(handle, first.bias, sets->bias_bytes))) &&
           call(context, w, &first) && xgemm_synchronize(handle) == XGEMM_OK &&
           (to->after = download(handle, first.c, sets->c_bytes));
}

/* The error of a part of an element, as a share of the magnitudes that make it up. */
static double part_error(const workload *w, double got, const expected *e, int part)
{
    precise want = e->part[part];
    if (w->activation)
        want = (precise){activated(w->activation, precise_value(want)), 0.0};
    const double value = precise_value(want), error = fabs(precise_difference(got, want));
    if (!isfinite(value) || fabs(value) >= type_limit(w->type_c))
        return 0.0;
    return error == 0.0 ? 0.0 : error / e->mass[part];
}

/* The larger one of its parts, NaN if one is. */
static double error_at(const workload *w, const copies *of, int64_t product, int64_t i, int64_t j)
{
    const int64_t at =
        product * w->stride_c + (w->order == XGEMM_ROW_MAJOR ? i * w->ldc + j : j * w->ldc + i);
    const scalar none = {0.0, 0.0}, got = element_load(w->type_c, of->after, at);
    const scalar bias =
        w->has_bias ? element_load(w->type_c, of->bias, w->bias_per_row ? i : j) : none;
    reference_row(w, false, of->a, product, i, of->row);
    reference_row(w, true, of->b, product, j, of->column);
    const expected e =
        reference_element(w, of->row, of->column, element_load(w->type_c, of->before, at), bias);
    const double re = part_error(w, got.re, &e, 0);
    const double im = type_is_complex(w->type_c) ? part_error(w, got.im, &e, 1) : 0.0;
    return re > im || isnan(re) ? re : im;
}

bool error_sample(xgemm_handle *handle, const rotation *sets, const workload *work, enqueue call,
                  void *context, uint64_t seed, double *worst, char *message, size_t message_size)
{
    copies of = {.a = NULL};
    random_source source = {seed};
    const shape *s = &work->size;
    const bool done = run(handle, sets, work, call, context, &of);
    if (!done)
        snprintf(message, message_size, "%s", failure_of(handle));
    int64_t left = PRODUCTS_MOST / (s->k > 0 ? s->k : 1);
    left = left < ELEMENTS_LEAST ? ELEMENTS_LEAST : left > ELEMENTS_MOST ? ELEMENTS_MOST : left;
    *worst = 0.0;
    for (; done && s->m > 0 && s->n > 0 && left > 0; left--) {
        const int64_t product = (int64_t)(random_bits(&source) % (uint64_t)work->batch);
        const int64_t i = (int64_t)(random_bits(&source) % (uint64_t)s->m);
        const int64_t j = (int64_t)(random_bits(&source) % (uint64_t)s->n);
        const double error = error_at(work, &of, product, i, j);
        /* A NaN where there should be none is the worst. */
        if (!(error <= *worst))
            *worst = isnan(error) ? INFINITY : error;
    }
    free(of.a);
    free(of.b);
    free(of.before);
    free(of.after);
    free(of.bias);
    free(of.row);
    free(of.column);
    return done;
}
