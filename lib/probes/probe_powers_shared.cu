/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probe_powers_shared: thread t computes x_t, x_t^2, ..., x_t^n and stores them to shared memory,
 * in the order that the arguments give.
 *
 * Idea: with a thread's powers contiguous, the threads of a warp store n words apart: for n = 32
 * all into one bank. With equal powers contiguous, or with rows padded by a word to an odd length,
 * each thread stores into a bank of its own. The tile then goes to global memory by coalesced
 * stores, without the padding.
 * Arguments: one value in a for each thread, THREADS for a CTA, and up to 32 powers of each. Thread
 * t stores power l to word t * thread_stride + l * power_stride of the CTA's tile, which has rows
 * of "row" words, row_stride apart, and is copied to c. Each round stores the same after a barrier.
 * Source: Jan Verschelde, Introduction to Supercomputing (lecture notes), "Memory Coalescing
 * Techniques": consecutive powers, stored without bank conflicts.
 */
#include "args.h"
#include "families/common/dialect.h"

#define THREADS 128
#define MOST    32

XG_KERNEL(__launch_bounds__(THREADS), probe_powers_shared, xg_probe_args)
{
    __shared__ float powers[THREADS * (MOST + 1)];
    const int t = (int)threadIdx.x, n = (int)p.powers.powers,
              power_stride = (int)p.powers.power_stride;
    const int width = (int)p.powers.row, row_stride = (int)p.powers.row_stride;
    const float x = p.a[XG_BLOCK_X * THREADS + t];
    float *mine = powers + t * (int)p.powers.thread_stride;
    float *c = p.c + XG_BLOCK_X * THREADS * n;

    for (int64_t left = p.powers.rounds; left > 0; left--) {
        float power = 1.0f;
        __syncthreads();
        for (int l = 0; l < n; l++) {
            power *= x;
            mine[l * power_stride] = power;
        }
    }
    __syncthreads();
    for (int i = t; i < THREADS * n; i += THREADS)
        c[i] = powers[i / width * row_stride + i % width];
}
