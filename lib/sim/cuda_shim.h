/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a kernel of the dialect needs from CUDA, for a C compiler: the simulator
 * runs each thread of a block as a fiber, all on one thread of the host. The
 * kernels are compiled twice: as they are, and (XGEMM_SIM_TRACED) with every
 * load and store calling the hooks of trace.c.
 */
#ifndef XGEMM_SIM_CUDA_SHIM_H
#define XGEMM_SIM_CUDA_SHIM_H

#include <math.h>
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
typedef struct __attribute__((aligned(16))) {
    double x, y;
} double2;

/* Constant to the kernel; the scheduler sets them before a thread goes on. */
extern const xg_index3 threadIdx __attribute__((visibility("hidden")));
extern const xg_index3 blockIdx __attribute__((visibility("hidden")));
extern const xg_index3 blockDim __attribute__((visibility("hidden")));
extern const xg_index3 gridDim __attribute__((visibility("hidden")));

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

__attribute__((visibility("hidden"))) void xg_sim_syncthreads(void);
#define __syncthreads() xg_sim_syncthreads()

/* The door to kernel xg_NAME for the scheduler, which knows nothing of its argument. */
#ifdef XGEMM_SIM_TRACED
#define XG_SIM_DOOR(name) xg_traced_##name
#else
#define XG_SIM_DOOR(name) xg_simulated_##name
#endif
#define XG_SIM_KERNEL(name)                                                                        \
    void XG_SIM_DOOR(name)(const void *args);                                                      \
    __attribute__((no_sanitize("thread"), noinline, visibility("hidden"))) void XG_SIM_DOOR(name)( \
        const void *args)                                                                          \
    {                                                                                              \
        xg_##name(*(const xg_args *)args);                                                         \
    }

#endif
