/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An operand row as FP16 terms: its scan, its scale, its elements and its statistics. For the split
 * kernel (fp16_split.h).
 */
#ifndef XGEMM_KERNELS_OPERAND_ROW_H
#define XGEMM_KERNELS_OPERAND_ROW_H

#include "guard.h"
#include "fp16_layout.h"
#include "families/common/ptx_sm90.h"
#include "families/common/scale.h"
#include "families/common/transpose.h"

/* The sum over lanes whose numbers differ in the bits from "bits" down to "last". */
XG_DEVICE float xg_sum_lanes(float sum, int bits, int last)
{
    XG_UNROLL
    for (; bits >= last; bits /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, bits);
    return sum;
}

/*
 * The exponent field of a row's largest element, clamped so that the scales are normal numbers: the
 * scale to terms is 2^(14 - exponent).
 */
XG_DEVICE unsigned xg_clamped_exponent(float largest)
{
    return XG_MIN(XG_MAX(xg_bits_of(largest) >> 23, XG_SCALED_EXPONENT + 1u), 254u);
}

XG_DEVICE float xg_scale_to_terms(float largest)
{
    const unsigned exponent = xg_clamped_exponent(largest);
    return xg_float_of((254u + XG_SCALED_EXPONENT - exponent) << 23);
}

XG_DEVICE float xg_scale_from_terms(float largest)
{
    return xg_float_of((xg_clamped_exponent(largest) - XG_SCALED_EXPONENT) << 23);
}

/*
 * What a thread has seen of a row's elements: the largest magnitude, ignoring NaN; the sum of
 * magnitudes, NaN if there is one; for the least nonzero magnitude -2 times its bits, unsigned, so
 * that it is a maximum and 0 if there is none; and for one in sixteen elements that are not tiny a
 * count, in the upper half, and the sum of a quarter of their exponents.
 */
typedef struct {
    float largest, sum;
    unsigned least, logs;
} xg_row_scan;

XG_DEVICE void xg_scan(xg_row_scan *scan, float x)
{
    scan->largest = fmaxf(scan->largest, fabsf(x));
    scan->sum += fabsf(x);
    scan->least = XG_MAX(scan->least, xg_bits_of(x) * 0xfffffffeu);
}

XG_DEVICE void xg_scan_log(xg_row_scan *scan, float x)
{
    const unsigned quarter = xg_bits_of(x) >> 25 & 63;
    scan->logs += quarter ? quarter | 0x10000u : 0u;
}

XG_DEVICE void xg_scan_vec4(xg_row_scan *scan, float4 x)
{
    xg_scan(scan, x.x);
    xg_scan(scan, x.y);
    xg_scan(scan, x.z);
    xg_scan(scan, x.w);
}

/*
 * A scan in two words, as CTAs exchange it. largest: bits of the largest magnitude, or 0x7fffffff
 * if there is NaN. rest: the sum rounded up to BF16; the least exponent (255: all are zero); and
 * the mean quarter of an exponent (63: no sample).
 */
typedef struct {
    unsigned largest, rest;
} xg_packed_scan;

#define XG_EMPTY_REST (255u << 8 | 63u)

/* A number that is not negative, rounded up to BF16, as FP32's bits. */
XG_DEVICE unsigned xg_round_up_bf16(float sum)
{
    return (xg_bits_of(sum) + 0xffffu) & 0xffff0000u;
}

/* But for the mean quarter of an exponent, or 63, which is to be added. */
XG_DEVICE xg_packed_scan xg_pack_scan_without_log(xg_row_scan scan)
{
    const unsigned least = 0u - scan.least; /* twice the bits */
    const int not_finite = !(scan.sum >= 0.0f);
    xg_packed_scan packed;
    packed.largest = not_finite ? 0x7fffffffu : xg_bits_of(scan.largest);
    packed.rest = not_finite ? 0x7f800000u : xg_round_up_bf16(fminf(scan.sum, 0x1p127f));
    packed.rest |= (least ? least >> 24 : 255u) << 8;
    return packed;
}

XG_DEVICE xg_packed_scan xg_pack_scan(xg_row_scan scan)
{
    const unsigned count = scan.logs >> 16;
    xg_packed_scan packed = xg_pack_scan_without_log(scan);
    packed.rest |= count ? (scan.logs & 0xffffu) / count : 63u;
    return packed;
}

/* The rest of two parts of a row merged. */
XG_DEVICE unsigned xg_merge_rests(unsigned a, unsigned b)
{
    const float sum = xg_float_of(a & 0xffff0000u) + xg_float_of(b & 0xffff0000u);
    const unsigned a_log = a & 0xff, b_log = b & 0xff;
    const unsigned log = a_log == 63 ? b_log : b_log == 63 ? a_log : (a_log + b_log) / 2;
    return xg_round_up_bf16(fminf(sum, 0x1p127f)) | XG_MIN(a & 0xff00u, b & 0xff00u) | log;
}

/*
 * Merges scans of four rows over the lanes that differ in the bits 4, 8 and 16; in each of the
 * first two steps a lane keeps half of its rows. It ends with this one of the row group:
 */
XG_DEVICE int xg_gathered_row(unsigned thread)
{
    return (int)(thread % 4 * 4 + thread / 16 % 2 * 2 + thread / 8 % 2);
}

XG_DEVICE xg_packed_scan xg_merge_scans(xg_packed_scan a, xg_packed_scan b)
{
    const xg_packed_scan both = {XG_MAX(a.largest, b.largest), xg_merge_rests(a.rest, b.rest)};
    return both;
}

XG_DEVICE xg_packed_scan xg_scan_of_lane(xg_packed_scan a, int bits)
{
    const xg_packed_scan other = {__shfl_xor_sync(0xffffffffu, a.largest, bits),
                                  __shfl_xor_sync(0xffffffffu, a.rest, bits)};
    return other;
}

/* One of two scans, by value: see xg_select(). */
XG_DEVICE xg_packed_scan xg_select_scan(int condition, xg_packed_scan x, xg_packed_scan y)
{
    const xg_packed_scan one = {xg_select_bits(condition, x.largest, y.largest),
                                xg_select_bits(condition, x.rest, y.rest)};
    return one;
}

XG_DEVICE xg_packed_scan xg_gather_scans(const xg_packed_scan *rows)
{
    const int far = threadIdx.x & 16, near = threadIdx.x & 8;
    const xg_packed_scan low =
        xg_merge_scans(xg_select_scan(far, rows[2], rows[0]),
                       xg_scan_of_lane(xg_select_scan(far, rows[0], rows[2]), 16));
    const xg_packed_scan high =
        xg_merge_scans(xg_select_scan(far, rows[3], rows[1]),
                       xg_scan_of_lane(xg_select_scan(far, rows[1], rows[3]), 16));
    const xg_packed_scan one =
        xg_merge_scans(near ? high : low, xg_scan_of_lane(near ? low : high, 8));
    return xg_merge_scans(one, xg_scan_of_lane(one, 4));
}

/* Merges scans over lanes whose numbers differ in the bits from "bits" down to 1. */
XG_DEVICE xg_packed_scan xg_merge_lanes(xg_packed_scan all, int bits)
{
    XG_UNROLL
    for (; bits > 0; bits /= 2)
        all = xg_merge_scans(all, xg_scan_of_lane(all, bits));
    return all;
}

/* Whether a row has Inf or NaN, by the bits of its largest magnitude. */
XG_DEVICE int xg_is_not_finite(unsigned largest)
{
    return largest >= 0x7f800000u;
}

/* The largest magnitude that sets a row's scale. A row with Inf or NaN has zeros as terms. */
XG_DEVICE float xg_largest_finite(unsigned largest)
{
    return xg_float_of(XG_MIN(largest, 0x7f7fffffu));
}

XG_DEVICE xg_row_stats xg_make_row_stats(xg_packed_scan packed, int terms)
{
    const float largest = xg_largest_finite(packed.largest), to_terms = xg_scale_to_terms(largest);
    const int scale = (int)(xg_bits_of(to_terms) >> 23) - 127;
    const int least = (int)(packed.rest >> 8 & 0xff), log = (int)(packed.rest & 0xff);
    /* The exponent of the least element, scaled; if that is subnormal, of the least subnormal. */
    const int exponent = (least == 0 ? -149 : least - 127) + scale;
    const float scaled = largest * to_terms;
    xg_row_stats stats = {0.0f, 0.0f, XG_ROW_NOT_FINITE, 0};
    if (xg_is_not_finite(packed.largest))
        return stats;
    /* A sum beyond FP32's range is bounded by the largest element times the greatest k. */
    const float sum = xg_float_of(packed.rest & 0xffff0000u);
    const float bound = (sum < 0x1p126f ? sum * to_terms : scaled * (float)XG_SPLIT_K_MOST) *
                        XG_GUARD_FACTOR(terms);
    stats.bound = least != 255 && exponent < XG_SMALL_EXPONENT(terms) ? -bound : bound;
    stats.log2 =
        log == 63 ? 0.0f : fminf((float)(4 * log + 2 - (int)(xg_bits_of(largest) >> 23)), 0.0f);
    stats.kind = least != 255 && exponent < XG_LEAST_EXPONENT    ? XG_ROW_WIDE
                 : largest > 0.0f && (scale < -76 || scale > 74) ? XG_ROW_FAR
                                                                 : XG_ROW_FINITE;
    return stats;
}

/* The low terms of two elements, packed. */
XG_DEVICE unsigned xg_low_terms(unsigned high, float x, float y)
{
    return xg_half2((x - xg_half2_low(high)) * 0x1p11f, (y - xg_half2_high(high)) * 0x1p11f);
}

/* Four neighbours in k, scaled, as terms; the low terms, if any, follow XG_TERM_BYTES later. */
XG_DEVICE void xg_store_terms4(char *to, float4 x, float scale, int terms)
{
    const float4 y = {x.x * scale, x.y * scale, x.z * scale, x.w * scale};
    const unsigned xy = xg_half2(y.x, y.y), zw = xg_half2(y.z, y.w);
    xg_store_u32x2(to, xy, zw);
    if (terms == 2)
        xg_store_u32x2(to + XG_TERM_BYTES, xg_low_terms(xy, y.x, y.y), xg_low_terms(zw, y.z, y.w));
}

#endif
