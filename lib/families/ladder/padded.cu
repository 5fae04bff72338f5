/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * padded: zero-padding to whole tiles instead of boundary checks.
 *
 * Idea: the other answer to sizes that are no multiple of the tile. A and B
 * are copied into a workspace whose sizes are multiples of 32, the rest zero
 * (pad.cu); this kernel multiplies whole tiles without a single comparison;
 * unpad.cu takes the wanted part of the padded product, with alpha and beta.
 * What the checks cost is so little that the copies cost more: padding pays
 * when one padded matrix serves many products.
 * Traffic: 8 OP/B, and the copies: 8 bytes for each element of A, B and C.
 * Source: seed texts 001 and 003 (row R9).
 */
#include "families/common/dialect.h"

#define TILE 32

/* All sizes are multiples of TILE; rows are contiguous; C is only written. */
XG_KERNEL void __launch_bounds__(TILE *TILE) xg_padded(const xg_args p)
{
    XG_SHARED16 float a_tile[TILE][TILE];
    XG_SHARED16 float b_tile[TILE][TILE];
    const int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
    const int64_t row = XG_BLOCK_Y * TILE + ty;
    const int64_t col = XG_BLOCK_X * TILE + tx;
    float sum = 0.0f;

    if (XG_BLOCK_Y * TILE >= p.m)
        return; /* a block of the grid's fold past its end: all of its threads leave */
    const float *a = p.a + row * p.a_stride_m + tx, *b = p.b + ty * p.b_stride_k + col;
    float a_next = *a, b_next = *b;
    for (int64_t left = p.k; left > 0; left -= TILE) {
        __syncthreads(); /* all are done with the tiles before */
        a_tile[ty][tx] = a_next;
        b_tile[ty][tx] = b_next;
        __syncthreads();
        if (left > TILE) {
            a += TILE;
            b += TILE * p.b_stride_k;
            a_next = *a;
            b_next = *b;
        }
        XG_UNROLL
        for (int i = 0; i < TILE; i++)
            sum += a_tile[ty][i] * b_tile[i][tx];
    }
    p.c[row * p.c_stride_m + col] = sum;
}

#undef TILE
