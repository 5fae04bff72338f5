/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unpad: C = alpha * A + beta * C for m × n matrices, A's rows a_stride_m apart:
 * takes the wanted part out of a padded product.
 */
#include "families/common/dialect.h"

XG_KERNEL void xg_unpad(const xg_args p)
{
    const int64_t col = XG_BLOCK_X * blockDim.x + threadIdx.x;
    const int64_t row = XG_BLOCK_Y * blockDim.y + threadIdx.y;

    if (row < p.m && col < p.n) {
        float *c = &p.c[row * p.c_stride_m + col];
        *c = xg_blend(p.alpha, p.a[row * p.a_stride_m + col], p.beta, c);
    }
}
