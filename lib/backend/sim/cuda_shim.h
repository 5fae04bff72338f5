/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a kernel of the dialect needs from CUDA, for a C compiler: the simulator
 * runs each thread of a block as a fiber, all on one thread of the host. The
 * kernels are compiled twice: as they are, and (XGEMM_SIM_TRACED) with every
 * load and store calling the hooks of trace_access.c.
 */
#ifndef XGEMM_SIM_CUDA_SHIM_H
#define XGEMM_SIM_CUDA_SHIM_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    unsigned x, y, z;
} xg_index3;

typedef struct __attribute__((aligned(16))) {
    float x, y, z, w;
} float4;
typedef struct __attribute__((aligned(8))) {
    float x, y;
} float2;
typedef struct __attribute__((aligned(8))) {
    unsigned x, y;
} uint2;
typedef struct __attribute__((aligned(16))) {
    unsigned x, y, z, w;
} uint4;
typedef struct __attribute__((aligned(16))) {
    double x, y;
} double2;

/*
 * Constant to the kernel; the scheduler sets them before a thread runs. In object files they have
 * our prefix: a program that links the static library may have such names of its own.
 */
#define XG_SIM_INDEX(name)                                                                         \
    extern const xg_index3 name __asm__("xg_sim_" #name) __attribute__((visibility("hidden")))
XG_SIM_INDEX(threadIdx);
XG_SIM_INDEX(blockIdx);
XG_SIM_INDEX(blockDim);
XG_SIM_INDEX(gridDim);

/*
 * One block runs at a time, so that its shared memory can be static: in a
 * section of its own, which the scheduler fills with NaN before each block.
 * AddressSanitizer guards only what is in none.
 */
#if defined(XGEMM_SIM_TRACED)
#define __shared__ static __attribute__((section("xg_shared_traced")))
#elif defined(__SANITIZE_ADDRESS__)
#define __shared__ static
#else
#define __shared__ static __attribute__((section("xg_shared_plain")))
#endif
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)

/*
 * Dynamic shared memory: the launch says how much of it a block has. Blocks of a cluster run
 * together: they may use no other shared memory, of which there is one for all of them.
 */
enum { XG_SIM_DYNAMIC_MAX = 227 * 1024 };
extern char *const xg_sim_dynamic __attribute__((visibility("hidden")));
#define XG_DYNAMIC_SHARED(type, name)                                                              \
    type *const name = (type *)__builtin_assume_aligned(xg_sim_dynamic, 1024)

/* Where the kernel's source is, for the sentences of a launch that fails. */
typedef struct {
    const char *file;
    int line;
} xg_sim_location;
#ifdef __FILE_NAME__
#define XG_SIM_FILE __FILE_NAME__
#else
#define XG_SIM_FILE __FILE__
#endif
#define XG_SIM_HERE                                                                                \
    __extension__({                                                                                \
        static const xg_sim_location xg_here = {XG_SIM_FILE, __LINE__};                            \
        &xg_here;                                                                                  \
    })
#define XG_SIM_API __attribute__((visibility("hidden")))

XG_SIM_API void xg_sim_syncthreads(const xg_sim_location *here);
#define __syncthreads() xg_sim_syncthreads(XG_SIM_HERE)

/*
 * Warp-level primitives. A value goes through the simulator's memory: all threads of the mask
 * write theirs, and each then reads the one that it asked for.
 */
XG_SIM_API void xg_sim_syncwarp(uint32_t mask, const xg_sim_location *here);
XG_SIM_API void xg_sim_shuffle(uint32_t mask, void *value, unsigned bytes, int from,
                               const xg_sim_location *here);
XG_SIM_API uint32_t xg_sim_ballot(uint32_t mask, int vote, const xg_sim_location *here);
XG_SIM_API uint32_t xg_sim_reduce(uint32_t mask, uint32_t value, int add,
                                  const xg_sim_location *here);
#define XG_SIM_LANE                                                                                \
    ((int)((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32))
#define XG_SIM_SHUFFLE_FROM(mask, value, from)                                                     \
    __extension__({                                                                                \
        __typeof__(1 ? (value) : (value)) xg_value = (value); /* no qualifiers */                  \
        xg_sim_shuffle(mask, &xg_value, sizeof xg_value, from, XG_SIM_HERE);                       \
        xg_value;                                                                                  \
    })
#define __syncwarp(...)                      xg_sim_syncwarp(XG_SIM_MASK(__VA_ARGS__), XG_SIM_HERE)
#define XG_SIM_MASK(...)                     ((uint32_t)(sizeof #__VA_ARGS__ == 1 ? 0xffffffffu : (__VA_ARGS__ + 0u)))
#define __shfl_sync(mask, value, lane)       XG_SIM_SHUFFLE_FROM(mask, value, (lane)&31)
#define __shfl_xor_sync(mask, value, bits)   XG_SIM_SHUFFLE_FROM(mask, value, XG_SIM_LANE ^ (bits))
#define __shfl_up_sync(mask, value, delta)   XG_SIM_SHUFFLE_FROM(mask, value, XG_SIM_LANE - (delta))
#define __shfl_down_sync(mask, value, delta) XG_SIM_SHUFFLE_FROM(mask, value, XG_SIM_LANE + (delta))
#define __ballot_sync(mask, vote)            xg_sim_ballot(mask, (vote) != 0, XG_SIM_HERE)
#define __any_sync(mask, vote)               (__ballot_sync(mask, vote) != 0)
#define __all_sync(mask, vote)               (__ballot_sync(mask, !(vote)) == 0)
#define __reduce_add_sync(mask, value)       xg_sim_reduce(mask, value, 1, XG_SIM_HERE)
#define __reduce_max_sync(mask, value)       xg_sim_reduce(mask, value, 0, XG_SIM_HERE)

/*
 * Accesses that are no plain load or store reach the trace by a call of their
 * own; without a trace there is none. trace-sites.awk puts in the site's number.
 */
enum {
    XG_SIM_READ,
    XG_SIM_WRITE,
    XG_SIM_ATOMIC,
    XG_SIM_ASYNC_WRITE,
    XG_SIM_BULK_READ,
    XG_SIM_BULK_WRITE
};
XG_SIM_API void xg_trace_access(const void *address, const void *site, int bytes, int kind);
#ifdef XGEMM_SIM_TRACED
#define XG_SIM_TRACE(address, bytes, kind) xg_trace_access(address, NULL, bytes, kind)
#else
#define XG_SIM_TRACE(address, bytes, kind) ((void)(address))
#endif

/* Tables of numbers, which the trace knows by their section. */
#define XG_SIM_TABLE static const __attribute__((section("xg_tables")))

/* Atomics: no two threads of the simulator run at once. */
#define XG_SIM_ATOMIC_TYPES(X)                                                                     \
    X(f32, float)                                                                                  \
    X(f64, double)                                                                                 \
    X(i32, int32_t)                                                                                \
    X(u32, uint32_t)                                                                               \
    X(u64, unsigned long long)
#define XG_SIM_ATOMIC_DECLARE(suffix, type)                                                        \
    XG_SIM_API type xg_sim_add_##suffix(type *at, type value);                                     \
    XG_SIM_API type xg_sim_min_##suffix(type *at, type value);                                     \
    XG_SIM_API type xg_sim_max_##suffix(type *at, type value);                                     \
    XG_SIM_API type xg_sim_exchange_##suffix(type *at, type value);                                \
    XG_SIM_API type xg_sim_swap_##suffix(type *at, type expected, type value);
XG_SIM_ATOMIC_TYPES(XG_SIM_ATOMIC_DECLARE)
#define XG_SIM_BY_TYPE(operation, at)                                                              \
    _Generic((at), float *                                                                         \
             : xg_sim_##operation##_f32, double *                                                  \
             : xg_sim_##operation##_f64, int32_t *                                                 \
             : xg_sim_##operation##_i32, uint32_t *                                                \
             : xg_sim_##operation##_u32, unsigned long long *                                      \
             : xg_sim_##operation##_u64)
#define XG_SIM_ATOMICALLY(operation, at, ...)                                                      \
    __extension__({                                                                                \
        __typeof__(at) xg_at = (at);                                                               \
        XG_SIM_TRACE(xg_at, sizeof *xg_at, XG_SIM_ATOMIC);                                         \
        XG_SIM_BY_TYPE(operation, xg_at)(xg_at, __VA_ARGS__);                                      \
    })
#define atomicAdd(at, value)           XG_SIM_ATOMICALLY(add, at, value)
#define atomicMin(at, value)           XG_SIM_ATOMICALLY(min, at, value)
#define atomicMax(at, value)           XG_SIM_ATOMICALLY(max, at, value)
#define atomicExch(at, value)          XG_SIM_ATOMICALLY(exchange, at, value)
#define atomicCAS(at, expected, value) XG_SIM_ATOMICALLY(swap, at, expected, value)
#define __threadfence()                ((void)0)
#define __threadfence_block()          ((void)0)

/* A float's bits, and back. */
typedef union {
    float value;
    unsigned bits;
} xg_sim_word;
#define xg_bits_of(x)        ((xg_sim_word){.value = (x)}.bits)
#define xg_float_of(pattern) ((xg_sim_word){.bits = (pattern)}.value)
typedef union {
    double value;
    long long bits;
} xg_sim_long_word;
#define xg_bits_of_double(x)  ((xg_sim_long_word){.value = (x)}.bits)
#define xg_double_of(pattern) ((xg_sim_long_word){.bits = (pattern)}.value)

/* FP16, two in a word. */
XG_SIM_API unsigned xg_sim_half2(float low, float high);
XG_SIM_API float xg_sim_half_value(unsigned half);
#define xg_half2(low, high) xg_sim_half2(low, high)
#define xg_half2_low(both)  xg_sim_half_value((both)&0xffff)
#define xg_half2_high(both) xg_sim_half_value((both) >> 16)

/* BF16, two in a word, and mma.sync of them; see families/common/ptx.h. */
XG_SIM_API unsigned xg_sim_bf16x2(float low, float high);
XG_SIM_API void xg_sim_mma_bf16(float *d, const uint32_t *a, const uint32_t *b, const float *c,
                                const xg_sim_location *here);
#define xg_bf16x2(low, high)    xg_sim_bf16x2(low, high)
#define xg_mma_bf16(d, a, b, c) xg_sim_mma_bf16(d, a, b, c, XG_SIM_HERE)

/* ldmatrix, and mma.sync of FP16 or BF16 that adds to d; see families/common/ptx_mma.h. */
XG_SIM_API void xg_sim_ldmatrix(uint32_t *to, const void *from, int transposed,
                                const xg_sim_location *here);
XG_SIM_API void xg_sim_mma_half(float *d, const uint32_t *a, const uint32_t *b, int bf16,
                                const xg_sim_location *here);

/* mma.sync in double precision, 4 or 8 of k. */
XG_SIM_API void xg_sim_mma_f64(double *d, const double *a, const double *b, int depth,
                               const xg_sim_location *here);
#define xg_mma_f64_k4(d, a, b) xg_sim_mma_f64(d, a, b, 4, XG_SIM_HERE)
#define xg_mma_f64_k8(d, a, b) xg_sim_mma_f64(d, a, b, 8, XG_SIM_HERE)

/* Asynchronous copies to shared memory: of "bytes" read, and zeros up to "whole". */
XG_SIM_API void xg_sim_copy_async(void *to, const void *from, unsigned whole, unsigned bytes);
XG_SIM_API void xg_sim_copy_commit(void);
XG_SIM_API void xg_sim_copy_wait(int groups_left);
#define XG_SIM_COPY_ASYNC(to, from, whole, bytes)                                                  \
    __extension__({                                                                                \
        void *const xg_to = (to);                                                                  \
        const void *const xg_from = (from);                                                        \
        const unsigned xg_bytes = (unsigned)(bytes);                                               \
        if (xg_bytes > 0)                                                                          \
            XG_SIM_TRACE(xg_from, xg_bytes, XG_SIM_READ);                                          \
        XG_SIM_TRACE(xg_to, whole, XG_SIM_ASYNC_WRITE);                                            \
        xg_sim_copy_async(xg_to, xg_from, whole, xg_bytes);                                        \
    })

/*
 * Begins the definition of a kernel's entry point, by which the scheduler calls it: all of them
 * have this one type, and copy the argument. An entry point is no part of the kernel: its own
 * accesses are not instrumented.
 */
#ifdef XGEMM_SIM_TRACED
#define XG_SIM_ENTRY_NAME(name) xg_traced_##name
#define XG_SIM_ARGUMENT_BYTES(name, bytes)
#else
#define XG_SIM_ENTRY_NAME(name) xg_simulated_##name
#define XG_SIM_ARGUMENT_BYTES(name, bytes)                                                         \
    XG_SIM_API extern const size_t xg_simulated_bytes_##name;                                      \
    const size_t xg_simulated_bytes_##name = (bytes);
#endif
#define XG_SIM_ENTRY(name)                                                                         \
    XG_SIM_API void XG_SIM_ENTRY_NAME(name)(const void *argument);                                 \
    __attribute__((no_sanitize("thread"), noinline)) void XG_SIM_ENTRY_NAME(name)(                 \
        const void *argument)

#endif
