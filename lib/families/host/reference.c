/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reference: plain C, for every element type. Sums of 16-bit and single-precision numbers are in
 * double precision, those of doubles in twice that, and C is rounded once.
 *
 * Walks B along its rows for a strip of columns, so that a row-major B is read in order. What other
 * results are measured against must be simple.
 */
#include "families/transform/args.h"
#include "functions.h"
#include "values.h"

#include <math.h>
#include <stdbool.h>

enum { STRIP = 256 };

/* Real numbers of a line of B, "stride" elements apart: of each element the part that is asked for.
 */
static void load_line(const void *from, int64_t at, int64_t stride, int width, int type, double *to)
{
    if (type == XG_TYPE_F32)
        for (int j = 0; j < width; j++)
            to[j] = (double)((const float *)from)[at + j * stride];
    else if (type == XG_TYPE_F64)
        for (int j = 0; j < width; j++)
            to[j] = ((const double *)from)[at + j * stride];
    else
        for (int j = 0; j < width; j++)
            to[j] = xg_host_load(from, at + j * stride, type);
}

/* The sums of a strip of C's row, of float and shorter numbers. */
static void short_strip(const xg_typed_args *p, int64_t row, int64_t column, int width)
{
    double sum[STRIP] = {0.0}, b[STRIP];
    const int type = p->epilogue.type_a;
    for (int64_t l = 0; l < p->k; l++) {
        const double a = xg_host_load(p->a, row * p->a_stride_m + l * p->a_stride_k, type);
        load_line(p->b, l * p->b_stride_k + column * p->b_stride_n, p->b_stride_n, width, type, b);
        for (int j = 0; j < width; j++)
            sum[j] += a * b[j];
    }
    for (int j = 0; j < width; j++)
        xg_host_store_element(p, row, column + j, (const double[2]){sum[j], 0.0});
}

/* A sum, and what rounding took from it so far. */
typedef struct {
    double high, low;
} long_sum;

/* Adds x * y, whose rounding error fma() finds; that of the sum is Knuth's TwoSum. */
static void add_product(long_sum *sum, double x, double y)
{
    const double product = x * y, high = sum->high + product;
    const double part = high - sum->high;
    const double lost = (sum->high - (high - part)) + (product - part);
    const double error = fma(x, y, -product) + lost;
    sum->high = high;
    if (isfinite(error))
        sum->low += error;
}

/* The same of doubles and complex numbers. */
static void long_strip(const xg_typed_args *p, int64_t row, int64_t column, int width)
{
    long_sum real[STRIP] = {{0.0, 0.0}}, imaginary[STRIP] = {{0.0, 0.0}};
    const int type = p->epilogue.type_a, parts = p->epilogue.is_complex ? 2 : 1;
    const double sign_a = p->epilogue.a_conjugate ? -1.0 : 1.0;
    const double sign_b = p->epilogue.b_conjugate ? -1.0 : 1.0;
    double b[2][STRIP];
    for (int64_t l = 0; l < p->k; l++) {
        const int64_t at = parts * (row * p->a_stride_m + l * p->a_stride_k);
        const int64_t of = parts * (l * p->b_stride_k + column * p->b_stride_n);
        const double a = xg_host_load(p->a, at, type);
        const double a_imaginary = parts == 2 ? sign_a * xg_host_load(p->a, at + 1, type) : 0.0;
        for (int part = 0; part < parts; part++)
            load_line(p->b, of + part, parts * p->b_stride_n, width, type, b[part]);
        for (int j = 0; j < width; j++) {
            add_product(&real[j], a, b[0][j]);
            if (parts == 1)
                continue;
            add_product(&real[j], -a_imaginary, sign_b * b[1][j]);
            add_product(&imaginary[j], a, sign_b * b[1][j]);
            add_product(&imaginary[j], a_imaginary, b[0][j]);
        }
    }
    for (int j = 0; j < width; j++) {
        const double sum[2] = {real[j].high + real[j].low, imaginary[j].high + imaginary[j].low};
        xg_host_store_element(p, row, column + j, sum);
    }
}

static void strip(const xg_typed_args *p, int64_t row, int64_t column, int width)
{
    const bool is_long = p->epilogue.is_complex || p->epilogue.type_a == XG_TYPE_F64;
    (is_long ? long_strip : short_strip)(p, row, column, width);
}

void xg_host_reference(const void *args)
{
    if (((const xg_typed_args *)args)->groups > 0) {
        xg_host_each_group(args, xg_host_reference);
        return;
    }
    const xg_typed_args p = xg_host_with_scalars(args);
    for (int64_t row = 0; row < p.m; row++)
        for (int64_t column = 0; column < p.n; column += STRIP)
            strip(&p, row, column, (int)(p.n - column < STRIP ? p.n - column : STRIP));
}

void xg_host_finish(const void *args)
{
    static const double nothing[2] = {0.0, 0.0};
    const xg_typed_args p = xg_host_with_scalars(args);
    for (int64_t row = 0; row < p.m; row++)
        for (int64_t column = 0; column < p.n; column++)
            xg_host_store_element(&p, row, column, nothing);
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
