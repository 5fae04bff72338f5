/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probe_powers_global: thread t computes x_t, x_t^2, ..., x_t^n and stores each
 * to memory as soon as it is there.
 *
 * Idea: the same two orders as in shared memory, and what they cost without it:
 * with a thread's powers one after the other, a warp's store touches up to 32
 * sectors; with equal powers side by side it touches four.
 * Arguments: m values in a, n powers of each; thread t's power l goes to
 * c[t * a_stride_m + l * a_stride_k].
 * Source: seed text 002 (row R17).
 */
#include "families/common/dialect.h"

#define THREADS 128

XG_KERNEL
void __launch_bounds__(THREADS) xg_probe_powers_global(const xg_args p)
{
    const int64_t t = XG_BLOCK_X * THREADS + threadIdx.x;

    if (t < p.m) {
        const float x = p.a[t];
        float *c = p.c + t * p.a_stride_m, power = 1.0f;
        for (int64_t l = 0; l < p.n; l++) {
            power *= x;
            *c = power;
            c += p.a_stride_k;
        }
    }
}

#undef THREADS
