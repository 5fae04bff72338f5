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
/* What is rare, and must not take registers from what is not. Static, its symbol would hold a hash
 * of the source's folder, and a build would not be reproducible. */
#define XG_DEVICE_APART extern "C" __device__ __noinline__
#define XG_UNROLL       _Pragma("unroll")
#define XG_UNROLL_BY(n) XG_PRAGMA(unroll n)
#define XG_PRAGMA(text) _Pragma(#text)
#define XG_SHARED16     __shared__ __align__(16)
/* The block's dynamic shared memory, whose size is the launch's; once in a kernel. */
#define XG_DYNAMIC_SHARED(type, name) extern __shared__ __align__(1024) type name[]
/* After a kernel's argument p: the maps of A and B, for xg_tile_copy() of ptx_sm90.h. */
#define XG_TILE_MAPS    , const __grid_constant__ xg_tile_maps maps
#define XG_MAP(operand) (&maps.operand)
typedef const xg_tile_map *xg_map;
#else
#include "backend/sim/cuda_shim.h"
#define XG_KERNEL       static __attribute__((noinline))
#define XG_DEVICE       static inline __attribute__((always_inline))
#define XG_DEVICE_APART static
#define XG_UNROLL
#define XG_UNROLL_BY(n)
#define XG_SHARED16 __shared__ __align__(16)
#define XG_TILE_MAPS
#define XG_MAP(operand) XG_SIM_MAP_##operand
#endif

/*
 * Indices of blocks. A grid's y ends at 65 535, so that a launch folds more
 * of them into z; blocks past the end of the matrix compute nothing.
 */
#define XG_BLOCK_X ((int64_t)blockIdx.x)
#define XG_BLOCK_Y ((int64_t)blockIdx.z * gridDim.y + blockIdx.y)

#define XG_MIN(a, b) ((a) < (b) ? (a) : (b))
#define XG_MAX(a, b) ((a) > (b) ? (a) : (b))

/* Of a kernel that splits k: which part of it; of one for batches: which matrix. */
#define XG_PART  ((int64_t)blockIdx.y)
#define XG_BATCH ((int64_t)blockIdx.z)

/* alpha * sum + beta * C, where beta = 0 never reads C. */
XG_DEVICE float xg_blend(float alpha, float sum, float beta, const float *c)
{
    return beta == 0.0f ? alpha * sum : alpha * sum + beta * *c;
}

/* The same, but C as it was where the sum is NaN, for sums that are found otherwise. */
XG_DEVICE float xg_blend_found(float alpha, float sum, float beta, const float *c)
{
    return sum == sum ? alpha * sum + beta * *c : *c;
}

/*
 * The sum over l < k of a[l * a_step] * b[l * b_step]. The loads of 16 steps are
 * issued together, to wait for memory once; a row-major A has a_step 1, and
 * offsets of 32 bits are computed independently of one another.
 */
XG_DEVICE float xg_dot(const float *a, int64_t a_step, const float *b, int64_t b_step, int64_t k)
{
    float sum = 0.0f;
    if (a_step == 1 && b_step < 1 << 26)
        for (const int step = (int)b_step; k >= 16; k -= 16) {
            XG_UNROLL
            for (int l = 0; l < 16; l++)
                sum += a[l] * b[l * step];
            a += 16;
            b += 16 * b_step;
        }
    for (; k > 0; k--) {
        sum += *a * *b;
        a += a_step;
        b += b_step;
    }
    return sum;
}

/*
 * Where thread t of a block loads in a tile of TILE_X × TILE_K, so that
 * neighbours read neighbouring addresses: along k when that is contiguous,
 * else along x (the rows of A, the columns of B).
 */
#define XG_TILE_X(k_contiguous, t, tile_x, tile_k)                                                 \
    ((k_contiguous) ? (t) / (tile_k) : (t) % (tile_x))
#define XG_TILE_K(k_contiguous, t, tile_x, tile_k)                                                 \
    ((k_contiguous) ? (t) % (tile_k) : (t) / (tile_x))

#endif
