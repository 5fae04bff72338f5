/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * naive: one thread an element of C, consecutive threads down a column.
 *
 * Idea: the triple loop, with the two outer loops spread over threads. The threads of a warp
 * compute consecutive rows of C. So their loads of A and their stores to C are a leading dimension
 * apart: 32 sectors a request, and of the 32 bytes of each sector 4 are used.
 * Traffic: 2 loads of 4 bytes for 2 operations, 0.25 OP/B.
 * Source: Tushar Gautam, "xGeMM Chapter 2: GPU Global Memory Coalescing" (2024), its uncoalesced
 * kernel; Hwu, Kirk, El Hajj, Programming Massively Parallel Processors, 4th edition, chapter 3.
 */
#include "families/common/epilogue.h"

XG_KERNEL(, naive, xg_product_args)
{
    const int64_t row = XG_BLOCK_Y * blockDim.x + threadIdx.x;
    const int64_t col = XG_BLOCK_X * blockDim.y + threadIdx.y;

    if (row < p.m && col < p.n) {
        const float *a = p.a + row * p.a_stride_m, *b = p.b + col * p.b_stride_n;
        float acc = 0.0f;
        for (int64_t l = 0; l < p.k; l++)
            acc += a[l * p.a_stride_k] * b[l * p.b_stride_k];
        float *c = &p.c[row * p.c_stride_m + col];
        *c = xg_epilogue(p.alpha, acc, p.beta, c);
    }
}
