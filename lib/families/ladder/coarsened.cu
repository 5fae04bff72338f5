/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coarsened: tiles of 32 with a coarsening factor of 4.
 *
 * Idea: a CTA computes four tiles of C, one below the other, and each thread one element of each:
 * the tile of B is loaded once for all four. The textbook coarsens along a row instead and reuses
 * A's tile. The traffic is the same, but then it is A's element that stays in a register, and its
 * read from shared memory is a cheap broadcast. Down a column it is B's element, whose read takes
 * the full bandwidth of shared memory: now one such read serves four products.
 * Traffic: 128 × 32 tile, 12.8 OP/B.
 * Source: Programming Massively Parallel Processors, 4th edition, section 6.3 (thread coarsening).
 */
#include "families/common/epilogue.h"

#define TILE   32
#define FACTOR 4

XG_KERNEL(__launch_bounds__(TILE *TILE), coarsened, xg_product_args)
{
    XG_SHARED16 float a_tile[FACTOR][TILE][TILE];
    XG_SHARED16 float b_tile[TILE][TILE];
    const int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
    const int64_t row = XG_BLOCK_Y * (TILE * FACTOR) + ty;
    const int64_t col = XG_BLOCK_X * TILE + tx;
    const int col_inside = col < p.n;
    const float *a = p.a + row * p.a_stride_m + tx * p.a_stride_k;
    const float *b = p.b + ty * p.b_stride_k + col * p.b_stride_n;
    float acc[FACTOR] = {0.0f, 0.0f, 0.0f, 0.0f};

    for (int64_t remaining = p.k; remaining > 0; remaining -= TILE) {
        __syncthreads(); /* the previous tiles are no longer read */
        XG_UNROLL
        for (int f = 0; f < FACTOR; f++)
            a_tile[f][ty][tx] =
                row + f * TILE < p.m && tx < remaining ? a[f * TILE * p.a_stride_m] : 0.0f;
        b_tile[ty][tx] = col_inside && ty < remaining ? *b : 0.0f;
        __syncthreads();
        a += TILE * p.a_stride_k;
        b += TILE * p.b_stride_k;
        XG_UNROLL
        for (int i = 0; i < TILE; i++) {
            const float bi = b_tile[i][tx];
            XG_UNROLL
            for (int f = 0; f < FACTOR; f++)
                acc[f] += a_tile[f][ty][i] * bi;
        }
    }
    for (int f = 0; f < FACTOR; f++) {
        const int64_t r = row + f * TILE;
        if (r < p.m && col < p.n) {
            float *c = &p.c[r * p.c_stride_m + col];
            *c = xg_epilogue(p.alpha, acc[f], p.beta, c);
        }
    }
}
