/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blas: the CPU's BLAS. Its sizes are ints: larger products go through it in panels, and a leading
 * dimension that is no int, through reference. 16-bit operands are copied to floats, and the
 * products of these to C.
 */
#include "functions.h"
#include "values.h"

#include <cblas.h>
#include <limits.h>
#include <stdbool.h>

enum { PANEL = 1 << 30 };

static int64_t at_most(int64_t size, int64_t limit)
{
    return size < limit ? size : limit;
}

static int64_t at_least(int64_t size, int64_t limit)
{
    return size > limit ? size : limit;
}

static int64_t bytes_of(int type)
{
    return type == XG_TYPE_C64 ? 16 : type == XG_TYPE_F64 || type == XG_TYPE_C32 ? 8 : 4;
}

static enum CBLAS_TRANSPOSE transpose_of(bool transposed, bool conjugate)
{
    return conjugate ? CblasConjTrans : transposed ? CblasTrans : CblasNoTrans;
}

/*
 * A matrix of one column that was given transposed with leading dimension 1 has both steps 1: it
 * counts as one row here, whose leading dimension is its width; a conjugated one was transposed.
 */
static void panel(const xg_typed_args *p)
{
    const xg_epilogue_args *e = &p->epilogue;
    const bool turn_a = p->a_stride_k != 1 || e->a_conjugate;
    const bool turn_b = p->b_stride_n != 1 || e->b_conjugate;
    const enum CBLAS_TRANSPOSE a = transpose_of(turn_a, e->a_conjugate);
    const enum CBLAS_TRANSPOSE b = transpose_of(turn_b, e->b_conjugate);
    const int m = (int)p->m, n = (int)p->n, k = (int)p->k;
    const int lda = (int)(turn_a ? at_least(p->a_stride_k, p->m) : at_least(p->a_stride_m, p->k));
    const int ldb = (int)(turn_b ? at_least(p->b_stride_n, p->k) : at_least(p->b_stride_k, p->n));
    const int ldc = (int)p->c_stride_m;
    const float alpha[2] = {(float)e->alpha[0], (float)e->alpha[1]};
    const float beta[2] = {(float)e->beta[0], (float)e->beta[1]};
    switch (e->type_a) {
    case XG_TYPE_F64:
        cblas_dgemm(CblasRowMajor, a, b, m, n, k, e->alpha[0], p->a, lda, p->b, ldb, e->beta[0],
                    p->c, ldc);
        return;
    case XG_TYPE_C32:
        cblas_cgemm(CblasRowMajor, a, b, m, n, k, alpha, p->a, lda, p->b, ldb, beta, p->c, ldc);
        return;
    case XG_TYPE_C64:
        cblas_zgemm(CblasRowMajor, a, b, m, n, k, e->alpha, p->a, lda, p->b, ldb, e->beta, p->c,
                    ldc);
        return;
    default:
        cblas_sgemm(CblasRowMajor, a, b, m, n, k, alpha[0], p->a, lda, p->b, ldb, beta[0], p->c,
                    ldc);
    }
}

/* The part of the problem from (row, column, depth) on, at most a panel each way. */
static xg_typed_args part_of(const xg_typed_args *whole, int64_t row, int64_t column, int64_t depth)
{
    const int64_t bytes = bytes_of(whole->epilogue.type_a);
    xg_typed_args part = *whole;
    part.m = at_most(whole->m - row, PANEL);
    part.n = at_most(whole->n - column, PANEL);
    part.k = at_most(whole->k - depth, PANEL);
    part.a = (const char *)whole->a + (row * whole->a_stride_m + depth * whole->a_stride_k) * bytes;
    part.b =
        (const char *)whole->b + (depth * whole->b_stride_k + column * whole->b_stride_n) * bytes;
    part.c = (char *)whole->c + (row * whole->c_stride_m + column) * bytes;
    if (depth > 0) {
        part.epilogue.beta[0] = 1.0;
        part.epilogue.beta[1] = 0.0;
    }
    return part;
}

static void multiply(const xg_typed_args *whole)
{
    for (int64_t row = 0; row < whole->m; row += PANEL)
        for (int64_t column = 0; column < whole->n; column += PANEL)
            for (int64_t depth = 0; depth < whole->k; depth += PANEL) {
                const xg_typed_args part = part_of(whole, row, column, depth);
                panel(&part);
            }
}

/* A rows x columns matrix of 16-bit numbers as floats, its rows one after the other. */
static const float *to_floats(const void *from, int type, int64_t rows, int64_t columns,
                              int64_t row_stride, int64_t column_stride, float *to)
{
    for (int64_t row = 0; row < rows; row++)
        for (int64_t column = 0; column < columns; column++)
            to[row * columns + column] =
                (float)xg_host_load(from, row * row_stride + column * column_stride, type);
    return to;
}

static void multiply_half(const xg_typed_args *p, float *floats)
{
    const int type = p->epilogue.type_a;
    float *const b = floats + p->m * p->k, *const sums = b + p->k * p->n;
    xg_typed_args product = {.m = p->m,
                             .n = p->n,
                             .k = p->k,
                             .a_stride_m = p->k,
                             .a_stride_k = 1,
                             .b_stride_k = p->n,
                             .b_stride_n = 1,
                             .c_stride_m = p->n,
                             .c = sums,
                             .epilogue = {.alpha = {1.0, 0.0}, .type_a = XG_TYPE_F32}};
    product.a = to_floats(p->a, type, p->m, p->k, p->a_stride_m, p->a_stride_k, floats);
    product.b = to_floats(p->b, type, p->k, p->n, p->b_stride_k, p->b_stride_n, b);
    multiply(&product);
    for (int64_t row = 0; row < p->m; row++)
        for (int64_t column = 0; column < p->n; column++)
            xg_host_store_element(p, row, column,
                                  (const double[2]){(double)sums[row * p->n + column], 0.0});
}

/* Bias and activation, which the BLAS does not have: C = activation(C + bias). */
static void finish(const xg_typed_args *p)
{
    xg_typed_args rest = *p;
    if (!p->epilogue.bias && !p->epilogue.activation)
        return;
    rest.epilogue.alpha[0] = rest.epilogue.alpha[1] = rest.epilogue.beta[1] = 0.0;
    rest.epilogue.beta[0] = 1.0;
    xg_host_finish(&rest);
}

static bool fits_ints(const xg_typed_args *p)
{
    return p->a_stride_m <= INT_MAX && p->a_stride_k <= INT_MAX && p->b_stride_k <= INT_MAX &&
           p->b_stride_n <= INT_MAX && p->c_stride_m <= INT_MAX;
}

void xg_host_blas(const void *args)
{
    if (((const xg_typed_args *)args)->groups > 0) {
        xg_host_each_group(args, xg_host_blas);
        return;
    }
    const xg_host_args *const all = args;
    const xg_typed_args p = xg_host_with_scalars(&all->product);
    const bool nothing = p.epilogue.alpha[0] == 0.0 && p.epilogue.alpha[1] == 0.0;
    if (nothing)
        xg_host_finish(&p);
    else if (p.epilogue.type_a == XG_TYPE_F16 || p.epilogue.type_a == XG_TYPE_BF16)
        multiply_half(&p, all->floats);
    else if (!fits_ints(&p))
        xg_host_reference(args);
    else {
        multiply(&p);
        finish(&p);
    }
}
