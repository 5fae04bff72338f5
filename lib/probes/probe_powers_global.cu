/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probe_powers_global: thread t computes x_t, x_t^2, ..., x_t^n and stores each to global memory.
 *
 * Idea: the two orders of probe_powers_shared, without shared memory. With a thread's powers
 * contiguous, a warp's store touches up to 32 sectors; with equal powers contiguous, four.
 * Arguments: one value in a for each thread; thread t stores power l to
 * c[t * thread_stride + l * power_stride].
 * Source: Jan Verschelde, Introduction to Supercomputing (lecture notes), "Memory Coalescing
 * Techniques": consecutive powers.
 */
#include "args.h"
#include "families/common/dialect.h"

#define THREADS 128

XG_KERNEL(__launch_bounds__(THREADS), probe_powers_global, xg_probe_args)
{
    const int64_t t = XG_BLOCK_X * THREADS + threadIdx.x;

    if (t < p.powers.threads) {
        const float x = p.a[t];
        float *c = p.c + t * p.powers.thread_stride, power = 1.0f;
        for (int64_t l = 0; l < p.powers.powers; l++) {
            power *= x;
            *c = power;
            c += p.powers.power_stride;
        }
    }
}
