/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a kernel of the dialect needs from CUDA, for clang: it has the language, and this header the
 * names that NVIDIA's headers give nvcc. The Makefile's rule for clang includes it before each
 * kernel, and no header of the CUDA toolkit is read. The simulator's counterpart is
 * backend/sim/cuda_shim.h.
 */
#ifndef XGEMM_CUDA_CLANG_SHIM_H
#define XGEMM_CUDA_CLANG_SHIM_H

#include <stddef.h>
#include <stdint.h>

#define __CUDACC__             1
#define __global__             __attribute__((global))
#define __device__             __attribute__((device))
#define __shared__             __attribute__((shared))
#define __constant__           __attribute__((constant))
#define __forceinline__        inline __attribute__((always_inline))
#define __noinline__           __attribute__((noinline))
#define __align__(bytes)       __attribute__((aligned(bytes)))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

/*
 * The address of a kernel's tensor maps where the launch has put them, by the parameter's name in
 * PTX: TMA takes no copy. clang learned of __grid_constant__ with version 20, and before it copies
 * a parameter to local memory whose address is taken.
 */
#define __grid_constant__
#define XG_TENSOR_MAPS_OF(kernel)                                                                  \
    XG_DEVICE const xg_tensor_maps *xg_tensor_maps_of_launch(void)                                 \
    {                                                                                              \
        const xg_tensor_maps *maps;                                                                \
        asm("{ .reg .b64 maps; mov.b64 maps, xg_" #kernel "_param_1; cvta.param.u64 %0, maps; }"   \
            : "=l"(maps));                                                                         \
        return maps;                                                                               \
    }

/* clang puts no hash into the names of static functions, and leaves out those that are not called.
 */
#define XG_DEVICE_NOINLINE static __device__ __noinline__

/* An array in local memory that is written before it is read: others are filled with zeros, byte by
 * byte, since accumulators are to be (-ftrivial-auto-var-init). */
#define XG_WRITTEN_FIRST __attribute__((uninitialized))

/* A function of this header. Overloads are in it alone; the dialect has none. */
#define XG_CLANG static __device__ __forceinline__

/* Vectors, whose loads and stores are one instruction by their alignment. */
struct __align__(8) float2
{
    float x, y;
};
struct __align__(16) float4
{
    float x, y, z, w;
};
struct __align__(8) uint2
{
    unsigned x, y;
};
struct __align__(16) uint4
{
    unsigned x, y, z, w;
};
struct __align__(16) double2
{
    double x, y;
};

/* The thread's place, from the special registers. */
struct xg_index3 {
    unsigned x, y, z;
};
#define XG_CLANG_INDEX(name, sreg)                                                                 \
    XG_CLANG xg_index3 name(void)                                                                  \
    {                                                                                              \
        return {(unsigned)__nvvm_read_ptx_sreg_##sreg##_x(),                                       \
                (unsigned)__nvvm_read_ptx_sreg_##sreg##_y(),                                       \
                (unsigned)__nvvm_read_ptx_sreg_##sreg##_z()};                                      \
    }
XG_CLANG_INDEX(xg_thread_index, tid)
XG_CLANG_INDEX(xg_block_index, ctaid)
XG_CLANG_INDEX(xg_block_size, ntid)
XG_CLANG_INDEX(xg_grid_size, nctaid)
#define threadIdx (xg_thread_index())
#define blockIdx  (xg_block_index())
#define blockDim  (xg_block_size())
#define gridDim   (xg_grid_size())
#define clock64() ((long long)__nvvm_read_ptx_sreg_clock64())

/* Warps. __syncthreads() is clang's own. */
enum { XG_CLANG_LAST_LANE = 31, XG_CLANG_FIRST_LANE = 0 };
XG_CLANG void __syncwarp(unsigned mask = ~0u)
{
    __nvvm_bar_warp_sync(mask);
}

#define XG_CLANG_SHUFFLE(name, mode, end)                                                          \
    XG_CLANG int name(unsigned mask, int x, int lane)                                              \
    {                                                                                              \
        return __nvvm_shfl_sync_##mode##_i32(mask, x, lane, end);                                  \
    }                                                                                              \
    XG_CLANG unsigned name(unsigned mask, unsigned x, int lane)                                    \
    {                                                                                              \
        return (unsigned)name(mask, (int)x, lane);                                                 \
    }                                                                                              \
    XG_CLANG float name(unsigned mask, float x, int lane)                                          \
    {                                                                                              \
        return __nvvm_shfl_sync_##mode##_f32(mask, x, lane, end);                                  \
    }
XG_CLANG_SHUFFLE(__shfl_sync, idx, XG_CLANG_LAST_LANE)
XG_CLANG_SHUFFLE(__shfl_xor_sync, bfly, XG_CLANG_LAST_LANE)
XG_CLANG_SHUFFLE(__shfl_down_sync, down, XG_CLANG_LAST_LANE)
XG_CLANG_SHUFFLE(__shfl_up_sync, up, XG_CLANG_FIRST_LANE)

#define __any_sync(mask, vote)         __nvvm_vote_any_sync(mask, vote)
#define __all_sync(mask, vote)         __nvvm_vote_all_sync(mask, vote)
#define __ballot_sync(mask, vote)      ((unsigned)__nvvm_vote_ballot_sync(mask, vote))
#define __reduce_add_sync(mask, value) ((unsigned)__nvvm_redux_sync_add((int)(value), mask))
#define __reduce_max_sync(mask, value) ((unsigned)__nvvm_redux_sync_umax((int)(value), mask))

/* Memory. */
#define __threadfence()             __nvvm_membar_gl()
#define XG_CLANG_SPACE(number, p)   ((__attribute__((address_space(number))) void *)(p))
#define __cvta_generic_to_shared(p) ((size_t)XG_CLANG_SPACE(3, (void *)(p)))
#define __cvta_shared_to_generic(p) ((void *)XG_CLANG_SPACE(3, (size_t)(p)))

XG_CLANG int atomicAdd(int *at, int x)
{
    return __nvvm_atom_add_gen_i(at, x);
}

XG_CLANG unsigned atomicAdd(unsigned *at, unsigned x)
{
    return (unsigned)__nvvm_atom_add_gen_i((int *)at, (int)x);
}

XG_CLANG unsigned long long atomicAdd(unsigned long long *at, unsigned long long x)
{
    return (unsigned long long)__nvvm_atom_add_gen_ll((long long *)at, (long long)x);
}

XG_CLANG int atomicMax(int *at, int x)
{
    return __nvvm_atom_max_gen_i(at, x);
}

XG_CLANG unsigned atomicMax(unsigned *at, unsigned x)
{
    return __nvvm_atom_max_gen_ui(at, x);
}

XG_CLANG int atomicMin(int *at, int x)
{
    return __nvvm_atom_min_gen_i(at, x);
}

XG_CLANG unsigned atomicMin(unsigned *at, unsigned x)
{
    return __nvvm_atom_min_gen_ui(at, x);
}

XG_CLANG void __stcs(float *to, float x)
{
    asm volatile("st.global.cs.f32 [%0], %1;" ::"l"(to), "f"(x) : "memory");
}

XG_CLANG void __stcs(float4 *to, float4 x)
{
    asm volatile("st.global.cs.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(x.x), "f"(x.y),
                 "f"(x.z), "f"(x.w)
                 : "memory");
}

/* Bits and numbers. */
#define __popc(x)               __builtin_popcount(x)
#define __ffs(x)                __builtin_ffs(x)
#define __float_as_uint(x)      __builtin_bit_cast(unsigned, (float)(x))
#define __uint_as_float(x)      __builtin_bit_cast(float, (unsigned)(x))
#define __double_as_longlong(x) __builtin_bit_cast(long long, (double)(x))
#define __longlong_as_double(x) __builtin_bit_cast(double, (long long)(x))
#define INFINITY                __builtin_inff()
#define NAN                     __builtin_nanf("")
#define fabsf(x)                __builtin_fabsf(x)
#define fmaxf(x, y)             __builtin_fmaxf(x, y)
#define fminf(x, y)             __builtin_fminf(x, y)
#define fabs(x)                 __builtin_fabs(x)
#define fmax(x, y)              __builtin_fmax(x, y)
#define floor(x)                __builtin_floor(x)
#define rint(x)                 __builtin_rint(x)
#define sqrt(x)                 __nvvm_sqrt_rn_d(x)
#define fmaf(x, y, z)           __builtin_fmaf(x, y, z)
#define fma(x, y, z)            __builtin_fma(x, y, z)
#define __fmul_rn(x, y)         __nvvm_mul_rn_f(x, y)
#define __dmul_rn(x, y)         __nvvm_mul_rn_d(x, y)

#include "clang_math.h"
#define exp(x)  xg_clang_exp(x)
#define erfc(x) xg_clang_erfc(x)

#endif
