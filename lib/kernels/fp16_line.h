/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A line of A or B (fp16_layout.h) as FP16 parts: its scale, its entries, and what the guard is to
 * know of it. For the split (fp16_split.h) and what is split later (fp16_late.inc).
 */
#ifndef XGEMM_KERNELS_FP16_LINE_H
#define XGEMM_KERNELS_FP16_LINE_H

#include "fp16_guard.h"
#include "fp16_layout.h"
#include "ptx_sm90.h"

/* The sum over the lanes whose numbers differ in bits from "bits" down to "last". */
XG_DEVICE float xg_over_lanes(float sum, int bits, int last)
{
    XG_UNROLL
    for (; bits >= last; bits /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, bits);
    return sum;
}

XG_DEVICE float xg_largest_of(float4 x, float most)
{
    most = fmaxf(fmaxf(most, fabsf(x.x)), fabsf(x.y));
    return fmaxf(fmaxf(most, fabsf(x.z)), fabsf(x.w));
}

/* 2^(14 - exponent of the largest), or what is nearest to it that is normal. */
XG_DEVICE unsigned xg_exponent_of(float largest)
{
    return XG_MIN(XG_MAX(xg_bits_of(largest) >> 23, XG_SCALED_EXPONENT + 1u), 253u);
}

XG_DEVICE float xg_scale_to_parts(float largest)
{
    const unsigned exponent = xg_exponent_of(largest);
    return xg_float_of((254u + XG_SCALED_EXPONENT - exponent) << 23);
}

XG_DEVICE float xg_scale_from_parts(float largest)
{
    return xg_float_of((xg_exponent_of(largest) - XG_SCALED_EXPONENT) << 23);
}

/* Of four k of four lines, those of one. */
XG_DEVICE float4 xg_turned(const float4 *x, int line)
{
    const float4 lines[4] = {{x[0].x, x[1].x, x[2].x, x[3].x},
                             {x[0].y, x[1].y, x[2].y, x[3].y},
                             {x[0].z, x[1].z, x[2].z, x[3].z},
                             {x[0].w, x[1].w, x[2].w, x[3].w}};
    return lines[line];
}

/*
 * Pairs of large entries are counted as two FP16, from 1024 on: from there on its bits count, too.
 */
enum { PAIRS_NONE = 0x64006400 };

/* What the threads tell one another that split lines late (fp16_late.inc): of each line. */
typedef struct {
    unsigned most[XG_SPLIT_LINES], sum[XG_SPLIT_LINES];
    unsigned pairs[XG_SPLIT_LINES]; /* and above them the number of NaN */
    unsigned small[XG_SPLIT_LINES]; /* small ones in the high half, with zeros in the low one */
} xg_late_notes;

/* Of four entries: the sum, and the least high parts of the first or third, second or fourth. */
typedef struct {
    float sum;
    unsigned least;
} xg_counts;

/*
 * Four entries along k, scaled, as parts; the low ones, if any, lie where the high ones end. Large
 * entries are counted by pairs, which is no more than there are, and by their high parts: one that
 * is less than 2^-12 of itself below the limit may count, which is far within the guard's margin.
 */
XG_DEVICE xg_counts xg_put_four(char *to, float4 x, float scale, int parts)
{
    const float4 y = {x.x * scale, x.y * scale, x.z * scale, x.w * scale};
    const unsigned xy = xg_half2(y.x, y.y), zw = xg_half2(y.z, y.w);
    const xg_counts counts = {(fabsf(y.x) + fabsf(y.y)) + (fabsf(y.z) + fabsf(y.w)),
                              xg_half2_least(xy, zw)};
    xg_store_words(to, xy, zw);
    if (parts == 2) {
        const unsigned low_xy = xg_half2(y.x - xg_half2_low(xy), y.y - xg_half2_high(xy));
        const unsigned low_zw = xg_half2(y.z - xg_half2_low(zw), y.w - xg_half2_high(zw));
        xg_store_words(to + XG_PART_BYTES, low_xy, low_zw);
    }
    return counts;
}

/* Whether there may be small entries in the warp where the least high parts are these; or NaN. */
XG_DEVICE int xg_may_be_small(unsigned least, int parts)
{
    return __any_sync(0xffffffffu, xg_half2_any_to(least, parts == 2 ? XG_GUARD_SMALL_HALF2
                                                                     : XG_GUARD_SMALL_ALONE_HALF2));
}

/* Of one line, from its counts (in this slice) and its largest entry (in all): c, z, n, r. */
XG_DEVICE float4 xg_guard_of_line(float4 counts, float largest, int broken)
{
    const int exponent = (int)(xg_bits_of(largest) >> 23) - 127;
    const float most = largest * xg_scale_to_parts(largest);
    float4 guard = {counts.x, counts.y, counts.z, counts.w / most};
    if (largest == 0.0f && !broken)
        guard = (float4){0.0f, 0.0f, 1.0e30f, 1.0e30f};
    else if (broken || exponent < -XG_GUARD_EXPONENT || exponent > XG_GUARD_EXPONENT)
        guard = (float4){XG_GUARD_NEVER, XG_GUARD_NEVER, 0.0f, 0.0f};
    return guard;
}

#endif
