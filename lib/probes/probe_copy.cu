/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probe_copy: copies floats with a stride and an offset.
 *
 * Idea: with an offset that is no multiple of 8 floats, a warp's 128 bytes touch five 32-byte
 * sectors instead of four; with a stride of s, up to s times as many. A thread loads LOADS elements
 * before it stores the first, so that bandwidth limits the copy, and not latency.
 * Arguments: element i of a, at i * from_stride + from_offset, goes to c[i * to_stride].
 * Source: CUDA C++ Best Practices Guide, "A Sequential but Misaligned Access Pattern" and
 * "Strided Accesses"; Jan Verschelde, Introduction to Supercomputing (lecture notes), "Memory
 * Coalescing Techniques": copyKernel.
 */
#include "args.h"
#include "families/common/dialect.h"

#define THREADS 256
#define LOADS   8

XG_KERNEL(__launch_bounds__(THREADS), probe_copy, xg_probe_args)
{
    const int64_t first = XG_BLOCK_X * (THREADS * LOADS) + threadIdx.x;
    float value[LOADS];

    XG_UNROLL
    for (int j = 0; j < LOADS; j++) {
        const int64_t i = first + j * THREADS;
        value[j] = i < p.copy.count ? p.a[i * p.copy.from_stride + p.copy.from_offset] : 0.0f;
    }
    XG_UNROLL
    for (int j = 0; j < LOADS; j++) {
        const int64_t i = first + j * THREADS;
        if (i < p.copy.count)
            p.c[i * p.copy.to_stride] = value[j];
    }
}
