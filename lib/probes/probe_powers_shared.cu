/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probe_powers_shared: thread t computes x_t, x_t^2, ..., x_t^n and puts them
 * into shared memory, in the order that the launch gives.
 *
 * Idea: with a thread's powers one after the other, the threads of a warp store
 * n words apart: for n = 32 all into one bank. With equal powers side by side,
 * or with a line's length made odd by a word of padding, every thread has a bank
 * of its own. Memory gets them in the same order, without the padding, by
 * coalesced stores.
 * Arguments: m values in a, of which a block takes THREADS, and n ≤ 32 powers
 * of each to c; thread t's power l is word t * a_stride_m + l * a_stride_k of the block's
 * tile, whose lines are b_stride_n words long and b_stride_k words apart. k rounds, each
 * after a barrier: what they store is the same.
 * Source: seed text 002 (row R17).
 */
#include "families/common/dialect.h"

#define THREADS 128
#define MOST    32

XG_KERNEL
void __launch_bounds__(THREADS) xg_probe_powers_shared(const xg_args p)
{
    __shared__ float powers[THREADS * (MOST + 1)];
    const int t = (int)threadIdx.x, n = (int)p.n, step = (int)p.a_stride_k;
    const int width = (int)p.b_stride_n, apart = (int)p.b_stride_k;
    const float x = p.a[XG_BLOCK_X * THREADS + t];
    float *mine = powers + t * (int)p.a_stride_m;
    float *c = p.c + XG_BLOCK_X * THREADS * n;

    for (int64_t left = p.k; left > 0; left--) {
        float power = 1.0f;
        __syncthreads();
        for (int l = 0; l < n; l++) {
            power *= x;
            mine[l * step] = power;
        }
    }
    __syncthreads();
    for (int i = t; i < THREADS * n; i += THREADS)
        c[i] = powers[i / width * apart + i % width];
}

#undef THREADS
#undef MOST
