/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * naive: one thread an element of C, consecutive threads down a column.
 *
 * Idea: the triple loop, its two outer loops spread over threads. The threads
 * of a warp take consecutive rows, so that their loads of A, and their stores
 * to C, lie a leading dimension apart: 32 sectors a request, of which each
 * thread uses 4 bytes of 32.
 * Traffic: 2 loads of 4 bytes for 2 operations, 0.25 OP/B.
 * Source: seed text 000 (row R1), the first kernel of most courses.
 */
#include "families/common/dialect.h"

XG_KERNEL void xg_naive(const xg_args p)
{
    const int64_t row = XG_BLOCK_Y * blockDim.x + threadIdx.x;
    const int64_t col = XG_BLOCK_X * blockDim.y + threadIdx.y;

    if (row < p.m && col < p.n) {
        const float *a = p.a + row * p.a_stride_m, *b = p.b + col * p.b_stride_n;
        float sum = 0.0f;
        for (int64_t l = 0; l < p.k; l++)
            sum += a[l * p.a_stride_k] * b[l * p.b_stride_k];
        float *c = &p.c[row * p.c_stride_m + col];
        *c = xg_blend(p.alpha, sum, p.beta, c);
    }
}
