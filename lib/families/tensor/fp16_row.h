/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A row of an operand (a row of A or a column of B, see fp16_layout.h) as FP16 parts: its scale,
 * its elements, and its statistics. For the split (fp16_split.h) and what is split later
 * (fp16_late.inc).
 */
#ifndef XGEMM_KERNELS_FP16_ROW_H
#define XGEMM_KERNELS_FP16_ROW_H

#include "fp16_check.h"
#include "fp16_layout.h"
#include "families/common/ptx_sm90.h"
#include "families/common/scale.h"
#include "families/common/transpose.h"

/* The sum over the lanes whose numbers differ in bits from "bits" down to "last". */
XG_DEVICE float xg_over_lanes(float sum, int bits, int last)
{
    XG_UNROLL
    for (; bits >= last; bits /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, bits);
    return sum;
}

/* 2^(14 - exponent of the largest), or what is nearest to it that is normal. */
XG_DEVICE unsigned xg_exponent_of(float largest)
{
    return XG_MIN(XG_MAX(xg_bits_of(largest) >> 23, XG_SCALED_EXPONENT + 1u), 254u);
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

/*
 * What threads have seen of a row's elements: the largest magnitude, which ignores NaN; the sum of
 * magnitudes, NaN if there is one; -2 times the bits of the least magnitude that is not zero, as a
 * number without sign (so it is the largest, and 0 if there is none); and of one in sixteen
 * elements that are not too small for it the number, in the upper half, and a quarter of the
 * exponent.
 */
typedef struct {
    float most, sum;
    unsigned least, logs;
} xg_seen;

XG_DEVICE void xg_see(xg_seen *seen, float x)
{
    seen->most = fmaxf(seen->most, fabsf(x));
    seen->sum += fabsf(x);
    seen->least = XG_MAX(seen->least, xg_bits_of(x) * 0xfffffffeu);
}

XG_DEVICE void xg_see_log(xg_seen *seen, float x)
{
    const unsigned quarter = xg_bits_of(x) >> 25 & 63;
    seen->logs += quarter ? quarter | 0x10000u : 0u;
}

XG_DEVICE void xg_see_four(xg_seen *seen, float4 x)
{
    xg_see(seen, x.x);
    xg_see(seen, x.y);
    xg_see(seen, x.z);
    xg_see(seen, x.w);
}

/*
 * The same in two words, as blocks tell it one another: the largest magnitude as bits, or all ones
 * below the sign if there is NaN; and the sum rounded up to BF16, the least exponent (255: all are
 * zero), and the mean of the exponents' quarters (63: of none).
 */
typedef struct {
    unsigned most, rest;
} xg_packed;

#define XG_NO_REST (255u << 8 | 63u)

/* The upper half of a number that is not negative, rounded up. */
XG_DEVICE unsigned xg_upper_half_of(float sum)
{
    return (xg_bits_of(sum) + 0xffffu) & 0xffff0000u;
}

XG_DEVICE xg_packed xg_packed_of(xg_seen seen)
{
    const unsigned count = seen.logs >> 16, least = 0u - seen.least; /* twice the bits */
    const int broken = !(seen.sum >= 0.0f);
    xg_packed packed;
    packed.most = broken ? 0x7fffffffu : xg_bits_of(seen.most);
    packed.rest = broken ? 0x7f800000u : xg_upper_half_of(fminf(seen.sum, 0x1p127f));
    packed.rest |= (least ? least >> 24 : 255u) << 8;
    packed.rest |= count ? (seen.logs & 0xffffu) / count : 63u;
    return packed;
}

/* Of two parts of a row together. */
XG_DEVICE unsigned xg_rest_of_both(unsigned a, unsigned b)
{
    const float sum = xg_float_of(a & 0xffff0000u) + xg_float_of(b & 0xffff0000u);
    const unsigned a_log = a & 0xff, b_log = b & 0xff;
    const unsigned log = a_log == 63 ? b_log : b_log == 63 ? a_log : (a_log + b_log) / 2;
    return xg_upper_half_of(fminf(sum, 0x1p127f)) | XG_MIN(a & 0xff00u, b & 0xff00u) | log;
}

/*
 * Lanes that differ in the bits 4, 8 and 16 have values of the same four lines: their sums, or the
 * largest. With each step a lane keeps half of its lines. It ends with this one of them:
 */
XG_DEVICE int xg_gathered_line(unsigned thread)
{
    return (int)(thread % 4 * 4 + thread / 16 % 2 * 2 + thread / 8 % 2);
}

XG_DEVICE xg_packed xg_together(xg_packed a, xg_packed b)
{
    const xg_packed both = {XG_MAX(a.most, b.most), xg_rest_of_both(a.rest, b.rest)};
    return both;
}

XG_DEVICE xg_packed xg_from_lane(xg_packed a, int bits)
{
    const xg_packed other = {__shfl_xor_sync(0xffffffffu, a.most, bits), __shfl_xor_sync(0xffffffffu, a.rest, bits)};
    return other;
}

XG_DEVICE xg_packed xg_gather(const xg_packed *lines)
{
    const int far = threadIdx.x & 16, near = threadIdx.x & 8;
    const xg_packed low =
        xg_together(far ? lines[2] : lines[0], xg_from_lane(far ? lines[0] : lines[2], 16));
    const xg_packed high =
        xg_together(far ? lines[3] : lines[1], xg_from_lane(far ? lines[1] : lines[3], 16));
    const xg_packed one = xg_together(near ? high : low, xg_from_lane(near ? low : high, 8));
    return xg_together(one, xg_from_lane(one, 4));
}

/* Of lanes whose numbers differ in bits from "bits" down to 1. */
XG_DEVICE xg_packed xg_packed_over_lanes(xg_packed all, int bits)
{
    XG_UNROLL
    for (; bits > 0; bits /= 2)
        all = xg_together(all, xg_from_lane(all, bits));
    return all;
}

/* Whether a row's largest magnitude says that it has Inf or NaN. */
XG_DEVICE int xg_is_broken(unsigned most)
{
    return most >= 0x7f800000u;
}

/* A row that is broken has zeros as parts, and this scale, by which its finite elements are small.
 */
XG_DEVICE float xg_largest_of_bits(unsigned most)
{
    return xg_float_of(XG_MIN(most, 0x7f7fffffu));
}

XG_DEVICE xg_row_stats xg_row_stats_of(xg_packed packed, int parts)
{
    const float largest = xg_largest_of_bits(packed.most), to_parts = xg_scale_to_parts(largest);
    const int scale = (int)(xg_bits_of(to_parts) >> 23) - 127;
    const int least = (int)(packed.rest >> 8 & 0xff), log = (int)(packed.rest & 0xff);
    /* Of the least element, scaled; if it is subnormal, of the least there is. */
    const int exponent = (least == 0 ? -149 : least - 127) + scale;
    const float most = largest * to_parts;
    xg_row_stats stats = {0.0f, 0.0f, 0.0f, XG_ROW_NOT_FINITE};
    if (xg_is_broken(packed.most))
        return stats;
    /* A sum past FP32's range is bounded by that of as many of the largest element as there are. */
    const float sum = xg_float_of(packed.rest & 0xffff0000u);
    stats.sum = (sum < 0x1p126f ? sum * to_parts : most * (float)XG_SPLIT_K_MOST) *
                XG_CHECK_FACTOR(parts);
    stats.small = least != 255 && exponent < XG_SMALL_EXPONENT(parts) ? 1.0f : 0.0f;
    stats.log2 =
        log == 63 ? 0.0f
                  : fminf((float)(4 * log + 2 - (int)(xg_bits_of(largest) >> 23)), 0.0f);
    stats.kind = least != 255 && exponent < XG_LEAST_EXPONENT ? XG_ROW_WIDE
                 : largest > 0.0f && (scale < -76 || scale > 74) ? XG_ROW_FAR
                                                                : XG_ROW_FINITE;
    return stats;
}

/* What the warps that split rows late (fp16_late.inc) tell one another, of each row. */
typedef struct {
    unsigned most[XG_SPLIT_LINES], rest[3][XG_SPLIT_LINES];
} xg_late_notes;

/* Two elements as high parts, and as low ones of what these leave. */
XG_DEVICE unsigned xg_low_parts(unsigned high, float x, float y)
{
    return xg_half2((x - xg_half2_low(high)) * 0x1p11f, (y - xg_half2_high(high)) * 0x1p11f);
}

/* Four elements along k, scaled, as parts; the low ones, if any, lie where the high ones end. */
XG_DEVICE void xg_put_four(char *to, float4 x, float scale, int parts)
{
    const float4 y = {x.x * scale, x.y * scale, x.z * scale, x.w * scale};
    const unsigned xy = xg_half2(y.x, y.y), zw = xg_half2(y.z, y.w);
    xg_store_words(to, xy, zw);
    if (parts == 2)
        xg_store_words(to + XG_PART_BYTES, xg_low_parts(xy, y.x, y.y), xg_low_parts(zw, y.z, y.w));
}

#endif
