/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The guard: which elements of C the FP16 terms do not serve, decided after the product.
 *
 * Let a be a row of A and b a column of B, scaled so that their largest magnitudes lie in [2^14,
 * 2^15). An element x is held as high = RN(x) and low = RN(2^11 (x - high)), where RN rounds to the
 * nearest FP16: 11 bits, and multiples of 2^-24 below 2^-14. An element of C is computed as the sum
 * over k of high high' + 2^-11 (high low' + low high').
 *
 *     1. For 2^e <= |x| < 2^(e+1) and e >= -13, high is off by at most 2^(e-11). So |low| <= 2^e
 *        and low is off by at most 2^(e-12), or 2^-25 where it is subnormal: x = high + 2^-11 low
 *        to within 2^-23 |x|.
 *     2. Call x small where 0 < |x| < 2^-13. Then high is off by at most 2^-25, |low| <= 2^-14, and
 *        low is off by at most 2^-25: x = high + 2^-11 low to within 2^-36. Zeros are exact.
 *     3. The product that is left out, 2^-22 low low', is at most 2^-22 |x| |x'| where neither
 *        factor is small, since |low| <= |x|. It is at most 2^-36 |x'| where x is small and x' is
 *        not, and 2^-50 where both are: less than 2^-13 E (below) for all k, as s is at least 2^14
 *        in a row whose scale is not clamped. (Where it is, elements are multiples of 2^-23, and
 *        low is 0.)
 *
 * So the products of a and b are off by at most 2^-21 |a| |b| where no element is small, and small
 * elements add at most E = 2^-35 (f_a s_b + f_b s_a), where f is 1 for a row that has small
 * elements and else 0, and s is the sum of a row's magnitudes. |C| <= |A||B|, and the computed
 * value is within a relative 2^-20 of that. Hence where |C| >= 2^22 E in scaled units, that is
 *
 *     |C| >= 2^-13 (f_a s_b + f_b s_a),
 *
 * small elements cost at most 2^-22 |A||B|, a quarter of what XGEMM_MATH_DEFAULT allows. All other
 * elements of C are suspect and are recomputed: few suspects of a warp one by one
 * (recompute_elements.inc), and where there are many, all of the warp's elements (full_range.h).
 * With stream-K, partial sums are reduced before the check.
 *
 * What accumulation adds: a tensor core truncates each product toward zero at 2^-25 of the largest
 * of 16 products and the accumulator, and then each step's sum. With p steps of 16 k between
 * promotions that is at most (20 p - 1) 2^-25 |A||B|: 0.6, 1.2 and 2.5 times 2^-20 for p of 1, 2
 * and 4. Cross products are at most 2^-10 of |A||B|, and are promoted every 1024 steps or more
 * often: at most 1024 * 20 * 2^-25 * 2^-10, 0.62 times 2^-20. Data must be built for it, all
 * truncations at their largest and of one sign (tests/sim/guard_sums.c): such an error exceeds
 * 2^-20, up to 2^-21 + 2^-22 + (20 p - 1) 2^-25 + 0.62 * 2^-20. Promotions round as FP32 does,
 * 2^-24 of the sum each, of which k / 16 p of high products and as many of cross products may have
 * one sign: 14 times 2^-20 at k = 8192. Random truncations and roundings stay far below.
 *
 * With high terms alone (XGEMM_MATH_TF32) x is small below 2^-14 and off by at most 2^-25, so that
 * E = 2^-25 (f_a s_b + f_b s_a): |C| >= 2^-12 (...) limits that to 2^-13 |A||B|, an eighth of what
 * rounding the operands to TF32 may cost.
 *
 * An operand row with Inf or NaN makes all of its elements of C Inf or NaN. Its terms are zeros,
 * none of its elements is suspect, and the products with Inf and NaN are added after the tile's
 * store (epilogue_not_finite.inc; where a tile has many such rows, full_range.h).
 *
 * "Row" stands for operand row: what holds for a row of A holds for a column of B.
 */
#ifndef XGEMM_KERNELS_GUARD_H
#define XGEMM_KERNELS_GUARD_H

#include "families/common/dialect.h"
#include "fp16_layout.h"
#include "families/common/ptx_sm90.h"

/*
 * The exponent below which an element is small; and the factor of the sums in the threshold. Tests
 * compile them wrong and must see the errors (tests/sim/guard_wrong_factor.c and others).
 */
#ifndef XG_SMALL_EXPONENT
#define XG_SMALL_EXPONENT(terms) ((terms) == 2 ? -13 : -14)
#endif
#ifndef XG_GUARD_FACTOR
#define XG_GUARD_FACTOR(terms) ((terms) == 2 ? 0x1p-13f : 0x1p-12f)
#endif
/*
 * The least exponent of a scaled element for which the full-range path needs no check. There
 * elements are 2^36 times as large (full_range.h), so that the product of two such is at least
 * 2^-102, and all of its 24 bits are above FP32's least normal number. Three BF16 terms would hold
 * elements down to 2^-146, but FP32 accumulators not the products of two.
 */
#define XG_LEAST_EXPONENT (-87)

typedef enum {
    XG_ROW_FINITE,
    XG_ROW_NOT_FINITE, /* it has Inf or NaN */
    XG_ROW_WIDE,       /* it has elements below XG_LEAST_EXPONENT; it may be far, too */
    XG_ROW_FAR         /* its largest magnitude is outside 2^-60 to 2^90 */
} xg_row_kind;

/*
 * Statistics of an operand row. "bound" is s times XG_GUARD_FACTOR, negative if f is 1: the
 * epilogue needs no more, and reads it from an array of its own. Where a row is not finite, all but
 * the kind is 0.
 */
typedef struct __attribute__((aligned(16))) {
    float bound;
    float log2; /* mean log2 of nonzero elements, relative to the largest */
    unsigned kind, unused;
} xg_row_stats;

XG_DEVICE int xg_has_small(float bound)
{
    return bound < 0.0f;
}

XG_DEVICE float xg_bound_magnitude(float bound)
{
    return bound < 0.0f ? -bound : bound;
}

/* The least magnitude of an element of C that is not suspect, by its row and its column. */
XG_DEVICE float xg_guard_threshold(float row_bound, float column_bound)
{
    return (xg_has_small(row_bound) ? xg_bound_magnitude(column_bound) : 0.0f) +
           (xg_has_small(column_bound) ? xg_bound_magnitude(row_bound) : 0.0f);
}

/*
 * The disposition of a tile of C: one of the first three values, which XG_TILE_PATH masks, and
 * flags: its operands have rows with Inf or NaN; its rows of A have scales that may overflow or
 * underflow before the column's scale is applied (xg_scale_exp2()); it has wide rows; all its rows
 * of A, or all its columns of B, have Inf or NaN.
 */
typedef enum {
    XG_TILE_UNCHECKED,  /* stored as it is */
    XG_TILE_CHECKED,    /* checked for suspects, then stored */
    XG_TILE_RECOMPUTED, /* not stored, but listed to be recomputed */
    XG_TILE_PATH = 3,
    XG_TILE_NOT_FINITE = 4,
    XG_TILE_FAR_SCALES = 8,
    XG_TILE_WIDE = 16,
    XG_TILE_ALL_NOT_FINITE = 32
} xg_disposition;

XG_DEVICE int xg_is_recomputed(unsigned disposition)
{
    return (disposition & XG_TILE_PATH) == XG_TILE_RECOMPUTED;
}

/* The statistics of a tile's rows of A and columns of B. */
typedef struct {
    const xg_row_stats *a, *b;
    int a_rows, b_rows;
} xg_tile_stats;

/* A warp's summary of a tile's rows of one operand. */
typedef struct {
    int small, not_finite; /* numbers of rows */
    int wide, far;         /* whether there are any */
    float log2;            /* mean of the rows with small elements; 0: there are none */
} xg_rows_summary;

/* "loads": how many rows a lane loads at once, at most 4. */
XG_DEVICE xg_rows_summary xg_summarize_rows(const xg_row_stats *rows, int count, int loads)
{
    unsigned small = 0, kinds = 0, not_finite = 0, log2 = 0;
    XG_UNROLL_BY(1)
    for (int first = 0; first < count; first += 32 * loads) {
        float4 row[4];
        XG_UNROLL
        for (int i = 0; i < loads; i++)
            if (first + 32 * i < count)
                row[i] = *(const float4 *)(const void *)(rows + first + 32 * i + xg_lane());
        XG_UNROLL
        for (int i = 0; i < loads; i++) {
            if (first + 32 * i >= count)
                continue;
            const int has_small = xg_has_small(row[i].x);
            const unsigned kind = xg_bits_of(row[i].z);
            small += (unsigned)has_small;
            kinds |= 1u << kind;
            not_finite += kind == XG_ROW_NOT_FINITE;
            log2 += has_small ? (unsigned)-row[i].y : 0;
        }
    }
    const unsigned counts = __reduce_add_sync(0xffffffffu, small | not_finite << 16);
    xg_rows_summary found;
    found.small = (int)(counts & 0xffff);
    found.not_finite = (int)(counts >> 16);
    found.wide = __any_sync(0xffffffffu, kinds >> XG_ROW_WIDE & 1);
    found.far = __any_sync(0xffffffffu, kinds >> XG_ROW_FAR & 1);
    log2 = __reduce_add_sync(0xffffffffu, log2);
    found.log2 = found.small ? -(float)log2 / (float)found.small : 0.0f;
    return found;
}

/*
 * Whether most elements of a tile would be suspect, so that it is recomputed without being
 * multiplied first. An estimate, which costs only time where it is wrong: half of the rows of
 * either operand have small elements, and a typical |C| is too small beside the largest possible
 * one. Its log2 is at least that of a typical element of either row, or of the best of k pairs of
 * log-normal elements (0.3 of both).
 */
XG_DEVICE int xg_mostly_suspect(xg_rows_summary a, xg_rows_summary b, int a_rows, int b_rows)
{
    const float pairs = 0.3f * (a.log2 + b.log2);
    return 2 * a.small >= a_rows && 2 * b.small >= b_rows &&
           fmaxf(fmaxf(a.log2, b.log2), pairs) < -26.0f;
}

/* Whole warps: the disposition of a tile, before its product; "loads": see above. */
XG_DEVICE unsigned xg_disposition_of(const xg_tile_stats *rows, int loads)
{
    enum { REPAIRS_MOST = 8 }; /* with more, recomputing the tile is as fast */
    const xg_rows_summary a = xg_summarize_rows(rows->a, rows->a_rows, loads);
    const xg_rows_summary b = xg_summarize_rows(rows->b, rows->b_rows, loads);
    const int repairs = a.not_finite + b.not_finite;
    const int listed =
        repairs > REPAIRS_MOST || xg_mostly_suspect(a, b, rows->a_rows, rows->b_rows);
    return (listed                  ? XG_TILE_RECOMPUTED
            : a.small + b.small > 0 ? XG_TILE_CHECKED
                                    : XG_TILE_UNCHECKED) |
           (repairs > 0 ? XG_TILE_NOT_FINITE : 0u) | (a.far || a.wide ? XG_TILE_FAR_SCALES : 0u) |
           (a.wide || b.wide ? XG_TILE_WIDE : 0u) |
           (a.not_finite == rows->a_rows || b.not_finite == rows->b_rows ? XG_TILE_ALL_NOT_FINITE
                                                                         : 0u);
}

/* Recomputing elements one by one (recompute_elements.inc). */
enum {
    XG_ELEMENT_LOADS = 8, /* vec4 of either operand that a lane has in flight */
    XG_WIDE_ELEMENTS_BYTES = XG_ROW_BLOCK * XG_ROW_BLOCK * 8 /* of a tile; their count follows */
};

/*
 * Most suspects of a warp's 16 x 128 elements that are recomputed one by one. An element takes a
 * warp some microseconds, a full-range tile 200. An element takes ten times as long where an
 * operand is not K-major and, with one term, the workspace has no room for a K-major copy
 * (k_major_copies.inc). 0: C is too large for element indices of 32 bits.
 */
XG_DEVICE unsigned xg_most_suspects(int a_blocks, int b_blocks, int strided)
{
    const int64_t elements = (int64_t)a_blocks * b_blocks * XG_ROW_BLOCK * XG_ROW_BLOCK;
    return elements > XG_LISTED_ELEMENTS_MOST ? 0
           : strided                          ? XG_SUSPECTS_PER_WARP_STRIDED
                                              : XG_SUSPECTS_PER_WARP;
}

enum { XG_ALL_ROWS = 0xff };

/* The flags are the disposition's. */
XG_DEVICE xg_listed_tile xg_make_listed_tile(int row, int column, unsigned rows,
                                             unsigned disposition)
{
    const int flags = (disposition & XG_TILE_NOT_FINITE ? XG_LISTED_NOT_FINITE : 0) +
                      (disposition & XG_TILE_WIDE ? XG_LISTED_WIDE : 0) +
                      (disposition & XG_TILE_ALL_NOT_FINITE ? XG_LISTED_ALL_NOT_FINITE : 0);
    return (xg_listed_tile)((unsigned)row / XG_ROW_BLOCK | rows << 24) |
           (xg_listed_tile)(unsigned)(column + flags) << 32;
}

#endif
