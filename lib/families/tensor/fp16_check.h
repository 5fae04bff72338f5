/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which elements of C the FP16 parts do not serve, decided after the product.
 *
 * Let a be a row of A and b a column of B, scaled so that their largest magnitudes lie in
 * [2^14, 2^15). An element x is held as high = RN(x) and low = RN(2^11 (x - high)), RN being
 * rounding to the nearest FP16: 11 bits, and multiples of 2^-24 below 2^-14. C's element is
 * computed as the sum over k of high high' + 2^-11 (high low' + low high').
 *
 *  1. For 2^e <= |x| < 2^(e+1) and e >= -13 high is off by at most 2^(e-11), so |low| <= 2^e,
 *     and low by at most 2^(e-12), or 2^-25 where it is subnormal: x = high + 2^-11 low to within
 *     2^-23 |x|.
 *  2. Call x small where 0 < |x| < 2^-13. Then high is off by at most 2^-25, |low| <= 2^-14, and
 *     low is off by at most 2^-25: x = high + 2^-11 low to within 2^-36. Zeros are exact.
 *  3. The product that is left out, 2^-22 low low', is at most 2^-22 |x| |x'| where neither is
 *     small, since |low| <= |x|; and where x is small at most 2^-36 |x'|.
 *
 *  4. Where both are small |low'| <= |x'| may not hold, but the product left out is at most 2^-50
 *     then, which adds at most 2^-14 of E below for a k up to 49152.
 *
 * So the products of a and b are off by at most 2^-21 |a| |b| where nothing is small, and small
 * elements add at most E = 2^-35 (f_a s_b + f_b s_a), where f is 1 if a row has small elements and
 * else 0, and s is the sum of a row's magnitudes. |C| <= |A||B|, by the computed value up to a
 * relative 2^-20. Hence where |C| >= 2^22 E in scaled units, that is
 *
 *     |C| >= 2^-13 (f_a s_b + f_b s_a),
 *
 * small elements cost at most 2^-22 |A||B|, a quarter of what XGEMM_MATH_DEFAULT allows. All other
 * elements of C are suspects and are recomputed: a few of a warp one by one (fp16_elements.inc),
 * and where there are many, all of the warp's (full_range.h). Where k is in parts, their sums are
 * added first.
 *
 * What the sums add: a tensor core cuts each product toward zero at 2^-25 of the largest of 16 and
 * the accumulator, and each step's sum. With p steps of 16 k between promotions that is at most
 * (20 p - 1) 2^-25 |A||B|, 0.6, 1.2 and 2.5 times 2^-20 for p of 1, 2 and 4. It takes data built
 * for it, all cuts at their largest and of one sign (tests/sim/guard_sums.c): there an error is above
 * 2^-20, up to 2^-21 + 2^-22 + (20 p - 1) 2^-25 and what rounds FP32 sums. Random cuts stay far
 * below.
 *
 * With high parts alone (XGEMM_MATH_TF32) x is small below 2^-14 and off by at most 2^-25, so that
 * E = 2^-25 (f_a s_b + f_b s_a): |C| >= 2^-12 (...) makes that 2^-13 |A||B|, an eighth of what
 * rounding the operands to TF32 may cost.
 *
 * A row with Inf or NaN makes all of its elements of C Inf or NaN. Its parts are zeros, it is no
 * suspect, and what Inf and NaN give is added after the tile has been stored (fp16_epilogue.inc;
 * where there are many such rows, full_range.h).
 *
 * What is said here of a row of A holds for a column of B: both are rows of an operand.
 */
#ifndef XGEMM_KERNELS_FP16_CHECK_H
#define XGEMM_KERNELS_FP16_CHECK_H

#include "families/common/dialect.h"
#include "fp16_layout.h"
#include "families/common/ptx_sm90.h"

/*
 * The exponent below which an element is small, and by how much its row's sum is multiplied. The
 * tests compile them wrong, to see that this is found (tests/sim/guard_wrong_factor.c and others).
 */
#ifndef XG_SMALL_EXPONENT
#define XG_SMALL_EXPONENT(parts) ((parts) == 2 ? -13 : -14)
#endif
#ifndef XG_CHECK_FACTOR
#define XG_CHECK_FACTOR(parts) ((parts) == 2 ? 0x1p-13f : 0x1p-12f)
#endif
/* BF16 in three parts holds a scaled element in full down to that exponent (full_range.h). Only a
 * row whose largest magnitude is above 2^16 can have smaller ones. */
#define XG_LEAST_EXPONENT (-146)

typedef enum {
    XG_ROW_FINITE,
    XG_ROW_NOT_FINITE, /* it has Inf or NaN */
    XG_ROW_WIDE, /* its range is larger than BF16 in three parts can hold; it may be far, too */
    XG_ROW_FAR   /* its largest magnitude is outside 2^-60 to 2^90 */
} xg_row_kind;

/* Of a row of an operand; all 0 but the kind where it is not finite. */
typedef struct __attribute__((aligned(16))) {
    float sum;   /* s times XG_CHECK_FACTOR */
    float small; /* f */
    float log2;  /* the mean of log2 of elements that are not 0, beside the largest one's */
    unsigned kind;
} xg_row_stats;

XG_DEVICE float xg_magnitude_of(float bound)
{
    return bound < 0.0f ? -bound : bound;
}

/* What the check of a tile's sums needs of a row: s times XG_CHECK_FACTOR, negative if f is 1. */
XG_DEVICE float xg_row_bound(xg_row_stats stats)
{
    return stats.small > 0.0f ? -stats.sum : stats.sum;
}

/* Of a row and a column: the least magnitude of an element of C that is no suspect. */
XG_DEVICE float xg_least_of(float row_bound, float column_bound)
{
    return (row_bound < 0.0f ? xg_magnitude_of(column_bound) : 0.0f) +
           (column_bound < 0.0f ? xg_magnitude_of(row_bound) : 0.0f);
}

/*
 * What becomes of a tile of C. Besides, as bits: it has rows with Inf or NaN; it has rows of A
 * whose scale may overflow or underflow before the column's is applied (xg_scale_by); it has rows
 * of XG_ROW_WIDE.
 */
typedef enum {
    XG_TILE_PLAIN,   /* its sums are stored as they are, */
    XG_TILE_CHECKED, /* after a check, */
    XG_TILE_LISTED,  /* not at all: it is on the list of tiles */
    XG_TILE_REPAIR = 4,
    XG_TILE_FAR = 8,
    XG_TILE_WIDE = 16,
    XG_TILE_BROKEN = 32
} xg_tile_fate;

/* Which rows a thread of a warp looks at: so many of A from the first on, then of B. */
typedef struct {
    const xg_row_stats *a, *b;
    int a_rows, b_rows;
} xg_tile_rows;

/* What a warp finds in the rows of one operand. */
typedef struct {
    int small, not_finite; /* how many rows */
    int wide, far;         /* whether there are any */
    float log2;            /* the mean of those with small elements; 0: there are none */
} xg_rows_found;

XG_DEVICE xg_rows_found xg_look_at_rows(const xg_row_stats *rows, int count)
{
    unsigned small = 0, kinds = 0, not_finite = 0, log2 = 0;
    XG_UNROLL_BY(1)
    for (int i = (int)xg_lane(); i < count; i += 32) {
        const float4 row = *(const float4 *)(const void *)(rows + i);
        const unsigned kind = xg_bits_of(row.w);
        small += row.y > 0.0f;
        kinds |= 1u << kind;
        not_finite += kind == XG_ROW_NOT_FINITE;
        log2 += row.y > 0.0f ? (unsigned)-row.z : 0;
    }
    const unsigned counts = __reduce_add_sync(0xffffffffu, small | not_finite << 16);
    xg_rows_found found;
    found.small = (int)(counts & 0xffff);
    found.not_finite = (int)(counts >> 16);
    found.wide = __any_sync(0xffffffffu, kinds >> XG_ROW_WIDE & 1);
    found.far = __any_sync(0xffffffffu, kinds >> XG_ROW_FAR & 1);
    log2 = __reduce_add_sync(0xffffffffu, log2);
    found.log2 = found.small ? -(float)log2 / (float)found.small : 0.0f;
    return found;
}

/*
 * Whether most elements of a tile would be suspects, so that it is better computed otherwise at
 * once. A guess, which costs time where it is wrong: half of the rows of either operand have small
 * elements, and log2 of a typical |C| beside the largest that could be, which is at least that of a
 * typical element of either row, or of the best of k pairs of log-normal ones (0.3 of both), is
 * below what suspects have.
 */
XG_DEVICE int xg_check_is_hopeless(xg_rows_found a, xg_rows_found b, int a_rows, int b_rows)
{
    const float pairs = 0.3f * (a.log2 + b.log2);
    return 2 * a.small >= a_rows && 2 * b.small >= b_rows &&
           fmaxf(fmaxf(a.log2, b.log2), pairs) < -26.0f;
}

/* Called by whole warps: what is known of a tile before its product. */
XG_DEVICE unsigned xg_tile_fate_of(const xg_tile_rows *rows)
{
    enum { REPAIRS_MOST = 8 }; /* rows; with more it is as fast to compute the tile otherwise */
    const xg_rows_found a = xg_look_at_rows(rows->a, rows->a_rows);
    const xg_rows_found b = xg_look_at_rows(rows->b, rows->b_rows);
    const int repairs = a.not_finite + b.not_finite;
    const int listed =
        repairs > REPAIRS_MOST || xg_check_is_hopeless(a, b, rows->a_rows, rows->b_rows);
    return (listed                  ? XG_TILE_LISTED
            : a.small + b.small > 0 ? XG_TILE_CHECKED
                                    : XG_TILE_PLAIN) |
           (repairs > 0 ? XG_TILE_REPAIR : 0u) | (a.far || a.wide ? XG_TILE_FAR : 0u) |
           (a.wide || b.wide ? XG_TILE_WIDE : 0u) |
           (a.not_finite == rows->a_rows || b.not_finite == rows->b_rows ? XG_TILE_BROKEN : 0u);
}

/* Of elements that are recomputed one by one (fp16_elements.inc). */
#define XG_ELEMENTS_MOST 0xfffffff0u /* whose numbers fit a word of the list */
enum {
    XG_ELEMENT_LOADS = 8, /* of 16 bytes, of a lane from either operand at once */
    XG_WIDE_ELEMENTS_BYTES = XG_UNIT_LINES * XG_UNIT_LINES * 8 /* a tile's; their count follows */
};

/*
 * The most suspects of a warp's sums that are recomputed one by one. A warp takes some microseconds
 * for one, a full-range tile 200; ten times as long where an operand is not K-major and one part
 * leaves no room for a copy (fp16_copies.inc). None if C is too large for their numbers.
 */
XG_DEVICE unsigned xg_suspects_most(int a_blocks, int b_blocks, int strided)
{
    const int64_t elements = (int64_t)a_blocks * b_blocks * XG_UNIT_LINES * XG_UNIT_LINES;
    return elements > XG_ELEMENTS_MOST ? 0 : strided ? XG_SUSPECTS_STRIDED : XG_SUSPECTS_A_WARP;
}

enum { XG_ALL_ROWS = 0xff };

/* "fate" says whether the tile's operands have Inf or NaN, and wide rows. */
XG_DEVICE xg_place xg_tile_place(int row, int column, unsigned rows, unsigned fate)
{
    const int flags = (fate & XG_TILE_REPAIR ? XG_PLACE_NOT_FINITE : 0) +
                      (fate & XG_TILE_WIDE ? XG_PLACE_WIDE : 0) +
                      (fate & XG_TILE_BROKEN ? XG_PLACE_BROKEN : 0);
    return (xg_place)((unsigned)row / XG_UNIT_LINES | rows << 24) |
           (xg_place)(unsigned)(column + flags) << 32;
}

#endif
