/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blas: the CPU's BLAS. Its sizes are ints: larger products go through it in
 * panels, and a leading dimension that is no int, through reference.
 */
#include "families/common/args.h"
#include "functions.h"

#include <cblas.h>
#include <limits.h>

enum { PANEL = 1 << 30 };

static int64_t at_most(int64_t size, int64_t limit)
{
    return size < limit ? size : limit;
}

static int64_t at_least(int64_t size, int64_t limit)
{
    return size > limit ? size : limit;
}

/*
 * A matrix of one column that was given transposed with leading dimension 1 has
 * both steps 1: it counts as one row here, whose leading dimension is its width.
 */
static void panel(const xg_product_args *p)
{
    const int transpose_a = p->a_stride_k != 1, transpose_b = p->b_stride_n != 1;
    cblas_sgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans,
                transpose_b ? CblasTrans : CblasNoTrans, (int)p->m, (int)p->n, (int)p->k, p->alpha,
                p->a, (int)(transpose_a ? p->a_stride_k : at_least(p->a_stride_m, p->k)), p->b,
                (int)(transpose_b ? p->b_stride_n : at_least(p->b_stride_k, p->n)), p->beta, p->c,
                (int)p->c_stride_m);
}

/* The part of the problem from (row, col, depth) on, at most a panel each way. */
static xg_product_args part_of(const xg_product_args *whole, int64_t row, int64_t col,
                               int64_t depth)
{
    xg_product_args part = *whole;
    part.m = at_most(whole->m - row, PANEL);
    part.n = at_most(whole->n - col, PANEL);
    part.k = at_most(whole->k - depth, PANEL);
    part.a += row * whole->a_stride_m + depth * whole->a_stride_k;
    part.b += depth * whole->b_stride_k + col * whole->b_stride_n;
    part.c += row * whole->c_stride_m + col;
    if (depth > 0)
        part.beta = 1.0f;
    return part;
}

void xg_host_blas(const void *args)
{
    const xg_product_args *whole = args;
    if (whole->a_stride_m > INT_MAX || whole->a_stride_k > INT_MAX || whole->b_stride_k > INT_MAX ||
        whole->b_stride_n > INT_MAX || whole->c_stride_m > INT_MAX) {
        xg_host_reference(args);
        return;
    }
    for (int64_t row = 0; row < whole->m; row += PANEL)
        for (int64_t col = 0; col < whole->n; col += PANEL)
            for (int64_t depth = 0; depth < whole->k; depth += PANEL) {
                const xg_product_args part = part_of(whole, row, col, depth);
                panel(&part);
            }
}
