/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack: copies A, B or both to where the pipelined kernels read them at 16 bytes
 * a time: k lines each, of A's rows or B's columns side by side, c_row floats
 * apart for A and c_batch for B, of which those past the matrix become zero.
 * A's copy begins at C, B's at C + a_batch. k_part says which: 1 for A, 2 for B,
 * 3 for both, one after the other along the grid's z.
 *
 * A block turns tiles of 64 × 64 in shared memory, so that it reads along whichever
 * direction is contiguous and writes whole lines.
 */
#include "dialect.h"

#define TILE    64
#define THREADS 256
#define EACH    (TILE * TILE / THREADS)

XG_KERNEL
void __launch_bounds__(THREADS, 2) xg_pack(const xg_args p)
{
    __shared__ float tile[TILE][TILE + 1];
    const int t = (int)threadIdx.x;
    const int is_a = p.k_part != 2 && blockIdx.z == 0;
    const float *const from = is_a ? p.a : p.b;
    float *const to = is_a ? p.c : p.c + p.a_batch;
    const int64_t x_step = is_a ? p.a_row : p.b_col, l_step = is_a ? p.a_col : p.b_row;
    const int64_t width = is_a ? p.m : p.n, line = is_a ? p.c_row : p.c_batch;
    const int64_t x0 = XG_BLOCK_X * TILE;
    const int along_k = l_step == 1;

    if (x0 >= line)
        return;
    for (int64_t l0 = (int64_t)blockIdx.y * TILE; l0 < p.k; l0 += (int64_t)gridDim.y * TILE) {
        float value[EACH];
        XG_UNROLL
        for (int i = 0; i < EACH; i++) {
            const int slow = t / TILE + i * (THREADS / TILE), fast = t % TILE;
            const int64_t x = x0 + (along_k ? slow : fast), l = l0 + (along_k ? fast : slow);
            value[i] = x < width && l < p.k ? from[x * x_step + l * l_step] : 0.0f;
        }
        __syncthreads();
        XG_UNROLL
        for (int i = 0; i < EACH; i++) {
            const int slow = t / TILE + i * (THREADS / TILE), fast = t % TILE;
            tile[along_k ? fast : slow][along_k ? slow : fast] = value[i];
        }
        __syncthreads();
        XG_UNROLL
        for (int i = 0; i < EACH / 4; i++) {
            const int row = t / (TILE / 4) + i * (THREADS / (TILE / 4)), col = t % (TILE / 4) * 4;
            const float4 four = {tile[row][col], tile[row][col + 1], tile[row][col + 2],
                                 tile[row][col + 3]};
            if (l0 + row < p.k && x0 + col < line)
                *(float4 *)&to[(l0 + row) * line + x0 + col] = four;
        }
    }
}

#undef TILE
#undef THREADS
#undef EACH
