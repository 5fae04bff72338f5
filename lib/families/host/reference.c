/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reference: plain C, every sum in double precision and rounded once.
 *
 * Walks B along its rows for a strip of columns, so that a row-major B is read
 * in order. What other results are measured against must be simple.
 */
#include "families/transform/args.h"
#include "functions.h"

enum { STRIP = 256 };

static void strip(const xg_product_args *p, int64_t row, int64_t col, int width)
{
    double sum[STRIP] = {0.0};
    const float *a = p->a + row * p->a_stride_m, *b = p->b + col * p->b_stride_n;
    float *c = p->c + row * p->c_stride_m + col;

    for (int64_t l = 0; l < p->k; l++) {
        const double ail = a[l * p->a_stride_k];
        for (int j = 0; j < width; j++)
            sum[j] += ail * (double)b[l * p->b_stride_k + j * p->b_stride_n];
    }
    for (int j = 0; j < width; j++) {
        double value = (double)p->alpha * sum[j];
        if (p->beta != 0.0f)
            value += (double)p->beta * (double)c[j];
        c[j] = (float)value;
    }
}

void xg_host_reference(const void *args)
{
    const xg_product_args *p = args;
    for (int64_t row = 0; row < p->m; row++)
        for (int64_t col = 0; col < p->n; col += STRIP)
            strip(p, row, col, (int)(p->n - col < STRIP ? p->n - col : STRIP));
}

void xg_host_scale(const void *args)
{
    const xg_scale_args *p = args;
    for (int64_t row = 0; row < p->m; row++)
        for (int64_t col = 0; col < p->n; col++) {
            float *c = p->c + row * p->c_stride_m + col;
            *c = p->beta == 0.0f ? 0.0f : p->beta * *c;
        }
}
