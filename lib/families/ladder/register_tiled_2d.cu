/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * register-tiled-2d: 128 × 128 × 16 tiles, 8 × 8 results a thread.
 *
 * Idea: register tiling in both directions: 8 elements of A and 8 of B, read once from shared
 * memory, make 64 products. All accesses are scalar. A thread's rows and columns are 16 apart, so
 * that the threads of a warp read consecutive elements of B's tile and store consecutive elements
 * of C. Each of 256 threads loads 8 elements of each tile into registers while the previous tile is
 * multiplied; double buffering saves a barrier.
 * Traffic: 128 × 128 tile, 32 OP/B.
 * Source: the 2D thread coarsening of Tushar Gautam's xGeMM (github.com/tgautam03/xGeMM).
 */
#include "families/common/epilogue.h"
#include "tile_iterator.h"

#define TILE    128
#define DEPTH   16
#define RESULTS 8
#define SPAN    (TILE / RESULTS)
#define THREADS (SPAN * SPAN)
#define LOADS   (TILE * DEPTH / THREADS)
#define PAD     2 /* the transposed stores of a warp fall into 32 banks */

/* Loads the thread's elements of a tile; zeros where mn >= rows or k >= depth. */
XG_DEVICE void xg_load_2d(float next[LOADS], const xg_tile_iterator *of, int rows, int depth)
{
    const float *from = of->from;
    int mn = of->mn, k = of->k;
    XG_UNROLL
    for (int i = 0; i < LOADS; i++) {
        next[i] = mn < rows && k < depth ? *from : 0.0f;
        from += of->stride;
        mn += of->delta_mn;
        k += of->delta_k;
    }
}

XG_DEVICE void xg_to_shared_2d(float *tile, const float next[LOADS], const xg_tile_iterator *of)
{
    float *to = tile + of->k * (TILE + PAD) + of->mn;
    XG_UNROLL
    for (int i = 0; i < LOADS; i++) {
        *to = next[i];
        to += of->delta_k * (TILE + PAD) + of->delta_mn;
    }
}

XG_KERNEL(__launch_bounds__(THREADS, 2), register_tiled_2d, xg_product_args)
{
    __shared__ float a_tile[2][DEPTH][TILE + PAD];
    __shared__ float b_tile[2][DEPTH][TILE + PAD];
    const int x = (int)threadIdx.x % SPAN, y = (int)threadIdx.x / SPAN;
    const int64_t row0 = XG_BLOCK_Y * TILE, col0 = XG_BLOCK_X * TILE;
    const int rows = (int)XG_MIN(p.m - row0, TILE), cols = (int)XG_MIN(p.n - col0, TILE);
    xg_tile_iterator a = xg_tile_iterator_of(p.a + row0 * p.a_stride_m, p.a_stride_m, p.a_stride_k,
                                             TILE, DEPTH, THREADS, 1);
    xg_tile_iterator b = xg_tile_iterator_of(p.b + col0 * p.b_stride_n, p.b_stride_n, p.b_stride_k,
                                             TILE, DEPTH, THREADS, 1);
    float acc[RESULTS][RESULTS] = {{0.0f}};
    float a_next[LOADS], b_next[LOADS];
    int buffer = 0;

    xg_load_2d(a_next, &a, rows, (int)XG_MIN(p.k, DEPTH));
    xg_load_2d(b_next, &b, cols, (int)XG_MIN(p.k, DEPTH));
    for (int64_t l = 0; l < p.k; l += DEPTH) {
        const int depth = (int)XG_MIN(p.k - l - DEPTH, DEPTH); /* of the next tiles */
        xg_to_shared_2d(&a_tile[buffer][0][0], a_next, &a);
        xg_to_shared_2d(&b_tile[buffer][0][0], b_next, &b);
        __syncthreads();
        a.from += DEPTH * p.a_stride_k;
        b.from += DEPTH * p.b_stride_k;
        xg_load_2d(a_next, &a, rows, depth);
        xg_load_2d(b_next, &b, cols, depth);
        XG_UNROLL
        for (int i = 0; i < DEPTH; i++) {
            float ai[RESULTS], bi[RESULTS];
            XG_UNROLL
            for (int r = 0; r < RESULTS; r++) {
                ai[r] = a_tile[buffer][i][y + r * SPAN];
                bi[r] = b_tile[buffer][i][x + r * SPAN];
            }
            XG_UNROLL
            for (int r = 0; r < RESULTS; r++)
                XG_UNROLL
            for (int s = 0; s < RESULTS; s++)
                acc[r][s] += ai[r] * bi[s];
        }
        buffer ^= 1;
    }
    XG_UNROLL
    for (int r = 0; r < RESULTS; r++)
        XG_UNROLL
    for (int s = 0; s < RESULTS; s++) {
        const int64_t row = row0 + y + r * SPAN, col = col0 + x + s * SPAN;
        if (row < p.m && col < p.n) {
            float *c = &p.c[row * p.c_stride_m + col];
            *c = xg_epilogue(p.alpha, acc[r][s], p.beta, c);
        }
    }
}
