/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a kernel of the dialect needs from CUDA, for a C compiler: the simulator
 * runs each thread of a block as a fiber, all on one thread of the host.
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

/* Constant to the kernel; the scheduler sets them before a thread goes on. */
extern const xg_index3 threadIdx __attribute__((visibility("hidden")));
extern const xg_index3 blockIdx __attribute__((visibility("hidden")));
extern const xg_index3 blockDim __attribute__((visibility("hidden")));
extern const xg_index3 gridDim __attribute__((visibility("hidden")));

/* One block runs at a time, so that its shared memory can be static. */
#define __shared__       static
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)

__attribute__((visibility("hidden"))) void xg_sim_syncthreads(void);
#define __syncthreads() xg_sim_syncthreads()

#endif
