/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of 16 bits: IEEE binary16, and bfloat16, the upper half of a float. */
#ifndef XGEMM_BIN_HALF_H
#define XGEMM_BIN_HALF_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t float_to_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float float_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/*
 * The bits of a float that rounds to nearest as x does: rounded to odd, so that a second rounding,
 * to fewer bits, comes out as one of x itself would.
 */
static inline uint32_t float_bits_to_odd(double x)
{
    const float nearest = (float)x;
    uint32_t bits = float_to_bits(nearest);
    if (!isnan(x) && (double)nearest != x) {
        if (fabs((double)nearest) > fabs(x))
            bits--; /* towards zero */
        bits |= 1;
    }
    return bits;
}

/* To nearest, ties to even; what is too large becomes Inf. */
static inline uint16_t f16_of_double(double x)
{
    const uint32_t bits = float_bits_to_odd(x), magnitude = bits & 0x7fffffff;
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    if (magnitude > 0x7f800000)
        return sign | 0x7e00;
    if (magnitude >= 0x477ff000) /* 65520 */
        return sign | 0x7c00;
    /* Subnormal: in 1/2 + x the last bit of a float is 2^-24, as that of x is to be. */
    if (magnitude < 0x38800000)
        return (uint16_t)(sign | (float_to_bits(float_of_bits(magnitude) + 0.5f) - 0x3f000000));
    return (uint16_t)(sign | ((magnitude + 0xfff + (magnitude >> 13 & 1) - 0x38000000) >> 13));
}

static inline uint16_t bf16_of_double(double x)
{
    const uint32_t bits = float_bits_to_odd(x);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float float_of_f16(uint16_t bits)
{
    const uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exponent = bits >> 10 & 31;
    const uint32_t mantissa = bits & 1023;
    if (exponent == 0) {
        const float magnitude = (float)mantissa * 0x1p-24f;
        return sign ? -magnitude : magnitude;
    }
    return float_of_bits(sign | (exponent == 31 ? 0x7f800000 : (exponent + 112) << 23) |
                         mantissa << 13);
}

static inline float float_of_bf16(uint16_t bits)
{
    return float_of_bits((uint32_t)bits << 16);
}

#endif
