/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probe_copy: m floats copied, from a step and an offset that the launch gives.
 *
 * Idea: 32 neighbours share sectors of 32 bytes only as far as their addresses
 * do. An offset that is no multiple of 8 floats makes a warp's 128 bytes touch
 * five sectors instead of four; a step of s spreads it over up to s times as
 * many. A thread moves LOADS elements, all loaded before the first is stored,
 * so that it is the memory's speed that limits the copy and not its latency.
 * Arguments: m elements; a + a_stride_k the source and c the target, with steps
 * a_stride_m and c_stride_m.
 * Source: seed text 002 (row R14).
 */
#include "families/common/dialect.h"

#define THREADS 256
#define LOADS   8

XG_KERNEL
void __launch_bounds__(THREADS) xg_probe_copy(const xg_args p)
{
    const int64_t first = XG_BLOCK_X * (THREADS * LOADS) + threadIdx.x;
    float value[LOADS];

    XG_UNROLL
    for (int j = 0; j < LOADS; j++) {
        const int64_t i = first + j * THREADS;
        value[j] = i < p.m ? p.a[i * p.a_stride_m + p.a_stride_k] : 0.0f;
    }
    XG_UNROLL
    for (int j = 0; j < LOADS; j++) {
        const int64_t i = first + j * THREADS;
        if (i < p.m)
            p.c[i * p.c_stride_m] = value[j];
    }
}

#undef THREADS
#undef LOADS
