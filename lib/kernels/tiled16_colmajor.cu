/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tiled16-colmajor: a column-major B, read the slow way.
 *
 * Idea: the tiled kernel as it stands, given a B whose columns are contiguous
 * (transb = T in row order). Threads with consecutive threadIdx.x still take
 * consecutive columns of B, which now lie ldb elements apart: each fills a
 * sector of its own, 16 sectors a half-warp where 2 would do. Compare
 * corner_turned.cu, which differs in the load of B alone. For a row-major B it
 * is tiled16.
 * Traffic: 4 OP/B as asked by the threads; B costs 8 times that in sectors.
 * Source: seed text 004 (row R21).
 */
#include "dialect.h"

#define TILE 16

XG_KERNEL void xg_tiled16_colmajor(const xg_args p)
{
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE];
    const int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
    const int64_t row = XG_BLOCK_Y * TILE + ty;
    const int64_t col = XG_BLOCK_X * TILE + tx;
    float sum = 0.0f;

    for (int64_t l = 0; l < p.k; l += TILE) {
        a_tile[ty][tx] =
            row < p.m && l + tx < p.k ? p.a[row * p.a_row + (l + tx) * p.a_col] : 0.0f;
        b_tile[ty][tx] =
            l + ty < p.k && col < p.n ? p.b[col * p.b_col + (l + ty) * p.b_row] : 0.0f;
        __syncthreads();
        XG_UNROLL
        for (int i = 0; i < TILE; i++)
            sum += a_tile[ty][i] * b_tile[i][tx];
        __syncthreads();
    }
    if (row < p.m && col < p.n) {
        float *c = &p.c[row * p.c_row + col];
        *c = xg_blend(p.alpha, sum, p.beta, c);
    }
}

#undef TILE
