/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coalesced: one thread an element of C, consecutive threads along a row.
 *
 * Idea: the same loop as naive with the roles of x and y exchanged. A warp now
 * reads 32 neighbours of a row of B (4 sectors a request) and one element of A
 * for all (1 sector), and stores 32 neighbours of C.
 * Blocks are numbered down the rows, so that those which run at the same time
 * share columns of B.
 * Traffic: as asked by the threads still 0.25 OP/B; the hardware moves less,
 * since a request is served in full sectors that are all used.
 * Source: seed texts 000 and 004 (row R2).
 */
#include "families/common/dialect.h"

XG_KERNEL void xg_coalesced(const xg_args p)
{
    const int64_t col = XG_BLOCK_Y * blockDim.x + threadIdx.x;
    const int64_t row = XG_BLOCK_X * blockDim.y + threadIdx.y;

    if (row < p.m && col < p.n) {
        const float sum = xg_dot(p.a + row * p.a_stride_m, p.a_stride_k, p.b + col * p.b_stride_n,
                                 p.b_stride_k, p.k);
        float *c = &p.c[row * p.c_stride_m + col];
        *c = xg_blend(p.alpha, sum, p.beta, c);
    }
}
