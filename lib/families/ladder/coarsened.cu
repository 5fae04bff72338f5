/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coarsened: tiles of 32 with a coarsening factor of 4.
 *
 * Idea: a block computes four tiles of C, one below the other, and each thread
 * one element of each: the tile of B is loaded once for all four. The textbook
 * coarsens along a row instead, sharing A's tile; the traffic is the same, but
 * what then stays in a register is A's element, whose read from shared memory
 * is a broadcast and costs little. Down a column it is B's element, whose read
 * takes the full width of shared memory: one such read for four products.
 * Traffic: 128 × 32 tile, 12.8 OP/B.
 * Source: seed text 004 (row R22).
 */
#include "families/common/dialect.h"

#define TILE   32
#define FACTOR 4

XG_KERNEL void __launch_bounds__(TILE *TILE) xg_coarsened(const xg_args p)
{
    XG_SHARED16 float a_tile[FACTOR][TILE][TILE];
    XG_SHARED16 float b_tile[TILE][TILE];
    const int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
    const int64_t row = XG_BLOCK_Y * (TILE * FACTOR) + ty;
    const int64_t col = XG_BLOCK_X * TILE + tx;
    const int col_inside = col < p.n;
    const float *a = p.a + row * p.a_stride_m + tx * p.a_stride_k;
    const float *b = p.b + ty * p.b_stride_k + col * p.b_stride_n;
    float sum[FACTOR] = {0.0f, 0.0f, 0.0f, 0.0f};

    for (int64_t left = p.k; left > 0; left -= TILE) {
        __syncthreads(); /* all are done with the tiles before */
        XG_UNROLL
        for (int f = 0; f < FACTOR; f++)
            a_tile[f][ty][tx] =
                row + f * TILE < p.m && tx < left ? a[f * TILE * p.a_stride_m] : 0.0f;
        b_tile[ty][tx] = col_inside && ty < left ? *b : 0.0f;
        __syncthreads();
        a += TILE * p.a_stride_k;
        b += TILE * p.b_stride_k;
        XG_UNROLL
        for (int i = 0; i < TILE; i++) {
            const float bi = b_tile[i][tx];
            XG_UNROLL
            for (int f = 0; f < FACTOR; f++)
                sum[f] += a_tile[f][ty][i] * bi;
        }
    }
    for (int f = 0; f < FACTOR; f++) {
        const int64_t r = row + f * TILE;
        if (r < p.m && col < p.n) {
            float *c = &p.c[r * p.c_stride_m + col];
            *c = xg_blend(p.alpha, sum[f], p.beta, c);
        }
    }
}

#undef TILE
#undef FACTOR
