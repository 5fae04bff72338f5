/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probe_lines: reads a matrix row by row; its transpose, by exchanged strides, column by column.
 *
 * Idea: the threads of a CTA read consecutive elements of a row. Where these are contiguous, a
 * warp's 32 loads are one request of four sectors; where they are a leading dimension apart, 32
 * sectors are moved for it.
 * Arguments: element j of row i is a[i * row_stride + j * column_stride].
 * Source: Jan Verschelde, Introduction to Supercomputing (lecture notes), "Memory Coalescing
 * Techniques": row after row against column after column.
 */
#include "args.h"
#include "families/common/dialect.h"

#define THREADS 256
#define LOADS   8

XG_KERNEL(__launch_bounds__(THREADS), probe_lines, xg_probe_args)
{
    const int64_t row = XG_BLOCK_Y, first = XG_BLOCK_X * (THREADS * LOADS) + threadIdx.x;
    float value[LOADS], sum = 0.0f;

    XG_UNROLL
    for (int j = 0; j < LOADS; j++) {
        const int64_t i = first + j * THREADS;
        value[j] = row < p.lines.rows && i < p.lines.columns
                       ? p.a[row * p.lines.row_stride + i * p.lines.column_stride]
                       : 0.0f;
    }
    XG_UNROLL
    for (int j = 0; j < LOADS; j++)
        sum += value[j];
    if (sum == p.lines.never)
        p.c[0] = sum;
}
