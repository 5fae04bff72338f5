/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce: C = alpha * (the sum of k parts) + beta * C for an m × n matrix. Part
 * s begins at A + s * m * a_row, its rows a_row apart. Always in the same order, so
 * that a split product gives the same bits every time. Of a batch, the grid's z is
 * the product, whose parts begin at A + z * a_batch and whose C at C + z * c_batch.
 */
#include "dialect.h"
#include "ptx.h"

XG_KERNEL
void xg_reduce(const xg_args p)
{
    const int64_t at = XG_BLOCK_X * blockDim.x + threadIdx.x;
    const int64_t row = at / p.n, col = at % p.n;

    xg_grid_wait();
    xg_grid_release();
    if (row < p.m) {
        const float *part = &p.a[XG_BATCH * p.a_batch + row * p.a_row + col];
        float *c = &p.c[XG_BATCH * p.c_batch + row * p.c_row + col];
        float sum = 0.0f;
        XG_UNROLL_BY(8)
        for (int64_t s = 0; s < p.k; s++)
            sum += part[s * p.m * p.a_row];
        *c = xg_blend(p.alpha, sum, p.beta, c);
    }
}
