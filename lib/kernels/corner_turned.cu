/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * corner-turned: a column-major B, read along its columns.
 *
 * Idea: the threads of a half-warp walk down a column of B, where a
 * column-major B is contiguous, and each puts its element at the transposed
 * place of the tile in shared memory, which does not mind. The tile has one
 * column more than it uses, so that the transposed stores fall into different
 * banks. Only the load of B differs from tiled16; for a row-major B it is the
 * wrong way round.
 * Traffic: 4 OP/B, in full sectors.
 * Source: seed text 004 (row R21, corner turning).
 */
#include "dialect.h"

#define TILE 16

XG_KERNEL void xg_corner_turned(const xg_args p)
{
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE + 1];
    const int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
    const int64_t row = XG_BLOCK_Y * TILE + ty;
    const int64_t col = XG_BLOCK_X * TILE + tx;
    const int64_t load_col = XG_BLOCK_X * TILE + ty;
    float sum = 0.0f;

    for (int64_t l = 0; l < p.k; l += TILE) {
        a_tile[ty][tx] =
            row < p.m && l + tx < p.k ? p.a[row * p.a_row + (l + tx) * p.a_col] : 0.0f;
        b_tile[tx][ty] =
            l + tx < p.k && load_col < p.n ? p.b[load_col * p.b_col + (l + tx) * p.b_row] : 0.0f;
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
