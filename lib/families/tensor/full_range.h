/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The full-range path: a 128 x 128 or 128 x 64 tile of C = alpha A B + beta C with FP32's accuracy
 * and FP32's range of exponents, on tensor cores, from A and B themselves. Inf and NaN count as 0;
 * their products come from a second pass over the tile, a product of classes (signs, zeros, Inf and
 * NaN).
 *
 * Each operand row is scaled by a power of two that the caller gives, and each element is split
 * into three BF16 terms, x = high + middle + low, each the remainder rounded to nearest. BF16 has
 * FP32's exponents, so that the terms hold 24 bits of every normal number that is not among the
 * smallest. Of the nine products of terms six count, added in this order: middle * middle, high *
 * low, low * high, high * middle, middle * high, high * high. Tensor cores truncate when they
 * accumulate, so that their accumulators are promoted every 32 k of high * high.
 *
 * Of four warpgroups the first and the last load and split, and store terms to one of two stages of
 * 64 k in shared memory; the two others, of 64 rows each, multiply the other stage. (With three
 * warpgroups one splits, which takes about twice as long.) Loads go to registers, half a stage or
 * more ahead of the split. Traffic: 256 rows of 4 bytes a k for 2 * 128 * 128 FLOP: 32 FLOP/B.
 */
#ifndef XGEMM_KERNELS_FULL_RANGE_H
#define XGEMM_KERNELS_FULL_RANGE_H

#include "families/common/epilogue.h"
#include "args.h"
#include "fp16_layout.h"
#include "full_range_split.h"
#include "families/common/ptx_wgmma.h"

enum {
    XG_FULL_RANGE_STAGE = 2 * XG_FULL_RANGE_TERMS * XG_FULL_RANGE_ROWS * XG_FULL_RANGE_K * 2,
    XG_FULL_RANGE_BYTES = 2 * XG_FULL_RANGE_STAGE,
    XG_FULL_RANGE_PRODUCTS = 6,
    XG_FULL_RANGE_PROMOTIONS = 2, /* of high * high, in 64 k */
    XG_FULL_RANGE_CONSUMERS = 256 /* threads */
};

/*
 * Named barriers. 5 to 8: a stage is full, one for each stage and consumer warpgroup, so that one
 * may promote while the other's products run. 9 and 10: a stage is empty. 11: of the splitting
 * threads alone.
 */
XG_DEVICE void xg_full_arrive_produced(unsigned stage, unsigned splitters)
{
    xg_named_barrier_arrive_at(5 + stage, splitters + 128);
    xg_named_barrier_arrive_at(7 + stage, splitters + 128);
}

XG_DEVICE void xg_full_wait_produced(unsigned stage, unsigned splitters)
{
    xg_named_barrier_sync_at(3 + 2 * (xg_reread_thread() / 128) + stage, splitters + 128);
}

XG_DEVICE void xg_full_arrive_consumed(unsigned stage, unsigned splitters)
{
    xg_named_barrier_arrive_at(9 + stage, splitters + XG_FULL_RANGE_CONSUMERS);
}

XG_DEVICE void xg_full_wait_consumed(unsigned stage, unsigned splitters)
{
    xg_named_barrier_sync_at(9 + stage, splitters + XG_FULL_RANGE_CONSUMERS);
}

/* A kernel's full-range tiles: 128 or 64 columns, and 256 or 128 splitting threads. */
typedef struct {
    int columns, splitters;
} xg_full_shape;

/*
 * Loads the factors of elements, powers of two: of the tile's rows of A, then of its columns of B.
 */
XG_DEVICE void xg_full_load_factors(float *factors, const float *row_scales,
                                    const float *column_scales, xg_full_shape shape)
{
    XG_UNROLL_BY(1)
    for (int i = (int)xg_full_thread(); i < XG_FULL_RANGE_ROWS + shape.columns;
         i += shape.splitters) {
        const float scale =
            i < XG_FULL_RANGE_ROWS ? row_scales[i] : column_scales[i - XG_FULL_RANGE_ROWS];
        factors[i] = xg_float_of((unsigned)(xg_full_exponent(scale) + 127) << 23);
    }
}

typedef struct {
    xg_full_operand a, b;
    int k;
} xg_full_tile;

/*
 * The k of a pass. As the FP16 terms, whose scales are used here, products of terms leave out a
 * last k that would need a k-block of its own (xg_split_k()), and the store adds it; classes have
 * it.
 */
XG_DEVICE int xg_full_k(const xg_tensor_args *p, int classes)
{
    return (int)p->k - (!classes && xg_has_last_k(p->k, p->k_blocks));
}

/* The tile in C: first row, first column, columns, and the wanted groups of 16 rows as bits. */
typedef struct {
    int row, column, columns;
    unsigned wanted;
} xg_full_target;

XG_DEVICE xg_full_tile xg_full_tile_of(const xg_tensor_args *p, const xg_full_target *to,
                                       xg_full_shape shape, int classes, const float *factors)
{
    const xg_full_tile tile = {xg_full_operand_of(p->a + to->row * p->a_stride_m, p->a_stride_m,
                                                  p->a_stride_k, XG_FULL_RANGE_ROWS, p->m - to->row,
                                                  shape.splitters, factors),
                               xg_full_operand_of(p->b + to->column * p->b_stride_n, p->b_stride_n,
                                                  p->b_stride_k, shape.columns, p->n - to->column,
                                                  shape.splitters, factors + XG_FULL_RANGE_ROWS),
                               xg_full_k(p, classes)};
    return tile;
}

/* Loads of a thread in a stage, each of 16 elements (a "block"): those of A, then those of B. */
XG_DEVICE unsigned xg_full_a_blocks(const xg_full_tile *tile)
{
    return (unsigned)(XG_FULL_RANGE_ROWS / tile->a.block_rows);
}

/* Loads the thread's block of the 64 k from "k" on; nothing beyond the end of k. */
XG_DEVICE void xg_full_load(const xg_full_tile *tile, int k, unsigned block, int plain,
                            float4 x[XG_FULL_RANGE_LOADS])
{
    const int k_left = XG_MIN(tile->k - k, XG_FULL_RANGE_K);
    const int whole = plain || k_left == XG_FULL_RANGE_K;
    const int a_vec4 = plain || (tile->a.vec4 && whole), b_vec4 = plain || (tile->b.vec4 && whole);
    const int strided = (tile->a.k_major && !a_vec4) || (tile->b.k_major && !b_vec4);
    if (k_left <= 0)
        return;
    if (block < xg_full_a_blocks(tile))
        xg_full_load_block(&tile->a, k, k_left, block, a_vec4, strided, x);
    else
        xg_full_load_block(&tile->b, k, k_left, block - xg_full_a_blocks(tile), b_vec4, strided, x);
}

/* Stores a block to a stage as terms or as classes. */
XG_DEVICE void xg_full_split(const xg_full_tile *tile, const float4 x[XG_FULL_RANGE_LOADS],
                             unsigned block, char *to, int finite, int classes)
{
    if (block < xg_full_a_blocks(tile))
        xg_full_split_block(&tile->a, x, block, to, finite, classes);
    else
        xg_full_split_block(&tile->b, x, block - xg_full_a_blocks(tile),
                            to + XG_FULL_RANGE_TERMS * xg_full_term_bytes(XG_FULL_RANGE_ROWS),
                            finite, classes);
}

/*
 * All stages of a tile, as terms or as classes. "plain" says that all loads are whole vec4, that
 * the operands' k_major are constants, and that there is no Inf or NaN: then the loop fits the
 * instruction cache.
 */
XG_DEVICE void xg_full_split_stages(const xg_full_tile *tile, xg_full_shape shape, char *shared,
                                    int plain, int classes)
{
    enum { AHEAD_MOST = 3 };
    const unsigned blocks = xg_full_a_blocks(tile) + (unsigned)(shape.columns / tile->b.block_rows);
    const unsigned ahead = blocks % 2 == 0 ? 2 : AHEAD_MOST;
    float4 x[AHEAD_MOST][XG_FULL_RANGE_LOADS];
    unsigned stage = 0;
    XG_UNROLL
    for (unsigned block = 0; block < ahead; block++)
        xg_full_load(tile, 0, block, plain, x[block]);
    XG_UNROLL_BY(1)
    for (int k = 0; k < tile->k; k += XG_FULL_RANGE_K, stage ^= 1) {
        char *const terms = shared + stage * XG_FULL_RANGE_STAGE;
        if (k >= 2 * XG_FULL_RANGE_K)
            xg_full_wait_consumed(stage, (unsigned)shape.splitters);
        XG_UNROLL
        for (unsigned block = 0; block < blocks; block++) {
            const unsigned next = block + ahead;
            xg_full_split(tile, x[block % ahead], block, terms, plain, classes);
            xg_full_load(tile, k + (int)(next / blocks) * XG_FULL_RANGE_K, next % blocks, plain,
                         x[block % ahead]);
        }
        xg_fence_proxy_async_shared();
        xg_full_arrive_produced(stage, (unsigned)shape.splitters);
    }
}

/* The plain case, with the major of A as a constant. */
XG_DEVICE void xg_full_split_plain(xg_full_tile *tile, xg_full_shape shape, char *shared,
                                   int a_k_major)
{
    tile->a.k_major = a_k_major;
    if (tile->b.k_major) {
        tile->b.k_major = 1;
        xg_full_split_stages(tile, shape, shared, 1, 0);
    } else {
        tile->b.k_major = 0;
        xg_full_split_stages(tile, shape, shared, 1, 0);
    }
}

/*
 * Splits a tile: called by shape.splitters threads, the CTA's first 128 and, if there are four
 * warpgroups, its last 128, while the consumers call xg_full_multiply_tile() with the same
 * arguments. Nobody reads "shared" any more. "finite": the tile's operands have no Inf or NaN.
 * "classes": this is the second pass, for xg_full_store_classes().
 *
 * row_scales and column_scales are powers of two from 2^-126 to 2^113: divided by them, elements
 * are at most 2^15. 128 row scales and as many column scales as columns are read; those beyond C
 * may be anything. Here elements are 2^36 times as large, or as much as a scale allows
 * (xg_full_exponent()), so that 102 binades of a row are held in full, and so are their products
 * with another row's (XG_LEAST_EXPONENT). Inf and NaN count as 0.
 */
XG_DEVICE void xg_full_split_tile(const xg_tensor_args *p, const xg_full_target *to,
                                  xg_full_shape shape, int finite, int classes, char *shared,
                                  float *factors, const float *row_scales,
                                  const float *column_scales)
{
    xg_full_tile tile = xg_full_tile_of(p, to, shape, classes, factors);
    const int plain = finite && tile.a.vec4 && tile.b.vec4 && tile.k % XG_FULL_RANGE_K == 0;
    xg_full_load_factors(factors, row_scales, column_scales, shape);
    xg_named_barrier_sync_at(11, (unsigned)shape.splitters);
    if (!plain)
        xg_full_split_stages(&tile, shape, shared, 0, classes);
    else if (tile.a.k_major)
        xg_full_split_plain(&tile, shape, shared, 1);
    else
        xg_full_split_plain(&tile, shape, shared, 0);
}

/* mma (+)= one of the six products, for some steps of 16 k. */
XG_DEVICE void xg_full_multiply(float mma[64], uint64_t a, uint64_t b, int tile_columns,
                                int product, int step, int steps, int add)
{
    const int a_terms[XG_FULL_RANGE_PRODUCTS] = {1, 0, 2, 0, 1, 0};
    const int b_terms[XG_FULL_RANGE_PRODUCTS] = {1, 2, 0, 1, 0, 0};
    a += (uint64_t)a_terms[product] * (xg_full_term_bytes(XG_FULL_RANGE_ROWS) / 16);
    b += (uint64_t)b_terms[product] * (xg_full_term_bytes(tile_columns) / 16);
    XG_UNROLL
    for (int i = step; i < step + steps; i++)
        if (tile_columns == 64)
            xg_wgmma_bf16_64x64x16(mma, a + (uint64_t)(2 * i), b + (uint64_t)(2 * i),
                                   add || i > step);
        else
            xg_wgmma_bf16_64x128x16(mma, a + (uint64_t)(2 * i), b + (uint64_t)(2 * i),
                                    add || i > step);
}

/* acc += the products of a stage, from number "first" on. */
XG_DEVICE void xg_full_consume(float acc[64], unsigned stage, unsigned shared, xg_full_shape shape,
                               int first, int last)
{
    enum { STEPS = XG_FULL_RANGE_K / 16, HIGH = XG_FULL_RANGE_PRODUCTS - 1 };
    const int tile_columns = shape.columns;
    const unsigned warpgroup = xg_reread_thread() / 128 - 1,
                   from = shared + stage * XG_FULL_RANGE_STAGE;
    const unsigned a_bytes = xg_full_term_bytes(XG_FULL_RANGE_ROWS);
    const uint64_t a = xg_wgmma_descriptor(from + warpgroup * (a_bytes / 2));
    const uint64_t b = xg_wgmma_descriptor(from + XG_FULL_RANGE_TERMS * a_bytes);
    float mma[64];
    xg_full_wait_produced(stage, (unsigned)shape.splitters);
    XG_UNROLL
    for (int step = 0; step < STEPS; step += STEPS / XG_FULL_RANGE_PROMOTIONS) {
        xg_wgmma_fence();
        XG_UNROLL
        for (int i = step == 0 ? first : HIGH; i < HIGH; i++)
            xg_full_multiply(mma, a, b, tile_columns, i, 0, STEPS, i > first);
        xg_full_multiply(mma, a, b, tile_columns, HIGH, step, STEPS / XG_FULL_RANGE_PROMOTIONS,
                         step == 0 && first < HIGH);
        xg_wgmma_commit();
        xg_wgmma_wait(0);
        if (step == STEPS - STEPS / XG_FULL_RANGE_PROMOTIONS && !last)
            xg_full_arrive_consumed(stage, (unsigned)shape.splitters);
        xg_wgmma_pin(mma, tile_columns / 2);
        XG_UNROLL
        for (int i = 0; i < tile_columns / 2; i++)
            acc[i] += mma[i];
    }
}

/* alpha acc + beta C; C as it was where acc is NaN. */
XG_DEVICE float xg_full_axpby(const xg_tensor_args *p, float acc, float old)
{
    return p->beta == 0.0f ? p->alpha * acc : xg_epilogue_unless_nan(p->alpha, acc, p->beta, &old);
}

/* Four columns of C from c on, of which "columns" are inside the matrix. */
XG_DEVICE void xg_full_store4(const xg_tensor_args *p, float *c, int columns, int vec4, float4 acc)
{
    const float x[4] = {acc.x, acc.y, acc.z, acc.w};
    if (vec4 && columns >= 4) {
        float4 old = {0.0f, 0.0f, 0.0f, 0.0f};
        if (p->beta != 0.0f)
            old = *(const float4 *)c;
        xg_store_vec4(c, xg_full_axpby(p, acc.x, old.x), xg_full_axpby(p, acc.y, old.y),
                      xg_full_axpby(p, acc.z, old.z), xg_full_axpby(p, acc.w, old.w));
    } else {
        XG_UNROLL
        for (int i = 0; i < 4; i++)
            if (i < columns) {
                const float old = p->beta != 0.0f ? c[i] : 0.0f;
                c[i] = xg_full_axpby(p, x[i], old);
            }
    }
}

/*
 * A thread's sums of a tile: tile_columns / 16 vec4 of neighbouring columns in its first stored
 * row, then in its second one. In local memory, so that what follows the products is loops and not
 * the same code for each: it is rare, and short beside the products.
 */
typedef struct {
    float4 vec4[16];
} xg_full_sums;

/* acc[16 g + 4 i + 2 e + h] is in row e, column 32 g + 8 (lane % 4) + 4 h + i. */
XG_DEVICE void xg_full_keep(const float acc[64], int tile_columns, xg_full_sums *sums)
{
    const int vec4s = tile_columns / 16;
    XG_UNROLL
    for (int n = 0; n < 2 * vec4s; n++) {
        const float *const x = acc + n % vec4s / 2 * 16 + n / vec4s * 2 + n % 2;
        sums->vec4[n] = (float4){x[0], x[4], x[8], x[12]};
    }
}

/* Where vec4 number n is in the tile. */
typedef struct {
    int row, column;
} xg_full_place;

XG_DEVICE xg_full_place xg_full_place_of(int n, int tile_columns)
{
    const int vec4s = tile_columns / 16, of_row = n % vec4s;
    const unsigned thread = xg_reread_thread() - 128, lane = thread % 32;
    const unsigned stored = thread / 32 * 16 + lane / 4 + (n < vec4s ? 0u : 8u);
    const xg_full_place place = {(int)xg_full_row_stored_at(stored),
                                 of_row / 2 * 32 + (int)(lane % 4) * 8 + of_row % 2 * 4};
    return place;
}

/* How many of the columns from a place on are wanted: in the matrix, and of a wanted row. */
XG_DEVICE int xg_full_wanted(const xg_tensor_args *p, const xg_full_target *to, xg_full_place at)
{
    if (at.row >= p->m - to->row || !(to->wanted >> at.row / 16 & 1))
        return 0;
    return (int)XG_MIN(XG_MIN(p->n - to->column, to->columns) - at.column, 4);
}

/*
 * A sum with the product at a last k that the terms leave out. Inf, by an overflow, stays: to
 * become NaN would leave C as it was. Where a or b is Inf or NaN the tile's second pass follows.
 */
XG_DEVICE float xg_full_with_last_k(float sum, float a, float b)
{
    return fabsf(sum) < INFINITY ? sum + a * b : sum;
}

/* The same for "columns" neighbours of C, where there is such a k. */
XG_DEVICE void xg_full_add_last_k(const xg_tensor_args *p, int row, int column, int columns,
                                  float x[4])
{
    if (!xg_has_last_k(p->k, p->k_blocks))
        return;
    const float a = p->a[row * p->a_stride_m + (p->k - 1) * p->a_stride_k];
    const float *const b = p->b + column * p->b_stride_n + (p->k - 1) * p->b_stride_k;
    XG_UNROLL
    for (int i = 0; i < 4; i++)
        if (i < columns)
            x[i] = xg_full_with_last_k(x[i], a, b[i * p->b_stride_n]);
}

/* Stores vec4 number n of a tile, as far as it is wanted. */
XG_DEVICE void xg_full_store(const xg_tensor_args *p, float4 sum, int n, const xg_full_target *to,
                             int tile_columns, const float *factors)
{
    const xg_full_place at = xg_full_place_of(n, tile_columns);
    const float4 by = *(const float4 *)(factors + XG_FULL_RANGE_ROWS + at.column);
    const int row_exponent = -xg_scale_exponent(factors[at.row]);
    const int vec4 = ((uintptr_t)p->c | (uintptr_t)(p->c_stride_m * 4)) % 16 == 0;
    const int columns = xg_full_wanted(p, to, at);
    float x[4] = {xg_scale_exp2(sum.x, row_exponent - xg_scale_exponent(by.x)),
                  xg_scale_exp2(sum.y, row_exponent - xg_scale_exponent(by.y)),
                  xg_scale_exp2(sum.z, row_exponent - xg_scale_exponent(by.z)),
                  xg_scale_exp2(sum.w, row_exponent - xg_scale_exponent(by.w))};
    if (columns <= 0)
        return;
    xg_full_add_last_k(p, to->row + at.row, to->column + at.column, columns, x);
    xg_full_store4(p, p->c + (to->row + at.row) * p->c_stride_m + to->column + at.column, columns,
                   vec4, (float4){x[0], x[1], x[2], x[3]});
}

/* All stages of a tile of that k: acc = the products from number "first" on. */
XG_DEVICE void xg_full_consume_stages(int k, xg_full_shape shape, const char *shared, float acc[64],
                                      int first)
{
    const unsigned address = xg_shared_address(shared);
    const int steps = (k + XG_FULL_RANGE_K - 1) / XG_FULL_RANGE_K;
    XG_UNROLL
    for (int i = 0; i < shape.columns / 2; i++)
        acc[i] = 0.0f;
    XG_UNROLL_BY(1)
    for (int step = 0; step < steps; step++)
        xg_full_consume(acc, (unsigned)step % 2, address, shape, first, step + 2 >= steps);
}

/*
 * Multiplies a tile, for xg_full_store(): called by the two consumer warpgroups, threads 128 to
 * 383, with the same arguments, while other threads call xg_full_split_tile(). k is below 2^31 -
 * 128.
 *
 * "shared" is XG_FULL_RANGE_BYTES of shared memory, aligned to 1024, and the factors 256 floats,
 * aligned to 16 bytes. When a thread returns others may still read them.
 */
XG_DEVICE void xg_full_multiply_tile(const xg_tensor_args *p, xg_full_shape shape,
                                     const char *shared, float acc[64])
{
    xg_full_consume_stages(xg_full_k(p, 0), shape, shared, acc, 0);
}

/*
 * The consumers' second pass, after the tile's store: adds the products with Inf and NaN to C.
 * "alone": there was no first pass, as all elements are Inf or NaN.
 */
XG_DEVICE void xg_full_store_classes(const xg_tensor_args *p, const xg_full_target *to,
                                     xg_full_shape shape, int alone, const char *shared)
{
    const int vec4s = shape.columns / 8;
    float acc[64];
    XG_WRITTEN_FIRST xg_full_sums sums;
    xg_full_consume_stages(xg_full_k(p, 1), shape, shared, acc, XG_FULL_RANGE_PRODUCTS - 1);
    xg_full_keep(acc, shape.columns, &sums);
    XG_UNROLL_BY(1)
    for (int n = 0; n < vec4s; n++) {
        const xg_full_place at = xg_full_place_of(n, shape.columns);
        const int columns = xg_full_wanted(p, to, at);
        const float x[4] = {sums.vec4[n].x, sums.vec4[n].y, sums.vec4[n].z, sums.vec4[n].w};
        float *const c = p->c + (to->row + at.row) * p->c_stride_m + to->column + at.column;
        XG_UNROLL
        for (int i = 0; i < 4; i++)
            if (i < columns && !(fabsf(x[i]) < INFINITY))
                c[i] = xg_epilogue(p->alpha, x[i], alone ? p->beta : 1.0f, &c[i]);
    }
}

#endif
