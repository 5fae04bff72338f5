/* SPDX-License-Identifier: BSD-3-Clause */
/* FP16 and BF16 as bits of 16-bit integers, from float and back. */
#ifndef XGEMM_KERNELS_CONVERT_H
#define XGEMM_KERNELS_CONVERT_H

#include "ptx.h"

#ifdef __CUDACC__
/* A float rounded to FP16 (to nearest, ties to even); beyond its largest number: Inf. */
XG_DEVICE uint16_t xg_f16_of(float x)
{
    uint16_t bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
}

XG_DEVICE float xg_float_of_f16(uint16_t bits)
{
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
}
#else
#define xg_f16_of(x)          ((uint16_t)(xg_sim_half2(x, 0.0f) & 0xffff))
#define xg_float_of_f16(bits) xg_sim_half_value(bits)
#endif

XG_DEVICE uint16_t xg_bf16_of(float x)
{
    return (uint16_t)(xg_bf16x2(x, 0.0f) & 0xffff);
}

XG_DEVICE float xg_float_of_bf16(uint16_t bits)
{
    return xg_float_of((unsigned)bits << 16);
}

/* Element number "at" of a matrix whose type is one that is computed in FP32. */
XG_DEVICE float xg_load_as_f32(const void *from, int64_t at, int type)
{
    if (type == XG_TYPE_F16)
        return xg_float_of_f16(((const uint16_t *)from)[at]);
    if (type == XG_TYPE_BF16)
        return xg_float_of_bf16(((const uint16_t *)from)[at]);
    return ((const float *)from)[at];
}

XG_DEVICE void xg_store_f32_as(void *to, int64_t at, int type, float x)
{
    if (type == XG_TYPE_F16)
        ((uint16_t *)to)[at] = xg_f16_of(x);
    else if (type == XG_TYPE_BF16)
        ((uint16_t *)to)[at] = xg_bf16_of(x);
    else
        ((float *)to)[at] = x;
}

#endif
