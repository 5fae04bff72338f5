/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A's rows and B's columns that strips of C are of (fp16_slice_strip.h), each in a row of the
 * workspace: the split's blocks all read them, and words that are far apart only once so. The
 * arguments are the split's; y of the grid is the vector, x and a thread its k.
 */
#include "families/common/dialect.h"
#include "fp16_layout.h"
#include "families/common/ptx.h"

XG_KERNEL
void xg_fp16_vectors(const xg_args p)
{
    const xg_fp16_layout at = xg_layout_of(&p);
    const int64_t k = XG_BLOCK_X * blockDim.x + threadIdx.x, size = xg_strip_vector(&at);
    const int vector = (int)blockIdx.y, below = xg_rows_below(&p);
    const float *const from = vector < below
                                  ? p.a + (p.m + vector) * p.a_stride_m + k * p.a_stride_k
                                  : p.b + (p.n + vector - below) * p.b_stride_n + k * p.b_stride_k;
    float *const to = (float *)(void *)(xg_workspace_of(&p) + at.bytes) + vector * size + k;
    xg_grid_release();
    xg_grid_wait();
    if (k < size)
        *to = k < xg_split_k(p.k) ? *from : 0.0f;
}
