/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strip vectors (split_slice_strip.h): the rows of A and columns of B beyond the tiles, each copied
 * to the workspace, since all CTAs of the split kernel read them. y of the grid is the vector, a
 * thread its k.
 */
#include "families/common/dialect.h"
#include "fp16_layout.h"
#include "families/common/ptx.h"

XG_KERNEL(, fp16_vectors, xg_tensor_args)
{
    const xg_fp16_layout at = xg_split_layout_of(&p);
    const int64_t k = XG_BLOCK_X * blockDim.x + threadIdx.x, size = xg_strip_vector_size(&at);
    const int vector = (int)blockIdx.y, below = p.rows_below;
    const float *const from = vector < below
                                  ? p.a + (p.m + vector) * p.a_stride_m + k * p.a_stride_k
                                  : p.b + (p.n + vector - below) * p.b_stride_n + k * p.b_stride_k;
    float *const to = (float *)(void *)((char *)p.workspace + at.bytes) + vector * size + k;
    xg_pdl_trigger();
    xg_pdl_wait();
    if (k < size)
        *to = k < xg_split_k(p.k) ? *from : 0.0f;
}
