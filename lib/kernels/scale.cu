/* SPDX-License-Identifier: BSD-3-Clause */
/* scale: C = beta * C for an m × n matrix; beta = 0 stores zeros and reads nothing. */
#include "dialect.h"

XG_KERNEL void xg_scale(const xg_args p)
{
    const int64_t col = XG_BLOCK_X * blockDim.x + threadIdx.x;
    const int64_t row = XG_BLOCK_Y * blockDim.y + threadIdx.y;

    if (row < p.m && col < p.n) {
        float *c = &p.c[row * p.c_row + col];
        *c = p.beta == 0.0f ? 0.0f : p.beta * *c;
    }
}
