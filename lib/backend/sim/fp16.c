/* SPDX-License-Identifier: BSD-3-Clause */
/* FP16 (IEEE binary16) from float and back, in integers: no compiler need know the type. */
#include "sm90_shim.h"

#include <string.h>

enum { FLOAT_BIAS = 127, HALF_BIAS = 15, FLOAT_BITS = 23, HALF_BITS = 10 };

/* The nearest multiple of 2^bits, over 2^bits; ties to even. */
static uint32_t shift_rounded(uint32_t value, int bits)
{
    const uint32_t half = 1u << (bits - 1), odd = value >> bits & 1;
    return (value + half - 1 + odd) >> bits;
}

static unsigned half_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const unsigned sign = bits >> 16 & 0x8000;
    const uint32_t magnitude = bits & 0x7fffffff;
    const int exponent = (int)(magnitude >> FLOAT_BITS) - FLOAT_BIAS + HALF_BIAS;
    if (magnitude > 0x7f800000)
        return 0x7fff; /* as the card's: every NaN becomes this one */
    if (exponent >= 31)
        return sign | 0x7c00;
    if (exponent > 0) /* a carry goes into the exponent, up to infinity */
        return sign | (((unsigned)(exponent - 1) << HALF_BITS) +
                       shift_rounded((magnitude & 0x7fffff) | 0x800000, FLOAT_BITS - HALF_BITS));
    if (exponent < -10)
        return sign;
    return sign |
           shift_rounded((magnitude & 0x7fffff) | 0x800000, FLOAT_BITS - HALF_BITS + 1 - exponent);
}

unsigned xg_sim_half2(float low, float high)
{
    return half_of(high) << 16 | half_of(low);
}

float xg_sim_half_value(unsigned half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    int exponent = (int)(half >> HALF_BITS & 31);
    uint32_t fraction = half & 0x3ff, bits;
    float value;
    if (exponent == 0 && fraction != 0) { /* subnormal: the leading one moves into place */
        exponent = 1;
        for (; !(fraction & 0x400); fraction <<= 1)
            exponent--;
        fraction &= 0x3ff;
    } else if (exponent == 0)
        exponent = HALF_BIAS - FLOAT_BIAS; /* zero */
    if (exponent == 31)
        bits = sign | 0x7f800000 | fraction << 13;
    else
        bits = sign | (uint32_t)(exponent - HALF_BIAS + FLOAT_BIAS) << FLOAT_BITS | fraction << 13;
    memcpy(&value, &bits, sizeof value);
    return value;
}
