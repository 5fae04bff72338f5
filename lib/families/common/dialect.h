/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel dialect: CUDA C in the subset that both nvcc and a C compiler take. No templates,
 * overloads or references; tile sizes are macros; inline PTX only in ptx*.h, convert.h and load.h.
 * A kernel file is a unit that defines one kernel, named as the file.
 *
 * XG_KERNEL(bounds, name, type) begins the definition of kernel xg_<name>, whose argument is a
 * "type" called p; bounds is __launch_bounds__(...) or empty. For the simulator it also defines an
 * entry point, which takes the argument as bytes. XG_KERNEL_WITH_TENSOR_MAPS is for kernels that
 * also take tensor maps of A, B and C.
 */
#ifndef XGEMM_KERNELS_DIALECT_H
#define XGEMM_KERNELS_DIALECT_H

#include "args.h"

#ifdef __CUDACC__
#define XG_KERNEL(bounds, name, type)  XG_KERNEL_(bounds, name, type)
#define XG_KERNEL_(bounds, name, type) extern "C" __global__ void bounds xg_##name(const type p)
#define XG_KERNEL_WITH_TENSOR_MAPS(bounds, name, type)                                             \
    XG_KERNEL_WITH_TENSOR_MAPS_(bounds, name, type)
#define XG_KERNEL_WITH_TENSOR_MAPS_(bounds, name, type)                                            \
    XG_TENSOR_MAPS_OF(name)                                                                        \
    extern "C" __global__ void bounds xg_##name(const type p,                                      \
                                                const __grid_constant__ xg_tensor_maps maps)
#define XG_DEVICE static __device__ __forceinline__
/* For rare code, which must not raise the register count of the rest. Not static: nvcc would put a
 * hash of the source's folder into the symbol, and builds would not be reproducible. */
#ifndef XG_DEVICE_NOINLINE /* backend/cuda/clang_shim.h */
#define XG_DEVICE_NOINLINE extern "C" __device__ __noinline__
#endif
#define XG_UNROLL _Pragma("unroll")
/* A table of numbers: "XG_TABLE int primes[2] = {2, 3};". Not static: see above. */
#define XG_TABLE        __constant__
#define XG_UNROLL_BY(n) XG_PRAGMA(unroll n)
#define XG_PRAGMA(text) _Pragma(#text)
#define XG_SHARED16     __shared__ __align__(16)
/* The CTA's dynamic shared memory, of the size that the launch gives; once in a kernel. */
#define XG_DYNAMIC_SHARED(type, name) extern __shared__ __align__(1024) type name[]
/*
 * sum = x * y + sum, rounded once, for main loops: a fused multiply-add by -fmad=true. Written as
 * fmaf() it makes nvcc allocate the registers of pipelined-128x128 otherwise, with more moves.
 */
#define XG_ADD_PRODUCT(sum, x, y) ((void)((sum) += (x) * (y)))
/* The tensor map of a, b or c, for TMA: ptx_sm90.h. */
#ifdef XG_TENSOR_MAPS_OF /* backend/cuda/clang_shim.h */
#define XG_TENSOR_MAP(operand) (&xg_tensor_maps_of_launch()->operand)
#else
#define XG_TENSOR_MAPS_OF(name)
#define XG_TENSOR_MAP(operand) (&maps.operand)
#endif
typedef const xg_tensor_map *xg_tensor_map_ref;
#else
#define XG_KERNEL(bounds, name, type) XG_KERNEL_(name, type)
#define XG_KERNEL_(name, type)                                                                     \
    static void xg_##name(const type p);                                                           \
    XG_SIM_ARGUMENT_BYTES(name, sizeof(type))                                                      \
    XG_SIM_ENTRY(name)                                                                             \
    {                                                                                              \
        xg_##name(*(const type *)argument);                                                        \
    }                                                                                              \
    static __attribute__((noinline)) void xg_##name(const type p)
#define XG_KERNEL_WITH_TENSOR_MAPS XG_KERNEL
#define XG_DEVICE                  static inline __attribute__((always_inline))
#define XG_DEVICE_NOINLINE         static
#define XG_TABLE                   XG_SIM_TABLE
#define XG_UNROLL
#define XG_UNROLL_BY(n)
#define __fmul_rn(x, y)           ((x) * (y))
#define __dmul_rn(x, y)           ((x) * (y))
#define XG_ADD_PRODUCT(sum, x, y) ((void)((sum) = fmaf(x, y, sum)))
#define XG_SHARED16               __shared__ __align__(16)
#define XG_TENSOR_MAP(operand)    XG_SIM_MAP_##operand
#endif

/* Of an array in local memory that is written before it is read. */
#ifndef XG_WRITTEN_FIRST /* backend/cuda/clang_shim.h */
#define XG_WRITTEN_FIRST
#endif

/*
 * The CTA's index along x and y. A grid's y ends at 65535, so a launch folds a larger y into z;
 * CTAs past the end of the matrix compute nothing.
 */
#define XG_BLOCK_X ((int64_t)blockIdx.x)
#define XG_BLOCK_Y ((int64_t)blockIdx.z * gridDim.y + blockIdx.y)

/*
 * One of two elements of an array. By value: of "condition ? x[i] : x[j]" clang makes an array in
 * local memory with an index that is not constant.
 */
XG_DEVICE float xg_select(int condition, float x, float y)
{
    return condition ? x : y;
}

XG_DEVICE unsigned xg_select_bits(int condition, unsigned x, unsigned y)
{
    return condition ? x : y;
}

#define XG_MIN(a, b) ((a) < (b) ? (a) : (b))
#define XG_MAX(a, b) ((a) > (b) ? (a) : (b))

/* The CTA's split of split-K, and its product of a batch. */
#define XG_SPLIT ((int64_t)blockIdx.y)
#define XG_BATCH ((int64_t)blockIdx.z)

/*
 * The dot product of a[l * a_stride] and b[l * b_stride], l < k. Unrolled by 16 where A is K-major,
 * so that 32 loads are in flight at once; with 32-bit offsets, none of which depends on another.
 */
XG_DEVICE float xg_dot(const float *a, int64_t a_stride, const float *b, int64_t b_stride,
                       int64_t k)
{
    float acc = 0.0f;
    if (a_stride == 1 && b_stride < 1 << 26)
        for (const int stride = (int)b_stride; k >= 16; k -= 16) {
            XG_UNROLL
            for (int l = 0; l < 16; l++)
                acc += a[l] * b[l * stride];
            a += 16;
            b += 16 * b_stride;
        }
    for (; k > 0; k--) {
        acc += *a * *b;
        a += a_stride;
        b += b_stride;
    }
    return acc;
}

/*
 * The element that thread t loads of a tile_mn x tile_k tile: its row of A (or column of B), and
 * its k. Consecutive threads load consecutive addresses, of a K-major operand or an MN-major one.
 */
#define XG_TILE_MN(k_major, t, tile_mn, tile_k) ((k_major) ? (t) / (tile_k) : (t) % (tile_mn))
#define XG_TILE_K(k_major, t, tile_mn, tile_k)  ((k_major) ? (t) % (tile_k) : (t) / (tile_mn))

#endif
