/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An operand of the full-range path (full_range.h): from global memory to registers, and from there
 * as three BF16 terms to shared memory, 64 k at a time.
 *
 * In global memory an operand is K-major or MN-major. In shared memory it is always K-major: for
 * each term its 128 or 64 operand rows by 64 k, as xg_wgmma_descriptor() wants them.
 *
 * A block is what 256 threads load of 64 operand rows, or 128 threads of 32: 4 rows by 4 k each, as
 * four vec4.
 *
 *     K-major    16 threads load 256 bytes of a row, so that a warp's load is of two rows
 *     MN-major   8 threads load 32 rows of a k, 128 bytes, so that a warp's load is of four k
 *
 * Each thread stores 4 k of a row at once, 8 bytes a term. K-major: 16 threads store a whole stored
 * row. MN-major: they have 8 rows and 2 neighbours in k; for their stores to meet 32 banks, rows
 * are permuted within each 32: first 0, 4, 8 ..., then 1, 5, 9 ... Rows and columns of C come in
 * that order, so that a thread has 8 neighbouring columns of C.
 *
 * Where vec4 loads are impossible (unaligned rows, edges, the last k), the same thread loads as
 * many elements by scalars. In K-major its 4 k are then 16 apart, so that neighbouring threads load
 * neighbours ("strided"): the k are permuted, and so they must be in the other operand.
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
    XG_FULL_RANGE_TERMS = 3,
    XG_FULL_RANGE_LOADS = 4,          /* vec4 of a block */
    XG_FULL_RANGE_ROW_STEP = 8 * 128, /* bytes between the stored positions of neighbouring rows */
    XG_FULL_RANGE_EXPONENT = 36,      /* log2 of how much larger elements are than for FP16 terms */
};

/* log2 of the factor of elements whose FP16 terms' products are multiplied by "scale". */
XG_DEVICE int xg_full_exponent(float scale)
{
    return XG_MIN(XG_FULL_RANGE_EXPONENT - xg_scale_exponent(scale), 127);
}

/* A splitting thread's number: in the first and the fourth warpgroup, or in the first one alone. */
XG_DEVICE unsigned xg_full_thread(void)
{
    const unsigned thread = xg_reread_thread();
    return thread < 128 ? thread : thread - 256;
}

typedef struct {
    const float *first; /* row 0, k = 0 */
    int64_t row_stride, k_stride;
    const float *factors; /* of its rows */
    int tile_rows;        /* 128 or 64; and how many are inside the matrix */
    int rows;
    int block_rows; /* of a block: 64 or 32 */
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

/* Bytes of a term of an operand in a stage. */
XG_DEVICE unsigned xg_full_term_bytes(int tile_rows)
{
    return (unsigned)tile_rows * XG_FULL_RANGE_K * 2;
}

/* The operand row that is stored at a position, and the reverse. */
XG_DEVICE unsigned xg_full_row_stored_at(unsigned stored)
{
    return stored / 32 * 32 + stored % 8 * 4 + stored / 8 % 4;
}

XG_DEVICE unsigned xg_full_stored_row(unsigned row)
{
    return row / 32 * 32 + row % 4 * 8 + row / 4 % 8;
}

/* MN-major: the first row of a thread's block, and the number of its 4 k. */
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
 * What a thread loads of a block: element e of load i is at outer index outer + i * load and inner
 * index inner + e * element. Outer is the operand's row where it is K-major, else its k; inner is
 * the other.
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

/* A block of the 64 k from "k" on, of which k_left exist; zeros beyond the matrix. */
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
            x[i] = xg_load_vec4_no_l1(from + i * load);
    } else {
        const int outer_left = (o->k_major ? o->rows : k_left) - (int)first;
        const int inner_left = (o->k_major ? k_left : o->rows) - (int)loads.inner;
        const int element = (int)loads.element;
        XG_UNROLL
        for (int i = 0; i < XG_FULL_RANGE_LOADS; i++) {
            const float *const row = from + i * load;
            const int left = i * (int)loads.load < outer_left ? inner_left : 0;
            x[i].x = xg_load_scalar_no_l1_if(row, 0 < left);
            x[i].y = xg_load_scalar_no_l1_if(row + element, element < left);
            x[i].z = xg_load_scalar_no_l1_if(row + 2 * element, 2 * element < left);
            x[i].w = xg_load_scalar_no_l1_if(row + 3 * element, 3 * element < left);
        }
    }
}

/* The remainder of x after the BF16 in the low or high half of a word. */
XG_DEVICE float xg_full_remainder_low(float x, unsigned both)
{
    return x - xg_float_of(both << 16);
}

XG_DEVICE float xg_full_remainder_high(float x, unsigned both)
{
    return x - xg_float_of(both & 0xffff0000u);
}

/*
 * The class of x as a BF16 in the upper half: 0, 1 or -1 by its sign, or Inf or NaN itself. An
 * element of a product of classes is finite where no Inf or NaN takes part, and else what IEEE
 * arithmetic makes of the finite elements' signs.
 */
XG_DEVICE unsigned xg_full_class(float x)
{
    const unsigned bits = xg_bits_of(x), sign = bits & 0x80000000u, rest = bits & 0x7fffffffu;
    const unsigned class_of_finite = rest ? 0x3f800000u : 0u;
    return sign | (rest > 0x7f800000u ? 0x7fc00000u : rest == 0x7f800000u ? rest : class_of_finite);
}

/* Four neighbours in k, as classes in place of high terms. */
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

/*
 * Four neighbours in k, times their row's factor, as terms. If not "finite", Inf and NaN become 0.
 */
XG_DEVICE void xg_full_split4(char *to, unsigned term_bytes, float4 x, float by, int finite)
{
    float4 y = {x.x * by, x.y * by, x.z * by, x.w * by};
    if (!finite) {
        y.x = xg_full_finite(y.x), y.y = xg_full_finite(y.y);
        y.z = xg_full_finite(y.z), y.w = xg_full_finite(y.w);
    }
    uint2 term = {0, 0};
    XG_UNROLL
    for (int i = 0; i < XG_FULL_RANGE_TERMS; i++) {
        term.x = xg_bf16x2(y.x, y.y);
        term.y = xg_bf16x2(y.z, y.w);
        *(uint2 *)(void *)(to + (unsigned)i * term_bytes) = term;
        y.x = xg_full_remainder_low(y.x, term.x);
        y.y = xg_full_remainder_high(y.y, term.x);
        y.z = xg_full_remainder_low(y.z, term.y);
        y.w = xg_full_remainder_high(y.w, term.y);
    }
}

/*
 * A thread's block: the first of its four rows, and the offset of that row's 4 k. The other rows
 * are XG_FULL_RANGE_ROW_STEP further each.
 */
typedef struct {
    unsigned row, at;
} xg_full_smem_place;

XG_DEVICE xg_full_smem_place xg_full_smem_place_of(const xg_full_operand *o, int k_major,
                                                   unsigned block)
{
    const unsigned thread = xg_full_thread();
    const unsigned row =
        k_major ? thread / 16 * 4 + (unsigned)o->block_rows * block : xg_full_mn_row(o->tile_rows);
    const unsigned quad = k_major ? thread % 16 : xg_full_mn_quad(o, block);
    const unsigned stored = xg_full_stored_row(row), chunk = quad / 2 ^ stored % 8;
    const xg_full_smem_place place = {row, stored * 128 + chunk * 16 + quad % 2 * 8};
    return place;
}

/* Stores a block as terms, high terms at "to" and the others behind them; or as classes. */
XG_DEVICE void xg_full_split_block(const xg_full_operand *o, const float4 *x, unsigned block,
                                   char *to, int finite, int classes)
{
    const unsigned term_bytes = xg_full_term_bytes(o->tile_rows);
    const xg_full_smem_place place = xg_full_smem_place_of(o, o->k_major, block);
    const float4 factors = *(const float4 *)(o->factors + place.row);
    const float factor[4] = {factors.x, factors.y, factors.z, factors.w};
    XG_UNROLL
    for (unsigned i = 0; i < 4; i++) {
        const float4 four = o->k_major ? x[i] : xg_transpose4x4_row(x, (int)i);
        char *const its = to + place.at + i * XG_FULL_RANGE_ROW_STEP;
        if (classes)
            xg_full_classes4(its, four);
        else
            xg_full_split4(its, term_bytes, four, factor[i], finite);
    }
}

#endif
