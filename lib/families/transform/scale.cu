/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scale: C = beta * C for an m × n matrix; where beta is 0 it stores zeros and reads nothing.
 * A grid-stride loop along y, since the grid's z is the product of a batch.
 */
#include "args.h"
#include "families/common/epilogue.h"
#include "families/common/ptx.h"

XG_KERNEL(, scale, xg_scale_args)
{
    const int64_t col = XG_BLOCK_X * blockDim.x + threadIdx.x;
    const int64_t first = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    float *const c0 = p.c_batch_stride == XG_POINTER_ARRAYS
                          ? ((float *const *)(void *)p.c)[XG_BATCH]
                          : p.c + XG_BATCH * p.c_batch_stride;

    xg_pdl_wait();
    xg_pdl_trigger();
    if (col < p.n)
        for (int64_t row = first; row < p.m; row += (int64_t)gridDim.y * blockDim.y) {
            float *c = &c0[row * p.c_stride_m + col];
            *c = xg_epilogue_without_product(p.beta, c);
        }
}
