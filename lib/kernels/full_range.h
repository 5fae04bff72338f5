/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One 128 x 128 tile of C = alpha A B + beta C with FP32's accuracy and FP32's range of exponents,
 * on tensor cores, from A and B as they are.
 *
 * Each row of A and column of B is scaled by a power of two that the caller gives; then every
 * element is split into three BF16 parts, x = high + middle + low, each the rest rounded to
 * nearest. BF16 has FP32's exponents, so that the parts hold 24 bits wherever x is a normal number
 * that is not among the smallest. Of the nine products of parts six count: middle * middle,
 * high * low, low * high, high * middle, middle * high and high * high, added in that order, the
 * small ones first. The tensor core cuts off what it adds, toward zero, so that its accumulators
 * are added to others in FP32 (promoted) every 64 k.
 *
 * Two warpgroups, 64 rows of the tile each, with no producer warp: shared memory has two stages of
 * 64 k. While the products of one stage run, the same threads load the next 64 k of A and B into
 * registers, split them and store the parts to the other stage.
 * Traffic: 256 rows of 4 bytes a k for 2 * 128 * 128 OP: 32 OP/B.
 */
#ifndef XGEMM_KERNELS_FULL_RANGE_H
#define XGEMM_KERNELS_FULL_RANGE_H

#include "full_range_split.h"
#include "ptx_sm90.h"

enum {
    XG_FULL_RANGE_STAGE = 2 * XG_FULL_RANGE_PARTS * XG_FULL_RANGE_UNIT,
    XG_FULL_RANGE_BYTES = 2 * XG_FULL_RANGE_STAGE
};

/* Of the two warpgroups. */
XG_DEVICE void xg_full_sync(void)
{
    xg_group_sync(1, 256);
}

/* The tile's operands, and what of k is not loaded yet. */
typedef struct {
    xg_full_operand a, b;
    int64_t k, k_left;
} xg_full_tile;

XG_DEVICE xg_full_tile xg_full_tile_of(const xg_args *p, int row, int column,
                                       const float *row_scales, const float *column_scales)
{
    const xg_full_tile tile = {
        xg_full_operand_of(p->a + row * p->a_row, p->a_row, p->a_col, p->m - row, row_scales),
        xg_full_operand_of(p->b + column * p->b_col, p->b_col, p->b_row, p->n - column,
                           column_scales),
        0, p->k};
    return tile;
}

/* The next 64 k of both operands. */
XG_DEVICE void xg_full_load(xg_full_tile *tile, float4 a[XG_FULL_RANGE_LOADS],
                            float4 b[XG_FULL_RANGE_LOADS])
{
    const int k_left = (int)XG_MIN(tile->k_left, XG_FULL_RANGE_K), whole = k_left == XG_FULL_RANGE_K;
    const int a_vec4 = tile->a.vec4 && whole, b_vec4 = tile->b.vec4 && whole;
    const int apart = (tile->a.k_major && !a_vec4) || (tile->b.k_major && !b_vec4);
    xg_full_load_operand(&tile->a, tile->k, k_left, a_vec4, apart, a);
    xg_full_load_operand(&tile->b, tile->k, k_left, b_vec4, apart, b);
    tile->k += XG_FULL_RANGE_K;
    tile->k_left -= XG_FULL_RANGE_K;
}

/* accumulators (+)= one product of parts, 64 k of it: four wgmma. */
XG_DEVICE void xg_full_multiply(float accumulators[64], uint64_t a, uint64_t b, int a_part,
                                int b_part, int add)
{
    XG_UNROLL
    for (int i = 0; i < XG_FULL_RANGE_K / 16; i++)
        xg_wgmma_bf16_64x128x16(accumulators,
                                a + (uint64_t)(a_part * (XG_FULL_RANGE_UNIT / 16) + 2 * i),
                                b + (uint64_t)(b_part * (XG_FULL_RANGE_UNIT / 16) + 2 * i),
                                add || i > 0);
}

/*
 * The products of the stage at address "from", and meanwhile the parts of the next 64 k, if there
 * are any, to the stage at "to". A split of 16 elements follows each product but the first, so that
 * neither the tensor cores nor the other units have long to wait.
 */
XG_DEVICE void xg_full_step(xg_full_tile *tile, float accumulators[64], unsigned from, char *to)
{
    const unsigned warpgroup = xg_thread_again() / 128 - 1;
    const uint64_t a = xg_wgmma_operand(from + warpgroup * (XG_FULL_RANGE_UNIT / 2));
    const uint64_t b = xg_wgmma_operand(from + XG_FULL_RANGE_PARTS * XG_FULL_RANGE_UNIT);
    char *const b_to = to + XG_FULL_RANGE_PARTS * XG_FULL_RANGE_UNIT;
    const int more = tile->k_left > 0;
    float4 next_a[XG_FULL_RANGE_LOADS], next_b[XG_FULL_RANGE_LOADS];
    unsigned special = 0;
    if (more)
        xg_full_load(tile, next_a, next_b);
    xg_wgmma_fence();
    xg_full_multiply(accumulators, a, b, 1, 1, 0);
    xg_full_multiply(accumulators, a, b, 0, 2, 1);
    xg_wgmma_commit();
    if (more)
        special |= xg_full_split_block(&tile->a, next_a, 0, to);
    xg_full_multiply(accumulators, a, b, 2, 0, 1);
    xg_wgmma_commit();
    if (more)
        special |= xg_full_split_block(&tile->a, next_a, 1, to);
    xg_full_multiply(accumulators, a, b, 0, 1, 1);
    xg_wgmma_commit();
    if (more)
        special |= xg_full_split_block(&tile->b, next_b, 0, b_to);
    xg_full_multiply(accumulators, a, b, 1, 0, 1);
    xg_wgmma_commit();
    if (more)
        special |= xg_full_split_block(&tile->b, next_b, 1, b_to);
    xg_full_multiply(accumulators, a, b, 0, 0, 1);
    xg_wgmma_commit();
    if (special & XG_FULL_RANGE_SPECIAL) {
        xg_full_clear_special(&tile->a, to);
        xg_full_clear_special(&tile->b, b_to);
    }
    xg_fence_async_shared();
    xg_wgmma_wait(0);
    xg_wgmma_pin(accumulators, 64);
}

/* The first 64 k, to the first stage. */
XG_DEVICE void xg_full_first(xg_full_tile *tile, char *to)
{
    char *const b_to = to + XG_FULL_RANGE_PARTS * XG_FULL_RANGE_UNIT;
    float4 a[XG_FULL_RANGE_LOADS], b[XG_FULL_RANGE_LOADS];
    unsigned special = 0;
    xg_full_load(tile, a, b);
    XG_UNROLL
    for (unsigned block = 0; block < 2; block++) {
        special |= xg_full_split_block(&tile->a, a, block, to);
        special |= xg_full_split_block(&tile->b, b, block, b_to);
    }
    if (special & XG_FULL_RANGE_SPECIAL) {
        xg_full_clear_special(&tile->a, to);
        xg_full_clear_special(&tile->b, b_to);
    }
    xg_fence_async_shared();
}

/* Four columns of C from c on, of which "columns" are inside the matrix. */
XG_DEVICE void xg_full_store4(const xg_args *p, float *c, int columns, int vec4, float4 sum)
{
    const float x[4] = {sum.x, sum.y, sum.z, sum.w};
    if (vec4 && columns >= 4) {
        float4 old = {0.0f, 0.0f, 0.0f, 0.0f};
        if (p->beta != 0.0f)
            old = *(const float4 *)c;
        xg_store_four(c, xg_blend(p->alpha, sum.x, p->beta, &old.x),
                      xg_blend(p->alpha, sum.y, p->beta, &old.y),
                      xg_blend(p->alpha, sum.z, p->beta, &old.z),
                      xg_blend(p->alpha, sum.w, p->beta, &old.w));
    } else {
        XG_UNROLL
        for (int i = 0; i < 4; i++)
            if (i < columns)
                c[i] = xg_blend(p->alpha, x[i], p->beta, c + i);
    }
}

/*
 * sum * row_scale * column_scale. By the scales' product, unless that overflows or underflows: then
 * both are above 1, or both below, and between the two multiplications nothing is lost.
 */
XG_DEVICE float xg_full_scaled(float sum, float row_scale, float column_scale)
{
    const float scale = row_scale * column_scale;
    const unsigned normals = 254u << 23, least = 1u << 23;
    return xg_bits_of(scale) - least < normals ? sum * scale : sum * row_scale * column_scale;
}

/*
 * The tile to C. A thread has rows of two unit rows (xg_full_row_of()), and of each 32 columns 8
 * neighbours: accumulator 16 * g + 4 * i + 2 * e + h is that of column 32 * g + 8 * (lane % 4) +
 * 4 * h + i.
 */
XG_DEVICE void xg_full_store(const xg_args *p, const float sum[64], int row, int column,
                             const float *row_scales, const float *column_scales)
{
    const unsigned thread = xg_full_thread(), lane = thread % 32;
    const int vec4 = ((uintptr_t)p->c | (uintptr_t)(p->c_row * 4)) % 16 == 0;
    XG_UNROLL
    for (unsigned e = 0; e < 2; e++) {
        const int i = (int)xg_full_row_of(thread / 32 * 16 + lane / 4 + 8 * e);
        if (i >= p->m - row)
            continue;
        const float row_scale = row_scales[i];
        XG_UNROLL
        for (unsigned eight = 0; eight < 8; eight++) {
            const int j = (int)(eight / 2 * 32 + lane % 4 * 8 + eight % 2 * 4);
            const float *const x = sum + eight / 2 * 16 + 2 * e + eight % 2;
            const int columns = (int)XG_MIN(p->n - column - j, 4);
            float scaled[4];
            XG_UNROLL
            for (int l = 0; l < 4; l++)
                scaled[l] = xg_full_scaled(x[4 * l], row_scale, column_scales[j + l]);
            if (columns > 0)
                xg_full_store4(p, p->c + (row + i) * p->c_row + column + j, columns, vec4,
                               (float4){scaled[0], scaled[1], scaled[2], scaled[3]});
        }
    }
}

/*
 * 256 threads, the block's threads 128 to 383, all call it, with the same arguments: the tile of C
 * whose first row and column these are; it may overhang C's edges. Of "shared", at a multiple of
 * 1024, it uses XG_FULL_RANGE_BYTES. Row i of A (counted from the tile's first) is divided by
 * row_scales[i], column j of B by column_scales[j], powers of two from 2^-126 to 2^113 that bring
 * the largest magnitude of each to 2^15 at most; of both 128 are read, and those past C's edges may
 * be any. Inf and NaN count as 0.
 */
XG_DEVICE void xg_full_range_tile(const xg_args *p, int row, int column, char *shared,
                                  const float *row_scales, const float *column_scales)
{
    xg_full_tile tile = xg_full_tile_of(p, row, column, row_scales, column_scales);
    const int k_blocks = (int)((p->k + XG_FULL_RANGE_K - 1) / XG_FULL_RANGE_K);
    const unsigned base = xg_shared_address(shared);
    float sum[64], accumulators[64];
    unsigned stage = 0;
    XG_UNROLL
    for (int i = 0; i < 64; i++)
        sum[i] = 0.0f;
    xg_full_sync(); /* nobody reads it any more */
    xg_full_first(&tile, shared);
    for (int k_block = 0; k_block < k_blocks; k_block++) {
        /* All have stored this stage, and have waited for the products of the other one. */
        xg_full_sync();
        xg_full_step(&tile, accumulators, base + stage, shared + (XG_FULL_RANGE_STAGE - stage));
        XG_UNROLL
        for (int i = 0; i < 64; i++)
            sum[i] += accumulators[i];
        stage = XG_FULL_RANGE_STAGE - stage;
    }
    xg_full_store(p, sum, row, column, row_scales, column_scales);
}

#endif
