/* SPDX-License-Identifier: BSD-3-Clause */
/* __nv_bfloat16 and its pair: stored in 16 bits, computed in FP32 and rounded. */
#ifndef XGEMM_CUDA_BF16_H
#define XGEMM_CUDA_BF16_H

#include "cuda_fp16.h"

XG_SHORT_FLOAT(__nv_bfloat16, __nv_bfloat162, float_of_bfloat, bfloat_of_float)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

XG_INLINE nv_bfloat16 __float2bfloat16(float x)
{
    return nv_bfloat16(x);
}
XG_INLINE nv_bfloat16 __float2bfloat16_rn(float x)
{
    return nv_bfloat16(x);
}
XG_INLINE float __bfloat162float(nv_bfloat16 x)
{
    return (float)x;
}
XG_INLINE nv_bfloat162 make_bfloat162(nv_bfloat16 x, nv_bfloat16 y)
{
    return {x, y};
}
XG_INLINE nv_bfloat162 __float2bfloat162_rn(float x)
{
    return {nv_bfloat16(x), nv_bfloat16(x)};
}
XG_INLINE nv_bfloat162 __floats2bfloat162_rn(float x, float y)
{
    return {nv_bfloat16(x), nv_bfloat16(y)};
}
XG_INLINE float2 __bfloat1622float2(nv_bfloat162 v)
{
    return {(float)v.x, (float)v.y};
}

#endif
