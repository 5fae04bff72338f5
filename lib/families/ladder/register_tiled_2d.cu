/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * register-tiled-2d: 128 × 128 × 16 tiles, 8 × 8 results a thread.
 *
 * Idea: register tiling in both directions: 8 elements of A and 8 of B, read
 * once from shared memory, make 64 products. All accesses are single words. A
 * thread's rows and columns are 16 apart, so that the threads of a warp read
 * neighbouring words of B's tile and store neighbouring words of C. 256 threads
 * bring 8 elements of each tile into registers while the tile before is
 * multiplied; two tiles in turn save a barrier.
 * Traffic: 128 × 128 tile, 32 OP/B.
 * Source: the code repository of seed text 000 (row R27).
 */
#include "families/common/dialect.h"

#define TILE    128
#define DEPTH   16
#define RESULTS 8
#define SPAN    (TILE / RESULTS)
#define THREADS (SPAN * SPAN)
#define LOADS   (TILE * DEPTH / THREADS)
#define PAD     2 /* the transposed stores of a warp fall into 32 banks */

/* What a thread loads of a tile: element (x, l), then LOADS - 1 more, (dx, dl) apart. */
typedef struct {
    const float *from;
    int64_t step;
    int x, l, dx, dl;
} xg_share_2d;

XG_DEVICE xg_share_2d xg_share_of_2d(const float *matrix, int64_t x_step, int64_t k_step)
{
    const int t = (int)threadIdx.x, along_k = k_step == 1;
    xg_share_2d share;
    share.x = XG_TILE_X(along_k, t, TILE, DEPTH);
    share.l = XG_TILE_K(along_k, t, TILE, DEPTH);
    share.dx = along_k ? THREADS / DEPTH : 0;
    share.dl = along_k ? 0 : THREADS / TILE;
    share.from = matrix + share.x * x_step + share.l * k_step;
    share.step = share.dx * x_step + share.dl * k_step;
    return share;
}

/* Elements past x_left or k_left, counted from the tile's corner, are zero. */
XG_DEVICE void xg_fetch_2d(float next[LOADS], const xg_share_2d *share, int x_left, int k_left)
{
    const float *from = share->from;
    int x = share->x, l = share->l;
    XG_UNROLL
    for (int i = 0; i < LOADS; i++) {
        next[i] = x < x_left && l < k_left ? *from : 0.0f;
        from += share->step;
        x += share->dx;
        l += share->dl;
    }
}

XG_DEVICE void xg_stash_2d(float *tile, const float next[LOADS], const xg_share_2d *share)
{
    float *to = tile + share->l * (TILE + PAD) + share->x;
    XG_UNROLL
    for (int i = 0; i < LOADS; i++) {
        *to = next[i];
        to += share->dl * (TILE + PAD) + share->dx;
    }
}

XG_KERNEL void __launch_bounds__(THREADS, 2) xg_register_tiled_2d(const xg_args p)
{
    __shared__ float a_tile[2][DEPTH][TILE + PAD];
    __shared__ float b_tile[2][DEPTH][TILE + PAD];
    const int x = (int)threadIdx.x % SPAN, y = (int)threadIdx.x / SPAN;
    const int64_t row0 = XG_BLOCK_Y * TILE, col0 = XG_BLOCK_X * TILE;
    const int rows = (int)XG_MIN(p.m - row0, TILE), cols = (int)XG_MIN(p.n - col0, TILE);
    xg_share_2d a = xg_share_of_2d(p.a + row0 * p.a_stride_m, p.a_stride_m, p.a_stride_k);
    xg_share_2d b = xg_share_of_2d(p.b + col0 * p.b_stride_n, p.b_stride_n, p.b_stride_k);
    float sum[RESULTS][RESULTS] = {{0.0f}};
    float a_next[LOADS], b_next[LOADS];
    int now = 0;

    xg_fetch_2d(a_next, &a, rows, (int)XG_MIN(p.k, DEPTH));
    xg_fetch_2d(b_next, &b, cols, (int)XG_MIN(p.k, DEPTH));
    for (int64_t l = 0; l < p.k; l += DEPTH) {
        const int depth = (int)XG_MIN(p.k - l - DEPTH, DEPTH); /* of the next tiles */
        xg_stash_2d(&a_tile[now][0][0], a_next, &a);
        xg_stash_2d(&b_tile[now][0][0], b_next, &b);
        __syncthreads();
        a.from += DEPTH * p.a_stride_k;
        b.from += DEPTH * p.b_stride_k;
        xg_fetch_2d(a_next, &a, rows, depth);
        xg_fetch_2d(b_next, &b, cols, depth);
        XG_UNROLL
        for (int i = 0; i < DEPTH; i++) {
            float ai[RESULTS], bi[RESULTS];
            XG_UNROLL
            for (int r = 0; r < RESULTS; r++) {
                ai[r] = a_tile[now][i][y + r * SPAN];
                bi[r] = b_tile[now][i][x + r * SPAN];
            }
            XG_UNROLL
            for (int r = 0; r < RESULTS; r++)
                XG_UNROLL
                for (int s = 0; s < RESULTS; s++)
                    sum[r][s] += ai[r] * bi[s];
        }
        now ^= 1;
    }
    XG_UNROLL
    for (int r = 0; r < RESULTS; r++)
        XG_UNROLL
        for (int s = 0; s < RESULTS; s++) {
            const int64_t row = row0 + y + r * SPAN, col = col0 + x + s * SPAN;
            if (row < p.m && col < p.n) {
                float *c = &p.c[row * p.c_stride_m + col];
                *c = xg_blend(p.alpha, sum[r][s], p.beta, c);
            }
        }
}

#undef TILE
#undef DEPTH
#undef RESULTS
#undef SPAN
#undef THREADS
#undef LOADS
#undef PAD
