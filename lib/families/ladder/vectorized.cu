/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vectorized: register-tiled-2d with accesses of 16 bytes.
 *
 * Idea: four neighbours move in one instruction: from global memory along
 * whichever direction is contiguous, from shared memory to registers, and to
 * C. A thread's 8 rows (and columns) are two groups of four, 64 apart, so that
 * the reads of a quarter-warp fall into different banks. Where four do not fit
 * (an edge of the matrix) or the address is not a multiple of 16 bytes (an odd
 * leading dimension), the same four are moved one by one.
 * Traffic: 128 × 128 tile, 32 OP/B.
 * Source: the code repository of seed text 000 (row R27).
 */
#include "families/common/dialect.h"

#define TILE    128
#define DEPTH   16
#define HALF    (TILE / 2)
#define THREADS 256
#define LOADS   (TILE * DEPTH / 4 / THREADS)
#define PAD     4 /* keeps rows 16-byte aligned and spreads transposed stores over the banks */

/* Whether groups of four along the contiguous direction are 16-byte aligned. */
XG_DEVICE int xg_aligned4(const float *matrix, int64_t other_step)
{
    return ((uintptr_t)matrix | (uintptr_t)(other_step * 4)) % 16 == 0;
}

XG_DEVICE float4 xg_load4(const float *from, int left, int aligned)
{
    float4 four = {0.0f, 0.0f, 0.0f, 0.0f};
    if (aligned && left >= 4)
        return *(const float4 *)from;
    if (left > 0)
        four.x = from[0];
    if (left > 1)
        four.y = from[1];
    if (left > 2)
        four.z = from[2];
    if (left > 3)
        four.w = from[3];
    return four;
}

/* What a thread loads of a tile: four from (x, l), then LOADS - 1 times more, (dx, dl) apart. */
typedef struct {
    const float *from;
    int64_t step;
    int x, l, dx, dl, along_k, aligned;
} xg_share_4;

XG_DEVICE xg_share_4 xg_share_of_4(const float *matrix, int64_t x_step, int64_t k_step, int aligned)
{
    const int t = (int)threadIdx.x;
    xg_share_4 share;
    share.along_k = k_step == 1;
    share.x = share.along_k ? t / (DEPTH / 4) : t % (TILE / 4) * 4;
    share.l = share.along_k ? t % (DEPTH / 4) * 4 : t / (TILE / 4);
    share.dx = share.along_k ? THREADS / (DEPTH / 4) : 0;
    share.dl = share.along_k ? 0 : THREADS / (TILE / 4);
    share.from = matrix + share.x * x_step + share.l * k_step;
    share.step = share.dx * x_step + share.dl * k_step;
    share.aligned = aligned;
    return share;
}

/* Elements past x_left or k_left, counted from the tile's corner, are zero. */
XG_DEVICE void xg_fetch_4(float4 next[LOADS], const xg_share_4 *share, int x_left, int k_left)
{
    XG_UNROLL
    for (int i = 0; i < LOADS; i++) {
        const int x = x_left - share->x - i * share->dx, l = k_left - share->l - i * share->dl;
        const int left = share->along_k ? (x > 0 ? l : 0) : (l > 0 ? x : 0);
        next[i] = xg_load4(share->from + i * share->step, left, share->aligned);
    }
}

XG_DEVICE void xg_stash_4(float *tile, const float4 next[LOADS], const xg_share_4 *share)
{
    XG_UNROLL
    for (int i = 0; i < LOADS; i++) {
        float *to = tile + (share->l + i * share->dl) * (TILE + PAD) + share->x + i * share->dx;
        if (share->along_k) {
            to[0] = next[i].x;
            to[TILE + PAD] = next[i].y;
            to[2 * (TILE + PAD)] = next[i].z;
            to[3 * (TILE + PAD)] = next[i].w;
        } else {
            *(float4 *)to = next[i];
        }
    }
}

/* Two groups of four, half a tile apart. */
XG_DEVICE void xg_read_8(float out[8], const float *from)
{
    const float4 low = *(const float4 *)from, high = *(const float4 *)(from + HALF);
    out[0] = low.x, out[1] = low.y, out[2] = low.z, out[3] = low.w;
    out[4] = high.x, out[5] = high.y, out[6] = high.z, out[7] = high.w;
}

XG_DEVICE void xg_store4(float *c, const float sum[4], int left, int aligned, float alpha,
                         float beta)
{
    if (aligned && left >= 4) {
        float4 four = {0.0f, 0.0f, 0.0f, 0.0f};
        if (beta != 0.0f)
            four = *(const float4 *)c;
        four.x = xg_blend(alpha, sum[0], beta, &four.x);
        four.y = xg_blend(alpha, sum[1], beta, &four.y);
        four.z = xg_blend(alpha, sum[2], beta, &four.z);
        four.w = xg_blend(alpha, sum[3], beta, &four.w);
        *(float4 *)c = four;
        return;
    }
    XG_UNROLL
    for (int i = 0; i < 4; i++)
        if (i < left)
            c[i] = xg_blend(alpha, sum[i], beta, &c[i]);
}

XG_KERNEL void __launch_bounds__(THREADS, 2) xg_vectorized(const xg_args p)
{
    XG_SHARED16 float a_tile[2][DEPTH][TILE + PAD];
    XG_SHARED16 float b_tile[2][DEPTH][TILE + PAD];
    const int x = (int)threadIdx.x % 16 * 4, y = (int)threadIdx.x / 16 * 4;
    const int64_t row0 = XG_BLOCK_Y * TILE, col0 = XG_BLOCK_X * TILE;
    const int rows = (int)XG_MIN(p.m - row0, TILE), cols = (int)XG_MIN(p.n - col0, TILE);
    xg_share_4 a = xg_share_of_4(p.a + row0 * p.a_stride_m, p.a_stride_m, p.a_stride_k,
                                 xg_aligned4(p.a, p.a_stride_k == 1 ? p.a_stride_m : p.a_stride_k));
    xg_share_4 b = xg_share_of_4(p.b + col0 * p.b_stride_n, p.b_stride_n, p.b_stride_k,
                                 xg_aligned4(p.b, p.b_stride_k == 1 ? p.b_stride_n : p.b_stride_k));
    float sum[8][8] = {{0.0f}};
    float4 a_next[LOADS], b_next[LOADS];
    int now = 0;

    xg_fetch_4(a_next, &a, rows, (int)XG_MIN(p.k, DEPTH));
    xg_fetch_4(b_next, &b, cols, (int)XG_MIN(p.k, DEPTH));
    for (int64_t l = 0; l < p.k; l += DEPTH) {
        const int depth = (int)XG_MIN(p.k - l - DEPTH, DEPTH); /* of the next tiles */
        xg_stash_4(&a_tile[now][0][0], a_next, &a);
        xg_stash_4(&b_tile[now][0][0], b_next, &b);
        __syncthreads();
        a.from += DEPTH * p.a_stride_k;
        b.from += DEPTH * p.b_stride_k;
        xg_fetch_4(a_next, &a, rows, depth);
        xg_fetch_4(b_next, &b, cols, depth);
        XG_UNROLL
        for (int i = 0; i < DEPTH; i++) {
            float ai[8], bi[8];
            xg_read_8(ai, &a_tile[now][i][y]);
            xg_read_8(bi, &b_tile[now][i][x]);
            XG_UNROLL
            for (int r = 0; r < 8; r++)
                XG_UNROLL
                for (int s = 0; s < 8; s++)
                    sum[r][s] += ai[r] * bi[s];
        }
        now ^= 1;
    }
    const int aligned = xg_aligned4(p.c, p.c_stride_m);
    XG_UNROLL
    for (int r = 0; r < 8; r++) {
        const int row = y + r % 4 + r / 4 * HALF;
        if (row < rows) {
            float *c = p.c + (row0 + row) * p.c_stride_m + col0 + x;
            xg_store4(c, sum[r], cols - x, aligned, p.alpha, p.beta);
            xg_store4(c + HALF, sum[r] + 4, cols - x - HALF, aligned, p.alpha, p.beta);
        }
    }
}

#undef TILE
#undef DEPTH
#undef HALF
#undef THREADS
#undef LOADS
#undef PAD
