/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack: copies A, B or both, MN-major and aligned to 16 bytes, as the pipelined kernels need them:
 * k rows of A's m (or B's n) elements, padded with zeros to the copy's stride. The grid's z is the
 * operand, or the product of a batch, of which a launch copies one operand.
 *
 * A K-major operand is transposed through shared memory, so that both reads and writes are
 * coalesced. Few registers, so that many loads are in flight at once.
 */
#include "args.h"
#include "families/common/dialect.h"
#include "families/common/ptx.h"

#define TILE_MN 64
#define TILE_K  32
#define THREADS 256
#define LOADS   (TILE_MN * TILE_K / THREADS)
#define WARPS   (THREADS / 32)

XG_KERNEL(__launch_bounds__(THREADS, 4), pack, xg_pack_args)
{
    __shared__ float tile[TILE_K][TILE_MN + 1];
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const int is_a = p.operands == 1 || (p.operands == 3 && blockIdx.z == 0);
    const int64_t stride_mn = is_a ? p.a_stride_m : p.b_stride_n,
                  stride_k = is_a ? p.a_stride_k : p.b_stride_k;
    const int64_t copy_stride = is_a ? p.a_copy_stride : p.b_copy_stride, x0 = XG_BLOCK_X * TILE_MN;
    const int width = (int)XG_MIN((is_a ? p.m : p.n) - x0, TILE_MN);
    const int padded_width = (int)XG_MIN(copy_stride - x0, TILE_MN);
    const int k_major = stride_k == 1;
    const int64_t product = p.operands == 3 ? 0 : XG_BATCH;

    xg_pdl_wait();
    xg_pdl_trigger();
    if (padded_width <= 0)
        return;
    for (int64_t l0 = (int64_t)blockIdx.y * TILE_K; l0 < p.k; l0 += (int64_t)gridDim.y * TILE_K) {
        const int64_t row_stride = k_major ? stride_mn : stride_k; /* of the rows that are read */
        const float *from =
            (is_a ? p.a + product * p.a_batch_stride : p.b + product * p.b_batch_stride) +
            x0 * stride_mn + l0 * stride_k + warp * row_stride + lane;
        float *to =
            (is_a ? p.a_copy : p.b_copy) + (product * p.k + l0 + warp) * copy_stride + x0 + lane;
        const int depth = (int)XG_MIN(p.k - l0, TILE_K);
        float value[LOADS];
        XG_UNROLL
        for (int i = 0; i < LOADS; i++) {
            /* A warp loads a row of a K-major tile, or half a row of an MN-major one. */
            const int x = k_major ? warp + i * WARPS : lane + i % 2 * 32;
            const int l = k_major ? lane : warp + i / 2 * WARPS;
            value[i] = x < width && l < depth ? from[k_major ? 0 : i % 2 * 32] : 0.0f;
            if (k_major || i % 2 == 1)
                from += WARPS * row_stride;
        }
        if (k_major) {
            __syncthreads();
            XG_UNROLL
            for (int i = 0; i < LOADS; i++)
                tile[lane][warp + i * WARPS] = value[i];
            __syncthreads();
            XG_UNROLL
            for (int i = 0; i < LOADS; i++)
                value[i] = tile[warp + i / 2 * WARPS][lane + i % 2 * 32];
        }
        XG_UNROLL
        for (int i = 0; i < LOADS; i++) {
            const int x = lane + i % 2 * 32, l = warp + i / 2 * WARPS;
            if (x < padded_width && l < depth)
                to[i % 2 * 32] = value[i];
            if (i % 2 == 1)
                to += WARPS * copy_stride;
        }
    }
}
