/* SPDX-License-Identifier: BSD-3-Clause */
/* Powers of two, by which rows of operands are scaled. */
#ifndef XGEMM_KERNELS_SCALE_H
#define XGEMM_KERNELS_SCALE_H

#include "dialect.h"
#include "ptx.h"

/* x * 2^n, for n of -336 to 336, rounded once where the result is normal. */
XG_DEVICE float xg_scale_by(float x, int n)
{
    const int third = n / 3, rest = n - 2 * third;
    const float by = xg_float_of((unsigned)(127 + third) << 23);
    return x * by * by * xg_float_of((unsigned)(127 + rest) << 23);
}

/* The exponent of a scale, a power of two that is normal. */
XG_DEVICE int xg_scale_exponent(float scale)
{
    return (int)(xg_bits_of(scale) >> 23) - 127;
}

#endif
