/* SPDX-License-Identifier: BSD-3-Clause */
#include "error_sample.h"

#include "failure.h"
#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ELEMENTS_LEAST = 16, ELEMENTS_MOST = 4096 };
#define PRODUCTS_MOST ((int64_t)1 << 28)

/* In host memory. */
typedef struct {
    float *a, *b, *before, *after;
} copies;

static float *download(xgemm_handle *handle, const float *from, size_t bytes)
{
    float *to = malloc(bytes);
    if (to && xgemm_download(handle, to, from, bytes) == XGEMM_OK)
        return to;
    free(to);
    return NULL;
}

static bool run(xgemm_handle *handle, const rotation *sets, const workload *work, enqueue call,
                void *context, copies *to)
{
    const buffers first = rotation_at(sets, 0);
    return (to->a = download(handle, first.a, sets->a_bytes)) &&
           (to->b = download(handle, first.b, sets->b_bytes)) &&
           (to->before = download(handle, first.c, sets->c_bytes)) && call(context, work, &first) &&
           xgemm_synchronize(handle) == XGEMM_OK &&
           (to->after = download(handle, first.c, sets->c_bytes));
}

/* The error of an element of one product, as a part of the magnitudes that make it up. */
static double error_at(const workload *w, const copies *of, int64_t product, int64_t i, int64_t j)
{
    const data_operand a = workload_operand(w, false, of->a, product);
    const data_operand b = workload_operand(w, true, of->b, product);
    const int64_t at =
        product * w->stride_c + (w->order == XGEMM_ROW_MAJOR ? i * w->ldc + j : j * w->ldc + i);
    const double alpha = (double)w->alpha, beta = (double)w->beta;
    double sum = 0.0, magnitude = 0.0;
    for (int64_t l = 0; l < w->size.k; l++) {
        const double x = (double)a.values[i * a.row_stride + l * a.k_stride] *
                         (double)b.values[j * b.row_stride + l * b.k_stride];
        sum += x;
        magnitude += fabs(x);
    }
    const double c = beta != 0.0 ? beta * (double)of->before[at] : 0.0;
    const double want = alpha * sum + c, scale = fabs(alpha) * magnitude + fabs(c);
    const double error = fabs((double)of->after[at] - want);
    return !isfinite(want) ? 0.0 : error == 0.0 ? 0.0 : error / scale;
}

bool error_sample(xgemm_handle *handle, const rotation *sets, const workload *work, enqueue call,
                  void *context, uint64_t seed, double *worst, char *message, size_t message_size)
{
    copies of = {NULL, NULL, NULL, NULL};
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
    return done;
}
