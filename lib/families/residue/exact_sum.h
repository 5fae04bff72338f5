/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums of products as sums of two doubles: of an epilogue; and over a warp, for the few elements of
 * C that residues do not serve. Their error is far below 2^-53 of |A||B|, where no sum overflows.
 */
#ifndef XGEMM_RESIDUE_EXACT_SUM_H
#define XGEMM_RESIDUE_EXACT_SUM_H

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

XG_DEVICE void xg_exact_add_product(xg_exact_sum *to, double x, double y)
{
    const double term = __dmul_rn(x, y);
    xg_exact_add(to, term, fma(x, y, -term));
    to->plain = fma(x, y, to->plain);
}

XG_DEVICE double xg_exact_value(const xg_exact_sum *of)
{
    const double both = of->high + of->low;
    return fabs(both) <= 0x1.fffffffffffffp1023 ? both : of->plain;
}

XG_DEVICE double xg_shuffle_double(double x, int mask)
{
    const long long bits = xg_bits_of_double(x);
    const unsigned low = __shfl_xor_sync(0xffffffffu, (unsigned)bits, mask);
    const unsigned high =
        __shfl_xor_sync(0xffffffffu, (unsigned)((unsigned long long)bits >> 32), mask);
    return xg_double_of((long long)((unsigned long long)high << 32 | low));
}

/* All lanes get the sum of theirs. */
XG_DEVICE void xg_exact_over_warp(xg_exact_sum *sum)
{
    for (int mask = 16; mask > 0; mask /= 2) {
        const double high = xg_shuffle_double(sum->high, mask);
        xg_exact_add(sum, high, xg_shuffle_double(sum->low, mask));
        sum->plain += xg_shuffle_double(sum->plain, mask);
    }
}

#endif
