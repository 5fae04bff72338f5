/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pad: the m × n matrix A becomes the upper left part of C, which has k rows
 * and c_stride_m columns; the rest of C becomes zero.
 *
 * Reads along whichever of A's directions is contiguous go through a tile of
 * shared memory, so that loads and stores are both coalesced.
 */
#include "families/common/dialect.h"

#define TILE 32

XG_KERNEL void xg_pad(const xg_args p)
{
    __shared__ float tile[TILE][TILE + 1];
    const int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
    const int64_t row0 = XG_BLOCK_Y * TILE, col0 = XG_BLOCK_X * TILE;
    const int turned = p.a_stride_k != 1;

    for (int i = ty; i < TILE; i += (int)blockDim.y) {
        const int64_t row = row0 + (turned ? tx : i), col = col0 + (turned ? i : tx);
        const float value =
            row < p.m && col < p.n ? p.a[row * p.a_stride_m + col * p.a_stride_k] : 0.0f;
        if (turned)
            tile[tx][i] = value;
        else
            tile[i][tx] = value;
    }
    __syncthreads();
    for (int i = ty; i < TILE; i += (int)blockDim.y)
        if (row0 + i < p.k && col0 + tx < p.c_stride_m)
            p.c[(row0 + i) * p.c_stride_m + col0 + tx] = tile[i][tx];
}

#undef TILE
