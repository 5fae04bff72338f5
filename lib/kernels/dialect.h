/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel dialect: CUDA C in the subset that both nvcc and a C compiler
 * take. No templates, overloads or references; tile sizes are macros; inline
 * PTX stands in ptx.h alone. A kernel file includes this header first, defines
 * one kernel named xg_<file name>, and undefines its macros at its end, since
 * the simulator compiles all kernel files as one unit.
 */
#ifndef XGEMM_KERNELS_DIALECT_H
#define XGEMM_KERNELS_DIALECT_H

#include "args.h"

#ifdef __CUDACC__
#define XG_KERNEL extern "C" __global__
#define XG_DEVICE static __device__ __forceinline__
#define XG_UNROLL _Pragma("unroll")
#define XG_SHARED16 __shared__ __align__(16)
#else
#include "sim/cuda_shim.h"
#define XG_KERNEL
#define XG_DEVICE static inline __attribute__((always_inline))
#define XG_UNROLL
#define XG_SHARED16 __shared__ __align__(16)
#endif

/*
 * Indices of blocks. A grid's y ends at 65 535, so that a launch folds more
 * of them into z; blocks past the end of the matrix compute nothing.
 */
#define XG_BLOCK_X ((int64_t)blockIdx.x)
#define XG_BLOCK_Y ((int64_t)blockIdx.z * gridDim.y + blockIdx.y)

#define XG_MIN(a, b) ((a) < (b) ? (a) : (b))

/* alpha * sum + beta * C, where beta = 0 never reads C. */
XG_DEVICE float xg_blend(float alpha, float sum, float beta, const float *c)
{
    return beta == 0.0f ? alpha * sum : alpha * sum + beta * *c;
}

/*
 * Where thread t of a block loads in a tile of TILE_X × TILE_K, so that
 * neighbours read neighbouring addresses: along k when that is contiguous,
 * else along x (the rows of A, the columns of B).
 */
#define XG_TILE_X(k_contiguous, t, tile_x, tile_k) ((k_contiguous) ? (t) / (tile_k) : (t) % (tile_x))
#define XG_TILE_K(k_contiguous, t, tile_x, tile_k) ((k_contiguous) ? (t) % (tile_k) : (t) / (tile_x))

#endif
