/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * register-tiled-1d: 64 × 64 × 8 tiles, a column of 8 results a thread.
 *
 * Idea: coarsening in registers. For each k a thread reads one element of B and eight of A (two
 * vec4, as A's tile is transposed in shared memory) and computes eight products. Each of 512
 * threads loads one element of each tile; the loads of the next tiles are in flight while these are
 * multiplied, and double buffering saves a barrier.
 * Traffic: 64 × 64 tile, 16 OP/B.
 * Source: the 1D thread coarsening of Tushar Gautam's xGeMM (github.com/tgautam03/xGeMM).
 */
#include "families/common/epilogue.h"

#define TILE    64
#define DEPTH   8
#define RESULTS 8
#define THREADS (TILE * TILE / RESULTS)
#define PAD     4 /* the transposed stores of a warp fall into 32 banks; rows stay 16-byte aligned */

XG_KERNEL(__launch_bounds__(THREADS), register_tiled_1d, xg_product_args)
{
    XG_SHARED16 float a_tile[2][DEPTH][TILE + PAD];
    XG_SHARED16 float b_tile[2][DEPTH][TILE + PAD];
    const int t = (int)threadIdx.x;
    const int64_t row0 = XG_BLOCK_Y * TILE, col0 = XG_BLOCK_X * TILE;

    /* This thread loads element (ax, ak) of A's tile and (bx, bk) of B's. */
    const int ax = XG_TILE_MN(p.a_stride_k == 1, t, TILE, DEPTH);
    const int ak = XG_TILE_K(p.a_stride_k == 1, t, TILE, DEPTH);
    const int bx = XG_TILE_MN(p.b_stride_k == 1, t, TILE, DEPTH);
    const int bk = XG_TILE_K(p.b_stride_k == 1, t, TILE, DEPTH);
    const int a_inside = row0 + ax < p.m, b_inside = col0 + bx < p.n;
    const float *a = p.a + (row0 + ax) * p.a_stride_m + ak * p.a_stride_k;
    const float *b = p.b + (col0 + bx) * p.b_stride_n + bk * p.b_stride_k;

    /* It computes rows y to y + 7 of column x. */
    const int x = t % TILE, y = t / TILE * RESULTS;
    float acc[RESULTS] = {0.0f};
    int buffer = 0;

    float a_next = a_inside && ak < p.k ? *a : 0.0f;
    float b_next = b_inside && bk < p.k ? *b : 0.0f;
    for (int64_t l = 0; l < p.k; l += DEPTH) {
        a_tile[buffer][ak][ax] = a_next;
        b_tile[buffer][bk][bx] = b_next;
        __syncthreads();
        a += DEPTH * p.a_stride_k;
        b += DEPTH * p.b_stride_k;
        a_next = a_inside && l + DEPTH + ak < p.k ? *a : 0.0f;
        b_next = b_inside && l + DEPTH + bk < p.k ? *b : 0.0f;
        XG_UNROLL
        for (int i = 0; i < DEPTH; i++) {
            const float bi = b_tile[buffer][i][x];
            XG_UNROLL
            for (int r = 0; r < RESULTS; r++)
                acc[r] += a_tile[buffer][i][y + r] * bi;
        }
        buffer ^= 1;
    }
    XG_UNROLL
    for (int r = 0; r < RESULTS; r++)
        if (row0 + y + r < p.m && col0 + x < p.n) {
            float *c = &p.c[(row0 + y + r) * p.c_stride_m + col0 + x];
            *c = xg_epilogue(p.alpha, acc[r], p.beta, c);
        }
}
