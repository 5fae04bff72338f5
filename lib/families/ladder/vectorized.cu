/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vectorized: register-tiled-2d with vec4 accesses.
 *
 * Idea: an instruction moves four elements: from global memory (K-major or MN-major), from shared
 * memory to registers, and to C. A thread's 8 rows (and columns) are two groups of four, 64 apart,
 * so that the reads of a quarter-warp fall into different banks. At the edge of a matrix, and where
 * addresses are not aligned to 16 bytes (an odd leading dimension), the four are moved one by one.
 * Traffic: 128 × 128 tile, 32 OP/B.
 * Source: the vectorized 2D thread coarsening of Tushar Gautam's xGeMM
 * (github.com/tgautam03/xGeMM).
 */
#include "families/common/epilogue.h"
#include "tile_iterator.h"

#define TILE    128
#define DEPTH   16
#define HALF    (TILE / 2)
#define THREADS 256
#define LOADS   (TILE * DEPTH / 4 / THREADS)
#define PAD     4 /* rows stay aligned to 16 bytes, and transposed stores spread over banks */

/* Whether all rows (of a K-major operand; else columns) are aligned to 16 bytes. */
XG_DEVICE int xg_aligned4(const float *matrix, int64_t leading_dimension)
{
    return ((uintptr_t)matrix | (uintptr_t)(leading_dimension * 4)) % 16 == 0;
}

/* The first "count" of four elements, and zeros. */
XG_DEVICE float4 xg_load4(const float *from, int count, int aligned)
{
    float4 four = {0.0f, 0.0f, 0.0f, 0.0f};
    if (aligned && count >= 4)
        return *(const float4 *)from;
    if (count > 0)
        four.x = from[0];
    if (count > 1)
        four.y = from[1];
    if (count > 2)
        four.z = from[2];
    if (count > 3)
        four.w = from[3];
    return four;
}

/* Loads the thread's elements of a tile; zeros where mn >= rows or k >= depth. */
XG_DEVICE void xg_load_tile_vec4(float4 next[LOADS], const xg_tile_iterator *of, int rows,
                                 int depth, int aligned)
{
    XG_UNROLL
    for (int i = 0; i < LOADS; i++) {
        const int mn = rows - of->mn - i * of->delta_mn, k = depth - of->k - i * of->delta_k;
        const int count = of->k_major ? (mn > 0 ? k : 0) : (k > 0 ? mn : 0);
        next[i] = xg_load4(of->from + i * of->stride, count, aligned);
    }
}

/* Stores them to shared memory, a K-major operand's transposed. */
XG_DEVICE void xg_to_shared_vec4(float *tile, const float4 next[LOADS], const xg_tile_iterator *of)
{
    XG_UNROLL
    for (int i = 0; i < LOADS; i++) {
        float *to = tile + (of->k + i * of->delta_k) * (TILE + PAD) + of->mn + i * of->delta_mn;
        if (of->k_major) {
            to[0] = next[i].x;
            to[TILE + PAD] = next[i].y;
            to[2 * (TILE + PAD)] = next[i].z;
            to[3 * (TILE + PAD)] = next[i].w;
        } else {
            *(float4 *)to = next[i];
        }
    }
}

/* Reads two vec4, half a tile apart. */
XG_DEVICE void xg_read_8(float out[8], const float *from)
{
    const float4 low = *(const float4 *)from, high = *(const float4 *)(from + HALF);
    out[0] = low.x, out[1] = low.y, out[2] = low.z, out[3] = low.w;
    out[4] = high.x, out[5] = high.y, out[6] = high.z, out[7] = high.w;
}

XG_KERNEL(__launch_bounds__(THREADS, 2), vectorized, xg_product_args)
{
    XG_SHARED16 float a_tile[2][DEPTH][TILE + PAD];
    XG_SHARED16 float b_tile[2][DEPTH][TILE + PAD];
    const int x = (int)threadIdx.x % 16 * 4, y = (int)threadIdx.x / 16 * 4;
    const int64_t row0 = XG_BLOCK_Y * TILE, col0 = XG_BLOCK_X * TILE;
    const int rows = (int)XG_MIN(p.m - row0, TILE), cols = (int)XG_MIN(p.n - col0, TILE);
    const int a_aligned = xg_aligned4(p.a, p.a_stride_k == 1 ? p.a_stride_m : p.a_stride_k);
    const int b_aligned = xg_aligned4(p.b, p.b_stride_k == 1 ? p.b_stride_n : p.b_stride_k);
    xg_tile_iterator a = xg_tile_iterator_of(p.a + row0 * p.a_stride_m, p.a_stride_m, p.a_stride_k,
                                             TILE, DEPTH, THREADS, 4);
    xg_tile_iterator b = xg_tile_iterator_of(p.b + col0 * p.b_stride_n, p.b_stride_n, p.b_stride_k,
                                             TILE, DEPTH, THREADS, 4);
    float acc[8][8] = {{0.0f}};
    float4 a_next[LOADS], b_next[LOADS];
    int buffer = 0;

    xg_load_tile_vec4(a_next, &a, rows, (int)XG_MIN(p.k, DEPTH), a_aligned);
    xg_load_tile_vec4(b_next, &b, cols, (int)XG_MIN(p.k, DEPTH), b_aligned);
    for (int64_t l = 0; l < p.k; l += DEPTH) {
        const int depth = (int)XG_MIN(p.k - l - DEPTH, DEPTH); /* of the next tiles */
        xg_to_shared_vec4(&a_tile[buffer][0][0], a_next, &a);
        xg_to_shared_vec4(&b_tile[buffer][0][0], b_next, &b);
        __syncthreads();
        a.from += DEPTH * p.a_stride_k;
        b.from += DEPTH * p.b_stride_k;
        xg_load_tile_vec4(a_next, &a, rows, depth, a_aligned);
        xg_load_tile_vec4(b_next, &b, cols, depth, b_aligned);
        XG_UNROLL
        for (int i = 0; i < DEPTH; i++) {
            float ai[8], bi[8];
            xg_read_8(ai, &a_tile[buffer][i][y]);
            xg_read_8(bi, &b_tile[buffer][i][x]);
            XG_UNROLL
            for (int r = 0; r < 8; r++)
                XG_UNROLL
            for (int s = 0; s < 8; s++)
                acc[r][s] += ai[r] * bi[s];
        }
        buffer ^= 1;
    }
    const int aligned = xg_aligned4(p.c, p.c_stride_m);
    XG_UNROLL
    for (int r = 0; r < 8; r++) {
        const int row = y + r % 4 + r / 4 * HALF;
        if (row < rows) {
            float *c = p.c + (row0 + row) * p.c_stride_m + col0 + x;
            xg_epilogue_store_vec4(c, acc[r], cols - x, aligned, p.alpha, p.beta);
            xg_epilogue_store_vec4(c + HALF, acc[r] + 4, cols - x - HALF, aligned, p.alpha, p.beta);
        }
    }
}
