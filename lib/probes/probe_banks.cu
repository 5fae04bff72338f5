/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probe_banks: reads shared memory with a stride between the threads of a warp.
 *
 * Idea: word w of shared memory is in bank w mod 32. With a stride of s words, gcd(s, 32) threads
 * access the same bank, and the request takes as many wavefronts. Stride 0 is a broadcast of one
 * word. Stride 32 reads a 32 × 32 tile down its columns, 33 the same with rows padded by a word.
 * Consecutive reads move all threads by one word, which changes the banks and no conflict.
 * Arguments: lane_stride from 0 to 33; "rounds" rounds of READS reads. After each round "move"
 * words are added to the address: 0, but unknown to the compiler, which so keeps all rounds.
 * Source: Jan Verschelde, Introduction to Supercomputing (lecture notes), "Memory Coalescing
 * Techniques": avoiding bank conflicts; CUDA C++ Best Practices Guide, "Shared Memory and Memory
 * Banks".
 */
#include "args.h"
#include "families/common/dialect.h"

#define THREADS 256
#define READS   32
#define WORDS   (31 * 33 + READS)

XG_KERNEL(__launch_bounds__(THREADS), probe_banks, xg_probe_args)
{
    __shared__ float words[WORDS];
    const int t = (int)threadIdx.x, move = (int)p.banks.move;
    int at = t % 32 * (int)p.banks.lane_stride;
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};

    for (int i = t; i < WORDS; i += THREADS)
        words[i] = (float)i;
    __syncthreads();
    for (int64_t left = p.banks.rounds; left > 0; left--) {
        XG_UNROLL
        for (int j = 0; j < READS; j++)
            sum[j % 4] += words[at + j];
        at += move;
    }
    sum[0] += sum[1] + sum[2] + sum[3];
    if (sum[0] == p.banks.never)
        p.c[0] = sum[0];
}
