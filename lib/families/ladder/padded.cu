/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * padded: zero-padding to whole tiles instead of boundary checks.
 *
 * Idea: the alternative to boundary checks where sizes are no multiples of the tile. A and B are
 * copied into a workspace and padded with zeros to multiples of 32 (pad.cu); this kernel multiplies
 * whole tiles without a comparison; unpad.cu copies the m x n of the padded product to C, with
 * alpha and beta. The checks cost less than the copies: padding pays when a padded matrix is used
 * often.
 * Traffic: 8 OP/B, and the copies: 8 bytes for each element of A, B and C.
 * Source: Programming Massively Parallel Processors, 4th edition, section 5.5 (boundary checks), to
 * which padding is the alternative: CS 6023 GPU Programming, "Adv. Memory Tiling, CUDA Events"
 * (lecture slides, 2018).
 */
#include "families/common/dialect.h"

#define TILE 32

/* All sizes are multiples of TILE, and rows are contiguous. C is only written. */
XG_KERNEL(__launch_bounds__(TILE *TILE), padded, xg_product_args)
{
    XG_SHARED16 float a_tile[TILE][TILE];
    XG_SHARED16 float b_tile[TILE][TILE];
    const int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
    const int64_t row = XG_BLOCK_Y * TILE + ty;
    const int64_t col = XG_BLOCK_X * TILE + tx;
    float acc = 0.0f;

    if (XG_BLOCK_Y * TILE >= p.m)
        return; /* a CTA past the end, where y was folded into z */
    const float *a = p.a + row * p.a_stride_m + tx, *b = p.b + ty * p.b_stride_k + col;
    float a_next = *a, b_next = *b;
    for (int64_t remaining = p.k; remaining > 0; remaining -= TILE) {
        __syncthreads(); /* the previous tiles are no longer read */
        a_tile[ty][tx] = a_next;
        b_tile[ty][tx] = b_next;
        __syncthreads();
        if (remaining > TILE) {
            a += TILE;
            b += TILE * p.b_stride_k;
            a_next = *a;
            b_next = *b;
        }
        XG_UNROLL
        for (int i = 0; i < TILE; i++)
            acc += a_tile[ty][i] * b_tile[i][tx];
    }
    p.c[row * p.c_stride_m + col] = acc;
}
