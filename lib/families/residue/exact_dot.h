/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An element of C from A and B, as a sum of two doubles, by a warp: for the few that residues do
 * not serve. Its error is far below 2^-53 of |A||B|, whatever the data.
 */
#ifndef XGEMM_RESIDUE_EXACT_DOT_H
#define XGEMM_RESIDUE_EXACT_DOT_H

#include "families/common/dialect.h"

/* A sum of two doubles; and the same without the second, which has the special values. */
typedef struct {
    double high, low, plain;
} xg_exact_sum;

XG_DEVICE void xg_exact_add(xg_exact_sum *to, double x, double rest)
{
    const double sum = to->high + x, other = sum - to->high;
    to->low += ((to->high - (sum - other)) + (x - other)) + rest;
    to->high = sum;
}

XG_DEVICE double xg_shuffle_double(double x, int mask)
{
    const long long bits = xg_bits_of_double(x);
    const unsigned low = __shfl_xor_sync(0xffffffffu, (unsigned)bits, mask);
    const unsigned high =
        __shfl_xor_sync(0xffffffffu, (unsigned)((unsigned long long)bits >> 32), mask);
    return xg_double_of((long long)((unsigned long long)high << 32 | low));
}

/* All lanes get the sum, of which each has every 32nd term. */
XG_DEVICE_NOINLINE double xg_exact_dot(const double *a, int64_t a_stride, const double *b,
                                       int64_t b_stride, int64_t k)
{
    xg_exact_sum sum = {0.0, 0.0, 0.0};
    for (int64_t l = xg_lane(); l < k; l += 32) {
        const double x = a[l * a_stride], y = b[l * b_stride], term = __dmul_rn(x, y);
        xg_exact_add(&sum, term, fma(x, y, -term));
        sum.plain = fma(x, y, sum.plain);
    }
    for (int mask = 16; mask > 0; mask /= 2) {
        const double high = xg_shuffle_double(sum.high, mask);
        xg_exact_add(&sum, high, xg_shuffle_double(sum.low, mask));
        sum.plain += xg_shuffle_double(sum.plain, mask);
    }
    const double both = sum.high + sum.low;
    return fabs(both) <= 0x1.fffffffffffffp1023 ? both : sum.plain;
}

#endif
