/* SPDX-License-Identifier: BSD-3-Clause */
/* Scaling by powers of two. */
#ifndef XGEMM_KERNELS_SCALE_H
#define XGEMM_KERNELS_SCALE_H

#include "dialect.h"
#include "ptx.h"

/* x * 2^n for n from -336 to 336, like ldexpf(); rounded once where the result is normal. */
XG_DEVICE float xg_scale_exp2(float x, int n)
{
    const int third = n / 3, rest = n - 2 * third;
    const float by = xg_float_of((unsigned)(127 + third) << 23);
    return x * by * by * xg_float_of((unsigned)(127 + rest) << 23);
}

/* n of a scale 2^n that is a normal number. */
XG_DEVICE int xg_scale_exponent(float scale)
{
    return (int)(xg_bits_of(scale) >> 23) - 127;
}

#endif
