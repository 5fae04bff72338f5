/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Activations in FP32 by the special function unit's exponential and reciprocal, which are wrong by
 * at most 2^-22 of their values: as accurate as exp() and a division for what is then a part of x,
 * in a tenth of the instructions. Results below 2^-126 |x| become 0.
 */
#ifndef XGEMM_KERNELS_ACTIVATIONS_H
#define XGEMM_KERNELS_ACTIVATIONS_H

#include "ptx.h"

/* 1 / (1 + exp(-x)) */
XG_DEVICE float xg_sigmoid_f32(float x)
{
    const float log2_e = 1.44269504f;
    return xg_reciprocal_approx(1.0f + xg_exp2_approx(-log2_e * x));
}

/*
 * x Phi(x), where Phi(-z) = erfc(z / sqrt(2)) / 2 = exp(-z^2 / 2) t P(t) with t = 1 / (1 + 0.3 z):
 * P is the polynomial of degree 7 whose largest relative error for z from 0 to 14 is least, 1.5e-7
 * (by Remez's algorithm). Beyond, exp() is 0.
 */
XG_DEVICE float xg_gelu_f32(float x)
{
    const float half_log2_e = 0.72134752f;
    float t = xg_reciprocal_approx(fmaf(0.3f, fabsf(x), 1.0f));
    float tail = 0.0356747978f;
    tail = fmaf(tail, t, -0.157203175f);
    tail = fmaf(tail, t, 0.206353654f);
    tail = fmaf(tail, t, -0.0536837694f);
    tail = fmaf(tail, t, 0.128561686f);
    tail = fmaf(tail, t, 0.0999134764f);
    tail = fmaf(tail, t, 0.120753958f);
    tail = fmaf(tail, t, 0.119629299f);
    t *= xg_exp2_approx(-half_log2_e * x * x);
    return x * (x > 0.0f ? fmaf(-tail, t, 1.0f) : tail * t);
}

#endif
