/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack: copies A, B or both to where the pipelined kernels read them at 16 bytes
 * a time: k lines each, of A's rows or B's columns side by side, c_stride_m floats
 * apart for A and c_batch for B, of which those past the matrix become zero.
 * A's copy begins at C, B's at C + a_batch. k_part says which: 1 for A, 2 for B,
 * 3 for both, one after the other along the grid's z. Of a batch, one operand: z is
 * the product, whose A begins at A + z * a_batch (a copy of B alone: at B + z * b_batch)
 * and whose copy follows the one before.
 *
 * Where k is contiguous, a block turns tiles in shared memory, so that it reads and
 * writes whole lines; few registers, so that many loads are on their way at once.
 */
#include "families/common/dialect.h"
#include "families/common/ptx.h"

#define WIDE    64
#define DEEP    32
#define THREADS 256
#define EACH    (WIDE * DEEP / THREADS)
#define WARPS   (THREADS / 32)

XG_KERNEL
void __launch_bounds__(THREADS, 4) xg_pack(const xg_args p)
{
    __shared__ float tile[DEEP][WIDE + 1];
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const int is_a = p.k_part == 1 || (p.k_part == 3 && blockIdx.z == 0);
    const int64_t x_step = is_a ? p.a_stride_m : p.b_stride_n,
                  l_step = is_a ? p.a_stride_k : p.b_stride_k;
    const int64_t line = is_a ? p.c_stride_m : p.c_batch, x0 = XG_BLOCK_X * WIDE;
    const int width = (int)XG_MIN((is_a ? p.m : p.n) - x0, WIDE);
    const int kept = (int)XG_MIN(line - x0, WIDE);
    const int along_k = l_step == 1;
    const int64_t product = p.k_part == 3 ? 0 : XG_BATCH;

    xg_grid_wait();
    xg_grid_release();
    if (kept <= 0)
        return;
    for (int64_t l0 = (int64_t)blockIdx.y * DEEP; l0 < p.k; l0 += (int64_t)gridDim.y * DEEP) {
        const int64_t apart =
            along_k ? x_step : l_step; /* from one line that is read to the next */
        const float *from = (is_a ? p.a + product * p.a_batch : p.b + product * p.b_batch) +
                            x0 * x_step + l0 * l_step + warp * apart + lane;
        float *to = (is_a ? p.c : p.c + p.a_batch) + (product * p.k + l0 + warp) * line + x0 + lane;
        const int depth = (int)XG_MIN(p.k - l0, DEEP);
        float value[EACH];
        XG_UNROLL
        for (int i = 0; i < EACH; i++) {
            /* Along k a warp takes a line of X at a time, else half a line of the copy. */
            const int x = along_k ? warp + i * WARPS : lane + i % 2 * 32;
            const int l = along_k ? lane : warp + i / 2 * WARPS;
            value[i] = x < width && l < depth ? from[along_k ? 0 : i % 2 * 32] : 0.0f;
            if (along_k || i % 2 == 1)
                from += WARPS * apart;
        }
        if (along_k) {
            __syncthreads();
            XG_UNROLL
            for (int i = 0; i < EACH; i++)
                tile[lane][warp + i * WARPS] = value[i];
            __syncthreads();
            XG_UNROLL
            for (int i = 0; i < EACH; i++)
                value[i] = tile[warp + i / 2 * WARPS][lane + i % 2 * 32];
        }
        XG_UNROLL
        for (int i = 0; i < EACH; i++) {
            const int x = lane + i % 2 * 32, l = warp + i / 2 * WARPS;
            if (x < kept && l < depth)
                to[i % 2 * 32] = value[i];
            if (i % 2 == 1)
                to += WARPS * line;
        }
    }
}

#undef WIDE
#undef DEEP
#undef THREADS
#undef EACH
#undef WARPS
