/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce: the reduction of split-K, C = alpha * (sum of the partial sums) + beta * C, always in the
 * same order, so that a product gives the same bits every time. The grid's z is the product of a
 * batch.
 *
 * A small C has too few elements to hide the memory's latency with one thread each: a power of two
 * of threads reduce an element, each a strided subset of its partial sums.
 */
#include "args.h"
#include "families/common/epilogue.h"
#include "families/common/ptx.h"

#define THREADS 256

XG_KERNEL(__launch_bounds__(THREADS), reduce, xg_reduce_args)
{
    __shared__ float subtotals[THREADS];
    const unsigned threads = (unsigned)p.threads_per_element, elements = THREADS / threads;
    const unsigned subset = threadIdx.x / elements, column = threadIdx.x % elements;
    const int64_t at = XG_BLOCK_X * elements + column;
    const int small = p.m * p.n <= INT32_MAX; /* a division of 64 bits takes hundreds of cycles */
    const int64_t row = small ? (int64_t)((unsigned)at / (unsigned)p.n) : at / p.n;
    const int64_t col = at - row * p.n;
    float sum = 0.0f;

    xg_pdl_wait();
    xg_pdl_trigger();
    if (row < p.m) {
        const float *partial = &p.partial[XG_BATCH * p.partial_batch_stride + row * p.n + col];
        XG_UNROLL_BY(8)
        for (int64_t s = subset; s < p.splits; s += threads)
            sum += partial[s * p.m * p.n];
    }
    if (threads > 1) {
        subtotals[threadIdx.x] = sum;
        __syncthreads();
        for (unsigned other = 1; subset == 0 && other < threads; other++)
            sum += subtotals[other * elements + column];
    }
    if (subset == 0 && row < p.m) {
        float *const c = &p.c[XG_BATCH * p.c_batch_stride + row * p.c_stride_m + col];
        *c = xg_epilogue(p.alpha, sum, p.beta, c);
    }
}
