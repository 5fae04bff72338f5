/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An operand of full_range.h: from global memory to registers, and from there as three BF16 parts
 * to shared memory, 64 k at a time.
 *
 * An operand is a matrix of rows along k: A itself, or B transposed. In global memory it is K-major
 * (a row's elements are neighbours) or MN-major (those of a k are). In shared memory it is K-major
 * always: a unit of its 128 or 64 rows by 64 k for each part, as xg_wgmma_operand() wants it.
 *
 * 256 threads load a block for each 64 rows (128 threads for each 32), of 16 elements each, 4 rows
 * by 4 k, as 4 times 16 bytes:
 *
 *     K-major    16 threads load 256 bytes of a row, so that a warp's load is two rows'
 *     MN-major   8 threads load 32 rows of a k, 128 bytes, so that a warp's load is four k's
 *
 * and store each row's 4 k at once, 8 bytes a part. In K-major 16 threads store all of a unit row.
 * In MN-major they are 8 rows' threads and 2 neighbours in k; that their stores meet 32 banks, rows
 * stand in an order of their own in the unit: of each 32 first 0, 4, 8 ..., then 1, 5, 9 ... C's
 * rows and columns come in that order, and so a thread has 8 neighbouring columns of C.
 *
 * Where 16-byte loads cannot be (unaligned rows, the tile's edges, the last k), the same thread
 * loads the same number of elements by 4 bytes. In K-major its four k are then 16 apart, for
 * neighbours to load neighbours ("strided"): the unit's k have another order, and the other operand
 * must have the same.
 */
#ifndef XGEMM_KERNELS_FULL_RANGE_SPLIT_H
#define XGEMM_KERNELS_FULL_RANGE_SPLIT_H

#include "families/common/dialect.h"
#include "families/common/ptx.h"
#include "families/common/scale.h"
#include "families/common/transpose.h"

enum {
    XG_FULL_RANGE_ROWS = 128, /* of a tile */
    XG_FULL_RANGE_K = 64,
    XG_FULL_RANGE_PARTS = 3,
    XG_FULL_RANGE_LOADS = 4,          /* of 16 bytes, of a block */
    XG_FULL_RANGE_ROW_STEP = 8 * 128, /* bytes between the unit rows of neighbouring rows */
    XG_FULL_RANGE_EXPONENT = 36,      /* by which elements are larger than FP16 parts are made of */
};

/* By which power of two elements are multiplied whose FP16 parts are to be multiplied by "scale".
 */
XG_DEVICE int xg_full_exponent(float scale)
{
    return XG_MIN(XG_FULL_RANGE_EXPONENT - xg_scale_exponent(scale), 127);
}

/* A thread's number of those that split: the first and the fourth warpgroup, or the first one
 * alone. */
XG_DEVICE unsigned xg_full_thread(void)
{
    const unsigned thread = xg_thread_again();
    return thread < 128 ? thread : thread - 256;
}

typedef struct {
    const float *first; /* the tile's first row, k = 0 */
    int64_t row_stride, k_stride;
    const float *factors; /* of its rows */
    int tile_rows;        /* 128 or 64; and of these inside the matrix: */
    int rows;
    int block_rows; /* of a block by all threads that split: 64 or 32 */
    int k_major, vec4;
} xg_full_operand;

XG_DEVICE xg_full_operand xg_full_operand_of(const float *first, int64_t row_stride,
                                             int64_t k_stride, int tile_rows, int64_t rows,
                                             int splitters, const float *factors)
{
    const int64_t stride = k_stride == 1 ? row_stride : k_stride;
    const int aligned = ((uintptr_t)first | (uintptr_t)(stride * 4)) % 16 == 0;
    const xg_full_operand operand = {first,         row_stride,    k_stride,
                                     factors,       tile_rows,     (int)XG_MIN(rows, tile_rows),
                                     splitters / 4, k_stride == 1, aligned && rows >= tile_rows};
    return operand;
}

/* Bytes of a part of an operand in a stage. */
XG_DEVICE unsigned xg_full_unit(int tile_rows)
{
    return (unsigned)tile_rows * XG_FULL_RANGE_K * 2;
}

/* The row of the operand at a row of the unit; and where a row stands. */
XG_DEVICE unsigned xg_full_row_of(unsigned unit_row)
{
    return unit_row / 32 * 32 + unit_row % 8 * 4 + unit_row / 8 % 4;
}

XG_DEVICE unsigned xg_full_unit_row(unsigned row)
{
    return row / 32 * 32 + row % 4 * 8 + row / 4 % 8;
}

/* Where a block of a thread is in MN-major: its first row, and the number of its group of 4 k. */
XG_DEVICE unsigned xg_full_mn_row(int tile_rows)
{
    const unsigned thread = xg_full_thread();
    return thread / 32 % ((unsigned)tile_rows / 32) * 32 + thread % 8 * 4;
}

XG_DEVICE unsigned xg_full_mn_quad(const xg_full_operand *o, unsigned block)
{
    const unsigned thread = xg_full_thread(), blocks = (unsigned)(o->tile_rows / o->block_rows);
    return thread / (unsigned)o->tile_rows * 4 * blocks + 4 * block + thread / 8 % 4;
}

/*
 * What a thread loads of a block: element e of load i is in row outer + i * load of the operand in
 * global memory, at inner + e * element there. A row of that is one of the operand's in K-major, a
 * k in MN-major.
 */
typedef struct {
    unsigned outer, load;
    unsigned inner, element;
} xg_full_loads;

XG_DEVICE xg_full_loads xg_full_loads_of(const xg_full_operand *o, unsigned block, int strided)
{
    const unsigned thread = xg_full_thread(), quad = strided ? 1 : 4;
    if (o->k_major)
        return (xg_full_loads){thread / 16 * 4 + block * (unsigned)o->block_rows, 1,
                               thread % 16 * quad, strided ? 16u : 1u};
    return (xg_full_loads){xg_full_mn_quad(o, block) * quad, strided ? 16u : 1u,
                           xg_full_mn_row(o->tile_rows), 1};
}

/*
 * A block of the 64 k from "k" on, of which k_left are inside the matrix; past its edges are zeros.
 */
XG_DEVICE void xg_full_load_block(const xg_full_operand *o, int64_t k, int k_left, unsigned block,
                                  int vec4, int strided, float4 x[XG_FULL_RANGE_LOADS])
{
    const xg_full_loads loads = xg_full_loads_of(o, block, strided);
    const int64_t outer_stride = o->k_major ? o->row_stride : o->k_stride;
    const unsigned first = loads.outer;
    const float *const from = o->first + k * o->k_stride + first * outer_stride + loads.inner;
    const int64_t load = loads.load * outer_stride;
    if (vec4 && !(o->k_major && strided)) {
        XG_UNROLL
        for (int i = 0; i < XG_FULL_RANGE_LOADS; i++)
            x[i] = xg_load_once(from + i * load);
    } else {
        const int outer_left = (o->k_major ? o->rows : k_left) - (int)first;
        const int inner_left = (o->k_major ? k_left : o->rows) - (int)loads.inner;
        const int element = (int)loads.element;
        XG_UNROLL
        for (int i = 0; i < XG_FULL_RANGE_LOADS; i++) {
            const float *const row = from + i * load;
            const int left = i * (int)loads.load < outer_left ? inner_left : 0;
            x[i].x = xg_load_word_if(row, 0 < left);
            x[i].y = xg_load_word_if(row + element, element < left);
            x[i].z = xg_load_word_if(row + 2 * element, 2 * element < left);
            x[i].w = xg_load_word_if(row + 3 * element, 3 * element < left);
        }
    }
}

/* What is left of x after the BF16 in a word's low or high half. */
XG_DEVICE float xg_full_rest_low(float x, unsigned both)
{
    return x - xg_float_of(both << 16);
}

XG_DEVICE float xg_full_rest_high(float x, unsigned both)
{
    return x - xg_float_of(both & 0xffff0000u);
}

/*
 * The class of x as a BF16 in the upper half: 0, 1 or -1 by its sign, or Inf or NaN as it is. An
 * element of a product of classes is finite where no Inf or NaN takes part in it, and else it is
 * what IEEE arithmetic makes of the finite elements' signs.
 */
XG_DEVICE unsigned xg_full_class(float x)
{
    const unsigned bits = xg_bits_of(x), sign = bits & 0x80000000u, rest = bits & 0x7fffffffu;
    const unsigned class_of_finite = rest ? 0x3f800000u : 0u;
    return sign | (rest > 0x7f800000u ? 0x7fc00000u : rest == 0x7f800000u ? rest : class_of_finite);
}

/* Four neighbours in k of a row, as classes in place of high parts. */
XG_DEVICE void xg_full_classes4(char *to, float4 x)
{
    const uint2 classes = {xg_full_class(x.x) >> 16 | xg_full_class(x.y),
                           xg_full_class(x.z) >> 16 | xg_full_class(x.w)};
    *(uint2 *)(void *)to = classes;
}

XG_DEVICE float xg_full_finite(float x)
{
    return fabsf(x) < INFINITY ? x : 0.0f;
}

/* Four neighbours in k of a row, times its factor, as parts; if not "finite", Inf and NaN are 0. */
XG_DEVICE void xg_full_split4(char *to, unsigned unit, float4 x, float by, int finite)
{
    float4 y = {x.x * by, x.y * by, x.z * by, x.w * by};
    if (!finite) {
        y.x = xg_full_finite(y.x), y.y = xg_full_finite(y.y);
        y.z = xg_full_finite(y.z), y.w = xg_full_finite(y.w);
    }
    uint2 part = {0, 0};
    XG_UNROLL
    for (int i = 0; i < XG_FULL_RANGE_PARTS; i++) {
        part.x = xg_bf16x2(y.x, y.y);
        part.y = xg_bf16x2(y.z, y.w);
        *(uint2 *)(void *)(to + (unsigned)i * unit) = part;
        y.x = xg_full_rest_low(y.x, part.x);
        y.y = xg_full_rest_high(y.y, part.x);
        y.z = xg_full_rest_low(y.z, part.y);
        y.w = xg_full_rest_high(y.w, part.y);
    }
}

/*
 * Of a block of a thread: the first of its four rows, and where that one's k are in the unit. The
 * other three are in the same place of unit rows 8, 16 and 24 further.
 */
typedef struct {
    unsigned row, at;
} xg_full_place;

XG_DEVICE xg_full_place xg_full_place_of(const xg_full_operand *o, int k_major, unsigned block)
{
    const unsigned thread = xg_full_thread();
    const unsigned row =
        k_major ? thread / 16 * 4 + (unsigned)o->block_rows * block : xg_full_mn_row(o->tile_rows);
    const unsigned quad = k_major ? thread % 16 : xg_full_mn_quad(o, block);
    const unsigned unit_row = xg_full_unit_row(row), chunk = quad / 2 ^ unit_row % 8;
    const xg_full_place place = {row, unit_row * 128 + chunk * 16 + quad % 2 * 8};
    return place;
}

/* A block, to the unit of high parts at "to", behind which the others are; or as classes. */
XG_DEVICE void xg_full_split_block(const xg_full_operand *o, const float4 *x, unsigned block,
                                   char *to, int finite, int classes)
{
    const unsigned unit = xg_full_unit(o->tile_rows);
    const xg_full_place place = xg_full_place_of(o, o->k_major, block);
    const float4 factors = *(const float4 *)(o->factors + place.row);
    const float factor[4] = {factors.x, factors.y, factors.z, factors.w};
    XG_UNROLL
    for (unsigned i = 0; i < 4; i++) {
        const float4 four = o->k_major ? x[i] : xg_transposed(x, (int)i);
        char *const its = to + place.at + i * XG_FULL_RANGE_ROW_STEP;
        if (classes)
            xg_full_classes4(its, four);
        else
            xg_full_split4(its, unit, four, factor[i], finite);
    }
}

#endif
