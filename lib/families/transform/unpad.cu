/* SPDX-License-Identifier: BSD-3-Clause */
/* unpad: C = alpha * from + beta * C, where from is the m × n corner of a padded product. */
#include "args.h"
#include "families/common/epilogue.h"

XG_KERNEL(, unpad, xg_unpad_args)
{
    const int64_t col = XG_BLOCK_X * blockDim.x + threadIdx.x;
    const int64_t row = XG_BLOCK_Y * blockDim.y + threadIdx.y;

    if (row < p.m && col < p.n) {
        float *c = &p.c[row * p.c_stride_m + col];
        *c = xg_epilogue(p.alpha, p.from[row * p.from_stride + col], p.beta, c);
    }
}
