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
 * 64 k. While the products of one stage run, the same threads split the next 64 k of A and B, a
 * quarter at a time, and store the parts to the other stage. Loads go to registers, two quarters
 * ahead of the split, which is half a stage: long enough for L2, in 32 registers.
 * Traffic: 256 rows of 4 bytes a k for 2 * 128 * 128 OP: 32 OP/B.
 */
#ifndef XGEMM_KERNELS_FULL_RANGE_H
#define XGEMM_KERNELS_FULL_RANGE_H

#include "full_range_split.h"
#include "ptx_sm90.h"

enum {
    XG_FULL_RANGE_STAGE = 2 * XG_FULL_RANGE_PARTS * XG_FULL_RANGE_UNIT,
    XG_FULL_RANGE_BYTES = 2 * XG_FULL_RANGE_STAGE,
    XG_FULL_RANGE_PRODUCTS = 6,
    XG_FULL_RANGE_QUARTERS = 4, /* of the split of a stage: two of A, two of B */
    XG_FULL_RANGE_AHEAD = 2     /* quarters that are loaded ahead of the split */
};

/* Of the two warpgroups. */
XG_DEVICE void xg_full_sync(void)
{
    xg_group_sync(1, 256);
}

/*
 * The warpgroups tell each other when they have stored a stage, and when their products of one are
 * done: for each of the two there is one barrier (5 to 8) in either direction, where one warpgroup
 * arrives and the other one syncs. So one promotes its accumulators while the other one's products
 * run. With one barrier for all, both would promote at the same time.
 *
 * Nobody arrives twice before the other one has synced: a warpgroup says that it has consumed a
 * stage after it has waited for the next one, and the next but one is produced only after that.
 */
XG_DEVICE void xg_full_arrive_produced(void)
{
    xg_group_arrive_at(4 + xg_thread_again() / 128, XG_FULL_RANGE_THREADS);
}

XG_DEVICE void xg_full_wait_produced(void)
{
    xg_group_sync_at(7 - xg_thread_again() / 128, XG_FULL_RANGE_THREADS);
}

XG_DEVICE void xg_full_arrive_consumed(void)
{
    xg_group_arrive_at(6 + xg_thread_again() / 128, XG_FULL_RANGE_THREADS);
}

XG_DEVICE void xg_full_wait_consumed(void)
{
    xg_group_sync_at(9 - xg_thread_again() / 128, XG_FULL_RANGE_THREADS);
}
typedef struct {
    xg_full_operand a, b;
    int k;
} xg_full_tile;

/* What is stored of a tile: see xg_full_store(). */
typedef struct {
    int row, column, columns;
    unsigned wanted;
} xg_full_place_of_c;

XG_DEVICE xg_full_tile xg_full_tile_of(const xg_args *p, int row, int column, const float *factors)
{
    const xg_full_tile tile = {
        xg_full_operand_of(p->a + row * p->a_row, p->a_row, p->a_col, p->m - row, factors),
        xg_full_operand_of(p->b + column * p->b_col, p->b_col, p->b_row, p->n - column,
                           factors + XG_FULL_RANGE_TILE),
        (int)p->k};
    return tile;
}

/* A quarter of the 64 k from "k" on: the thread's block of A or of B; past the end of k nothing. */
XG_DEVICE void xg_full_load(const xg_full_tile *tile, int k, unsigned quarter,
                            float4 x[XG_FULL_RANGE_LOADS])
{
    const int k_left = XG_MIN(tile->k - k, XG_FULL_RANGE_K), whole = k_left == XG_FULL_RANGE_K;
    const int a_vec4 = tile->a.vec4 && whole, b_vec4 = tile->b.vec4 && whole;
    const int strided = (tile->a.k_major && !a_vec4) || (tile->b.k_major && !b_vec4);
    if (k_left <= 0)
        return;
    if (quarter < 2)
        xg_full_load_block(&tile->a, k, k_left, quarter, a_vec4, strided, x);
    else
        xg_full_load_block(&tile->b, k, k_left, quarter - 2, b_vec4, strided, x);
}

/* accumulators (+)= one product of parts, 64 k of it: four wgmma. */
XG_DEVICE void xg_full_multiply(float accumulators[64], uint64_t a, uint64_t b, int product)
{
    const int a_parts[XG_FULL_RANGE_PRODUCTS] = {1, 0, 2, 0, 1, 0};
    const int b_parts[XG_FULL_RANGE_PRODUCTS] = {1, 2, 0, 1, 0, 0};
    a += (uint64_t)(a_parts[product] * (XG_FULL_RANGE_UNIT / 16));
    b += (uint64_t)(b_parts[product] * (XG_FULL_RANGE_UNIT / 16));
    XG_UNROLL
    for (int i = 0; i < XG_FULL_RANGE_K / 16; i++)
        xg_wgmma_bf16_64x128x16(accumulators, a + (uint64_t)(2 * i), b + (uint64_t)(2 * i),
                                product > 0 || i > 0);
    xg_wgmma_commit();
}

/* A quarter, as parts to a stage. */
XG_DEVICE int xg_full_split(const xg_full_tile *tile, const float4 x[XG_FULL_RANGE_LOADS],
                            unsigned quarter, char *to)
{
    if (quarter < 2)
        return xg_full_split_block(&tile->a, x, quarter, to);
    return xg_full_split_block(&tile->b, x, quarter - 2,
                               to + XG_FULL_RANGE_PARTS * XG_FULL_RANGE_UNIT);
}

/* Quarters that have been loaded: of the two in turns an even and an odd one. */
typedef struct {
    float4 x[XG_FULL_RANGE_AHEAD][XG_FULL_RANGE_LOADS];
} xg_full_loaded;

/* The first quarters of the 64 k from "k" on. */
XG_DEVICE void xg_full_load_first(const xg_full_tile *tile, int k, xg_full_loaded *loaded)
{
    XG_UNROLL
    for (unsigned quarter = 0; quarter < XG_FULL_RANGE_AHEAD; quarter++)
        xg_full_load(tile, k, quarter, loaded->x[quarter]);
}

/* The parts of a quarter of the 64 k from "k" on, to a stage; and loads the one two further. */
XG_DEVICE int xg_full_split_next(const xg_full_tile *tile, int k, unsigned quarter,
                                 xg_full_loaded *loaded, char *to)
{
    float4 *const x = loaded->x[quarter % XG_FULL_RANGE_AHEAD];
    const int special = xg_full_split(tile, x, quarter, to);
    if (quarter + XG_FULL_RANGE_AHEAD < XG_FULL_RANGE_QUARTERS)
        xg_full_load(tile, k, quarter + XG_FULL_RANGE_AHEAD, x);
    return special;
}

XG_DEVICE void xg_full_clear(const xg_full_tile *tile, char *to)
{
    xg_full_clear_special(&tile->a, to);
    xg_full_clear_special(&tile->b, to + XG_FULL_RANGE_PARTS * XG_FULL_RANGE_UNIT);
}

/* The operands of the running thread's warpgroup in the stage at an address. */
typedef struct {
    uint64_t a, b;
} xg_full_stage;

XG_DEVICE xg_full_stage xg_full_stage_at(unsigned address)
{
    const unsigned warpgroup = xg_full_thread() / 128;
    const xg_full_stage stage = {
        xg_wgmma_operand(address + warpgroup * (XG_FULL_RANGE_UNIT / 2)),
        xg_wgmma_operand(address + XG_FULL_RANGE_PARTS * XG_FULL_RANGE_UNIT)};
    return stage;
}

/* Waits for the accumulators and promotes them. */
XG_DEVICE void xg_full_promote(float sum[64], float accumulators[64])
{
    xg_wgmma_wait(0);
    xg_wgmma_pin(accumulators, 64);
    XG_UNROLL
    for (int i = 0; i < 64; i++)
        sum[i] += accumulators[i];
}

/*
 * sum += the products of the stage at address "from", and meanwhile the parts of the 64 k from "k"
 * on, to the stage at "to". Products are issued between the quarters of the split, so that neither
 * the tensor cores nor the other units have long to wait. The next 64 k are loaded after the fence,
 * which would wait for them.
 */
XG_DEVICE void xg_full_step(const xg_full_tile *tile, int k, float sum[64], unsigned from, char *to,
                            xg_full_loaded *loaded)
{
    const xg_full_stage stage = xg_full_stage_at(from);
    float accumulators[64];
    int special = 0;
    xg_wgmma_fence();
    XG_UNROLL
    for (int i = 0; i < XG_FULL_RANGE_PRODUCTS; i++) {
        if (i == 1)
            xg_full_wait_consumed(); /* nobody reads the other stage any more */
        if (i >= 1 && i <= XG_FULL_RANGE_QUARTERS)
            special |= xg_full_split_next(tile, k, (unsigned)i - 1, loaded, to);
        xg_full_multiply(accumulators, stage.a, stage.b, i);
    }
    if (special)
        xg_full_clear(tile, to);
    xg_fence_async_shared();
    xg_full_arrive_produced();
    xg_full_load_first(tile, k + XG_FULL_RANGE_K, loaded);
    xg_wgmma_wait(0);
    xg_full_wait_produced();
    xg_full_arrive_consumed();
    xg_full_promote(sum, accumulators);
}

/* The same of the last stage. */
XG_DEVICE void xg_full_last_step(float sum[64], unsigned from)
{
    const xg_full_stage stage = xg_full_stage_at(from);
    float accumulators[64];
    xg_wgmma_fence();
    XG_UNROLL
    for (int i = 0; i < XG_FULL_RANGE_PRODUCTS; i++)
        xg_full_multiply(accumulators, stage.a, stage.b, i);
    xg_full_wait_consumed();
    xg_full_promote(sum, accumulators);
}

/* The first 64 k, to the first stage. */
XG_DEVICE void xg_full_prologue(const xg_full_tile *tile, char *to, xg_full_loaded *loaded)
{
    int special = 0;
    xg_full_load_first(tile, 0, loaded);
    XG_UNROLL
    for (unsigned quarter = 0; quarter < XG_FULL_RANGE_QUARTERS; quarter++)
        special |= xg_full_split_next(tile, 0, quarter, loaded, to);
    if (special)
        xg_full_clear(tile, to);
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
 * The tile to C, of it so many columns, and of each 16 rows those whose bit is set in "wanted". A
 * thread has rows of two unit rows (xg_full_row_of()), and of each 32 columns 8
 * neighbours: accumulator 16 * g + 4 * i + 2 * e + h is that of column 32 * g + 8 * (lane % 4) +
 * 4 * h + i.
 */
XG_DEVICE void xg_full_store(const xg_args *p, const float sum[64], const xg_full_place_of_c *to,
                             const float *factors)
{
    const int row = to->row, column = to->column;
    const float *const column_factors = factors + XG_FULL_RANGE_TILE;
    const unsigned thread = xg_full_thread(), lane = thread % 32;
    const int vec4 = ((uintptr_t)p->c | (uintptr_t)(p->c_row * 4)) % 16 == 0;
    XG_UNROLL
    for (unsigned e = 0; e < 2; e++) {
        const int i = (int)xg_full_row_of(thread / 32 * 16 + lane / 4 + 8 * e);
        if (i >= p->m - row || !(to->wanted >> i / 16 & 1))
            continue;
        const int row_exponent = -xg_scale_exponent(factors[i]);
        XG_UNROLL
        for (unsigned eight = 0; eight < 8; eight++) {
            const int j = (int)(eight / 2 * 32 + lane % 4 * 8 + eight % 2 * 4);
            const float *const x = sum + eight / 2 * 16 + 2 * e + eight % 2;
            const int columns = (int)XG_MIN(XG_MIN(p->n - column, to->columns) - j, 4);
            float scaled[4];
            XG_UNROLL
            for (int l = 0; l < 4; l++)
                scaled[l] =
                    xg_scale_by(x[4 * l], row_exponent - xg_scale_exponent(column_factors[j + l]));
            if (columns > 0)
                xg_full_store4(p, p->c + (row + i) * p->c_row + column + j, columns, vec4,
                               (float4){scaled[0], scaled[1], scaled[2], scaled[3]});
        }
    }
}

/*
 * 256 threads, the block's threads 128 to 383, all call it with the same arguments: a tile of C,
 * which may overhang C's edges. k is below 2^31 - 128.
 *
 * Of "shared", at a multiple of 1024, it uses XG_FULL_RANGE_BYTES, and "factors", at a multiple of
 * 16, is shared memory for 256 floats; it syncs before it writes there. When one warpgroup returns,
 * the other one may still read it. It uses the barriers 1 and 5 to 8.
 *
 * row_scales and column_scales are powers of two from 2^-126 to 2^113, by which the rows of A and
 * columns of B are divided so that their largest magnitudes are at most 2^15. 128 of each are read;
 * those past C's edges may be any. Here elements are 2^42 times as large, or as much as a scale
 * allows (xg_full_exponent), so that 165 binades of a row are held in full. Inf and NaN count as 0.
 */
XG_DEVICE void xg_full_range_tile(const xg_args *p, const xg_full_place_of_c *to, char *shared,
                                  float *factors, const float *row_scales,
                                  const float *column_scales)
{
    const xg_full_tile tile = xg_full_tile_of(p, to->row, to->column, factors);
    const unsigned base = xg_shared_address(shared);
    xg_full_loaded loaded;
    unsigned stage = 0;
    float sum[64];
    XG_UNROLL
    for (int i = 0; i < 64; i++)
        sum[i] = 0.0f;
    xg_full_sync(); /* nobody reads shared memory any more */
    xg_full_note_factors(factors, row_scales, column_scales);
    xg_full_sync();
    xg_full_prologue(&tile, shared, &loaded);
    xg_full_arrive_produced();
    xg_full_load_first(&tile, XG_FULL_RANGE_K, &loaded);
    xg_full_wait_produced();
    xg_full_arrive_consumed();
    for (int k = XG_FULL_RANGE_K; k < tile.k; k += XG_FULL_RANGE_K) {
        const unsigned other = XG_FULL_RANGE_STAGE - stage;
        xg_full_step(&tile, k, sum, base + stage, shared + other, &loaded);
        stage = other;
    }
    xg_full_last_step(sum, base + stage);
    xg_full_store(p, sum, to, factors);
}

#endif
