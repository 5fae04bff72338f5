/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pad: copies a matrix into the upper left corner of a larger one and zero-fills the rest.
 *
 * A column-major matrix is transposed through shared memory, so that both loads and stores are
 * coalesced.
 */
#include "args.h"
#include "families/common/dialect.h"

#define TILE 32

XG_KERNEL(, pad, xg_pad_args)
{
    __shared__ float tile[TILE][TILE + 1];
    const int tx = (int)threadIdx.x, ty = (int)threadIdx.y;
    const int64_t row0 = XG_BLOCK_Y * TILE, col0 = XG_BLOCK_X * TILE;
    const int transpose = p.from_column_stride != 1;

    for (int i = ty; i < TILE; i += (int)blockDim.y) {
        const int64_t row = row0 + (transpose ? tx : i), col = col0 + (transpose ? i : tx);
        const float value = row < p.rows && col < p.columns
                                ? p.from[row * p.from_row_stride + col * p.from_column_stride]
                                : 0.0f;
        if (transpose)
            tile[tx][i] = value;
        else
            tile[i][tx] = value;
    }
    __syncthreads();
    for (int i = ty; i < TILE; i += (int)blockDim.y)
        if (row0 + i < p.to_rows && col0 + tx < p.to_columns)
            p.to[(row0 + i) * p.to_columns + col0 + tx] = tile[i][tx];
}
