/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce: C = alpha * (the sum of k parts) + beta * C for an m × n matrix. Part
 * s begins at A + s * m * a_stride_m, its rows a_stride_m apart. Always in the same order, so
 * that a split product gives the same bits every time. Of a batch, the grid's z is
 * the product, whose parts begin at A + z * a_batch and whose C at C + z * c_batch.
 *
 * A small C has too few elements to wait for memory together: k_part threads share
 * one, each with every k_part-th part.
 */
#include "families/common/dialect.h"
#include "families/common/ptx.h"

#define THREADS 256

XG_KERNEL
void __launch_bounds__(THREADS) xg_reduce(const xg_args p)
{
    __shared__ float sums[THREADS];
    const unsigned shares = (unsigned)p.k_part, wide = THREADS / shares;
    const unsigned share = threadIdx.x / wide, lane = threadIdx.x % wide;
    const int64_t at = XG_BLOCK_X * wide + lane;
    const int small = p.m * p.n <= INT32_MAX; /* a division of 64 bits takes hundreds of cycles */
    const int64_t row = small ? (int64_t)((unsigned)at / (unsigned)p.n) : at / p.n;
    const int64_t col = at - row * p.n;
    float sum = 0.0f;

    xg_grid_wait();
    xg_grid_release();
    if (row < p.m) {
        const float *part = &p.a[XG_BATCH * p.a_batch + row * p.a_stride_m + col];
        XG_UNROLL_BY(8)
        for (int64_t s = share; s < p.k; s += shares)
            sum += part[s * p.m * p.a_stride_m];
    }
    if (shares > 1) {
        sums[threadIdx.x] = sum;
        __syncthreads();
        for (unsigned other = 1; share == 0 && other < shares; other++)
            sum += sums[other * wide + lane];
    }
    if (share == 0 && row < p.m) {
        float *const c = &p.c[XG_BATCH * p.c_batch + row * p.c_stride_m + col];
        *c = xg_blend(p.alpha, sum, p.beta, c);
    }
}

#undef THREADS
