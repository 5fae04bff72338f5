/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scale: C = beta * C for an m × n matrix; beta = 0 stores zeros and reads nothing.
 * Along y it steps over the rows, since z is the product of a batch.
 */
#include "families/common/dialect.h"
#include "families/common/ptx.h"

XG_KERNEL
void xg_scale(const xg_args p)
{
    const int64_t col = XG_BLOCK_X * blockDim.x + threadIdx.x;
    const int64_t first = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    float *const c0 =
        p.a_batch == XG_LISTS ? ((float *const *)p.c)[XG_BATCH] : p.c + XG_BATCH * p.c_batch;

    xg_grid_wait();
    xg_grid_release();
    if (col < p.n)
        for (int64_t row = first; row < p.m; row += (int64_t)gridDim.y * blockDim.y) {
            float *c = &c0[row * p.c_stride_m + col];
            *c = p.beta == 0.0f ? 0.0f : p.beta * *c;
        }
}
