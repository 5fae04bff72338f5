/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probe_banks: shared memory read with a step between the threads of a warp.
 *
 * Idea: word w of shared memory is in bank w mod 32. Threads a step of s words
 * apart meet in the same bank gcd(s, 32) at a time, and the request is served in
 * as many passes; a step of 0 is one word for all, which is broadcast. A step of
 * 32 is a 32 × 32 tile read down its columns, 33 the same with rows padded by a
 * word. The reads that follow one another move all threads by one word, which
 * changes banks and not how they conflict.
 * Arguments: a_stride_m the step, 0 ... 33; k rounds of READS reads, with b_stride_n words
 * added after each: it is 0, but the compiler cannot know that the next round
 * reads the same. A sum that equals alpha, which is NaN, is stored to c.
 * Source: seed text 002 (row R16).
 */
#include "families/common/dialect.h"

#define THREADS 256
#define READS   32
#define WORDS   (31 * 33 + READS)

XG_KERNEL
void __launch_bounds__(THREADS) xg_probe_banks(const xg_args p)
{
    __shared__ float words[WORDS];
    const int t = (int)threadIdx.x, move = (int)p.b_stride_n;
    int at = t % 32 * (int)p.a_stride_m;
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};

    for (int i = t; i < WORDS; i += THREADS)
        words[i] = (float)i;
    __syncthreads();
    for (int64_t left = p.k; left > 0; left--) {
        XG_UNROLL
        for (int j = 0; j < READS; j++)
            sum[j % 4] += words[at + j];
        at += move;
    }
    sum[0] += sum[1] + sum[2] + sum[3];
    if (sum[0] == p.alpha)
        p.c[0] = sum[0];
}

#undef THREADS
#undef READS
#undef WORDS
