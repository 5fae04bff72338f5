/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The epilogue: C = alpha * accumulator + beta * C. With beta = 0 C is never read, so that NaN in
 * it does not spread. One function for each way in which kernels store C; all compute the same
 * bits.
 */
#ifndef XGEMM_KERNELS_EPILOGUE_H
#define XGEMM_KERNELS_EPILOGUE_H

#include "dialect.h"
#include "ptx.h"

/* The new value of the element at c: the same bits whatever compiles it. */
XG_DEVICE float xg_epilogue(float alpha, float acc, float beta, const float *c)
{
    return beta == 0.0f ? alpha * acc : fmaf(beta, *c, alpha * acc);
}

/* The same for a C that has been read; an accumulator that is NaN leaves the element as it was. */
XG_DEVICE float xg_epilogue_unless_nan(float alpha, float acc, float beta, const float *c)
{
    return acc == acc ? fmaf(beta, *c, alpha * acc) : *c;
}

/* The new value of an element to which no product is added: alpha or k is 0. */
XG_DEVICE float xg_epilogue_without_product(float beta, const float *c)
{
    return beta == 0.0f ? 0.0f : beta * *c;
}

/* The new values of four elements where beta is 0. */
XG_DEVICE float4 xg_epilogue_vec4_beta0(float alpha, const float acc[4])
{
    return (float4){alpha * acc[0], alpha * acc[1], alpha * acc[2], alpha * acc[3]};
}

/* Stores two elements at a multiple of 8 bytes. */
XG_DEVICE void xg_epilogue_store_vec2(float *c, const float acc[2], float alpha, float beta)
{
    float2 both = {0.0f, 0.0f};
    if (beta != 0.0f)
        both = *(const float2 *)c;
    both.x = xg_epilogue(alpha, acc[0], beta, &both.x);
    both.y = xg_epilogue(alpha, acc[1], beta, &both.y);
    *(float2 *)c = both;
}

/*
 * Stores the first "columns" of four elements of a row: as one vec4 where they are four and aligned
 * to 16 bytes, else one by one.
 */
XG_DEVICE void xg_epilogue_store_vec4(float *c, const float acc[4], int columns, int aligned,
                                      float alpha, float beta)
{
    if (aligned && columns >= 4) {
        float4 four = {0.0f, 0.0f, 0.0f, 0.0f};
        if (beta != 0.0f)
            four = *(const float4 *)c;
        four.x = xg_epilogue(alpha, acc[0], beta, &four.x);
        four.y = xg_epilogue(alpha, acc[1], beta, &four.y);
        four.z = xg_epilogue(alpha, acc[2], beta, &four.z);
        four.w = xg_epilogue(alpha, acc[3], beta, &four.w);
        *(float4 *)c = four;
        return;
    }
    XG_UNROLL
    for (int i = 0; i < 4; i++)
        if (i < columns)
            c[i] = xg_epilogue(alpha, acc[i], beta, &c[i]);
}

/* Stores four elements at a multiple of 16 bytes where beta is 0, by one instruction. */
XG_DEVICE void xg_epilogue_store_vec4_beta0(float *c, const float acc[4], float alpha)
{
    xg_store_vec4(c, alpha * acc[0], alpha * acc[1], alpha * acc[2], alpha * acc[3]);
}

#endif
