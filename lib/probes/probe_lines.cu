/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probe_lines: a matrix read line after line, the lines being its rows or its
 * columns.
 *
 * Idea: the threads of a block read neighbouring elements of one line. Where an
 * element's neighbour in the line is its neighbour in memory, a warp's 32 loads
 * are one request of four sectors; where it is a whole line away, 32 sectors are
 * moved for it.
 * Arguments: m lines of n elements; element j of line i is
 * a[i * a_stride_m + j * a_stride_k]. A sum that equals alpha is stored to c: alpha is
 * NaN, which nothing equals, so that the loads are needed and nothing is stored.
 * Source: seed text 002 (row R18).
 */
#include "families/common/dialect.h"

#define THREADS 256
#define LOADS   8

XG_KERNEL
void __launch_bounds__(THREADS) xg_probe_lines(const xg_args p)
{
    const int64_t line = XG_BLOCK_Y, first = XG_BLOCK_X * (THREADS * LOADS) + threadIdx.x;
    float value[LOADS], sum = 0.0f;

    XG_UNROLL
    for (int j = 0; j < LOADS; j++) {
        const int64_t i = first + j * THREADS;
        value[j] = line < p.m && i < p.n ? p.a[line * p.a_stride_m + i * p.a_stride_k] : 0.0f;
    }
    XG_UNROLL
    for (int j = 0; j < LOADS; j++)
        sum += value[j];
    if (sum == p.alpha)
        p.c[0] = sum;
}

#undef THREADS
#undef LOADS
