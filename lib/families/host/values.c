/* SPDX-License-Identifier: BSD-3-Clause */
#include "values.h"

#include "families/common/dialect.h"

#include <math.h>
#include <string.h>

enum { F64_FRACTION = 52, F64_BIAS = 1023 };

float xg_host_float_of_bf16(uint16_t bits)
{
    const uint32_t all = (uint32_t)bits << 16;
    float x;
    memcpy(&x, &all, sizeof x);
    return x;
}

float xg_host_float_of_f16(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
    const float magnitude = exponent == 31  ? (fraction ? NAN : INFINITY)
                            : exponent == 0 ? ldexpf((float)fraction, -24)
                                            : ldexpf((float)(fraction | 0x400), exponent - 25);
    return bits & 0x8000 ? -magnitude : magnitude;
}

/* The nearest multiple of 2^bits, over 2^bits; ties to even. */
static uint64_t shift_rounded(uint64_t value, int bits)
{
    const uint64_t half = UINT64_C(1) << (bits - 1), odd = value >> bits & 1;
    return (value + half - 1 + odd) >> bits;
}

/* A double rounded to a type of 16 bits, of which so many are the fraction's. */
static uint16_t narrow(double x, int fraction_bits)
{
    const int exponent_bits = 15 - fraction_bits, most = (1 << exponent_bits) - 1;
    const uint64_t one = UINT64_C(1) << F64_FRACTION;
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const unsigned sign = (unsigned)(bits >> 48 & 0x8000);
    const uint64_t fraction = (bits & (one - 1)) | one;
    const int exponent = (int)(bits >> F64_FRACTION & 0x7ff) - F64_BIAS + most / 2;
    const int dropped = F64_FRACTION - fraction_bits;
    if (x != x)
        return 0x7fff;
    if (exponent >= most)
        return (uint16_t)(sign | (unsigned)most << fraction_bits);
    if (exponent > 0) /* a carry goes into the exponent, up to infinity */
        return (uint16_t)(sign + ((unsigned)(exponent - 1) << fraction_bits) +
                          (unsigned)shift_rounded(fraction, dropped));
    if (exponent < -fraction_bits)
        return (uint16_t)sign;
    return (uint16_t)(sign | (unsigned)shift_rounded(fraction, dropped + 1 - exponent));
}

uint16_t xg_host_f16_of(double x)
{
    return narrow(x, 10);
}

uint16_t xg_host_bf16_of(double x)
{
    return narrow(x, 7);
}

double xg_host_load(const void *from, int64_t at, int type)
{
    switch (type) {
    case XG_TYPE_F16:
        return (double)xg_host_float_of_f16(((const uint16_t *)from)[at]);
    case XG_TYPE_BF16:
        return (double)xg_host_float_of_bf16(((const uint16_t *)from)[at]);
    case XG_TYPE_F64:
    case XG_TYPE_C64:
        return ((const double *)from)[at];
    default:
        return (double)((const float *)from)[at];
    }
}

void xg_host_store(void *to, int64_t at, int type, double x)
{
    switch (type) {
    case XG_TYPE_F16:
        ((uint16_t *)to)[at] = xg_host_f16_of(x);
        return;
    case XG_TYPE_BF16:
        ((uint16_t *)to)[at] = xg_host_bf16_of(x);
        return;
    case XG_TYPE_F64:
    case XG_TYPE_C64:
        ((double *)to)[at] = x;
        return;
    default:
        ((float *)to)[at] = (float)x;
    }
}

#define EPILOGUE_REAL                   double
#define EPILOGUE_NAME(name)             name##_host
#define EPILOGUE_FMA(x, y, z)           fma(x, y, z)
#define EPILOGUE_MUL(x, y)              ((x) * (y))
#define EPILOGUE_LOAD(from, at, type)   xg_host_load(from, at, type)
#define EPILOGUE_STORE(to, at, type, x) xg_host_store(to, at, type, x)
#include "families/common/epilogue_typed.inc"

/* A scalar is of the operands' type, or float where they are of a shorter one. */
static void load_scalar(const xg_epilogue_args *p, const void *from, double parts[2])
{
    if (!from)
        return;
    parts[0] = xg_host_load(from, 0, p->type_scalars);
    parts[1] = p->is_complex ? xg_host_load(from, 1, p->type_scalars) : 0.0;
}

xg_typed_args xg_host_with_scalars(const xg_typed_args *p)
{
    xg_typed_args with = *p;
    load_scalar(&p->epilogue, p->epilogue.alpha_at, with.epilogue.alpha);
    load_scalar(&p->epilogue, p->epilogue.beta_at, with.epilogue.beta);
    with.epilogue.alpha_at = with.epilogue.beta_at = NULL;
    return with;
}

void xg_host_store_element(const xg_typed_args *p, int64_t row, int64_t column, const double sum[2])
{
    const xg_scalars_host by = xg_scalars_of_host(&p->epilogue);
    const int64_t at = row * p->c_stride_m + column;
    if (p->epilogue.is_complex)
        xg_store_complex_host(&p->epilogue, &by, p->c, at, row, column, sum[0], sum[1]);
    else
        xg_store_real_host(&p->epilogue, &by, p->c, at, row, column, sum[0]);
}
