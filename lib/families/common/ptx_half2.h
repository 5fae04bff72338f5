/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparisons of pairs of FP16 numbers. */
#ifndef XGEMM_KERNELS_PTX_HALF2_H
#define XGEMM_KERNELS_PTX_HALF2_H

#include "dialect.h"

#ifdef __CUDACC__
/*
 * Of two FP16 numbers each: the larger magnitudes, NaN where one is; the smaller magnitudes. The
 * results are not negative.
 */
XG_DEVICE unsigned xg_half2_max_magnitude(unsigned x, unsigned y)
{
    unsigned larger;
    asm("{ .reg .b32 a, b; abs.f16x2 a, %1; abs.f16x2 b, %2; max.NaN.f16x2 %0, a, b; }"
        : "=r"(larger)
        : "r"(x), "r"(y));
    return larger;
}

XG_DEVICE unsigned xg_half2_min_magnitude(unsigned x, unsigned y)
{
    unsigned smaller;
    asm("{ .reg .b32 a, b; abs.f16x2 a, %1; abs.f16x2 b, %2; min.f16x2 %0, a, b; }"
        : "=r"(smaller)
        : "r"(x), "r"(y));
    return smaller;
}
#else
/* As magnitudes, FP16 numbers are in the order of their bits, NaN beyond Inf. */
XG_DEVICE unsigned xg_half2_max_magnitude(unsigned x, unsigned y)
{
    const unsigned low = XG_MAX(x & 0x7fffu, y & 0x7fffu);
    return XG_MAX(x >> 16 & 0x7fffu, y >> 16 & 0x7fffu) << 16 | low;
}

XG_DEVICE unsigned xg_half2_min_magnitude(unsigned x, unsigned y)
{
    const unsigned low = XG_MIN(x & 0x7fffu, y & 0x7fffu);
    return XG_MIN(x >> 16 & 0x7fffu, y >> 16 & 0x7fffu) << 16 | low;
}
#endif

#endif
