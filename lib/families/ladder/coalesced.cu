/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coalesced: one thread an element of C, consecutive threads along a row.
 *
 * Idea: naive with the roles of x and y exchanged. A warp now reads 32 consecutive elements of a
 * row of B (4 sectors a request) and one element of A (1 sector, broadcast), and stores 32
 * consecutive elements of C. CTAs are numbered down the rows, so that those which run at the same
 * time share columns of B.
 * Traffic: threads still request 0.25 OP/B; the hardware moves less, since all bytes of a sector
 * are used.
 * Source: Tushar Gautam, "xGeMM Chapter 2: GPU Global Memory Coalescing" (2024);
 * Programming Massively Parallel Processors, 4th edition, section 6.1 (memory coalescing).
 */
#include "families/common/epilogue.h"

XG_KERNEL(, coalesced, xg_product_args)
{
    const int64_t col = XG_BLOCK_Y * blockDim.x + threadIdx.x;
    const int64_t row = XG_BLOCK_X * blockDim.y + threadIdx.y;

    if (row < p.m && col < p.n) {
        const float acc = xg_dot(p.a + row * p.a_stride_m, p.a_stride_k, p.b + col * p.b_stride_n,
                                 p.b_stride_k, p.k);
        float *c = &p.c[row * p.c_stride_m + col];
        *c = xg_epilogue(p.alpha, acc, p.beta, c);
    }
}
