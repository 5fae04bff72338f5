/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUDA C++ for a host's compiler: what a kernel of the user's own needs, so that libxgemm's
 * simulator can run it. It is included before the user's file (xgemm_trace_source(3)). Host code is
 * compiled too, and never runs: its calls of the runtime do nothing.
 */
#ifndef XGEMM_CUDA_DEVICE_H
#define XGEMM_CUDA_DEVICE_H

#include <cassert>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <type_traits>

#include "hooks.h"

#define __CUDACC__           1
#define __NVCC__             1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 4
#define CUDART_VERSION       12040
#define CUDA_VERSION         12040
#ifndef __CUDA_ARCH__
#define __CUDA_ARCH__ 900
#endif

#define __host__
#define __device__
#define __global__   __attribute__((noinline, used))
#define __constant__ __attribute__((used, section("xg_constant")))
#define __managed__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __align__(bytes)         __attribute__((aligned(bytes)))
#define __builtin_align__(bytes) __attribute__((aligned(bytes)))
#define CUDART_CB
#define CUDARTAPI

/*
 * All threads of a block run on one thread of the host, so that thread-local memory is the block's;
 * unlike static variables it has one name for arrays of a size known and not known.
 */
#define __shared__ thread_local

namespace xg
{

#define XG_INLINE        static inline __attribute__((always_inline))
#define XG_INLINE_MEMBER inline __attribute__((always_inline))

/* What alignas() takes: a type or a number. */
template <class T> constexpr size_t alignment()
{
    return alignof(T);
}
template <size_t bytes> constexpr size_t alignment()
{
    return bytes;
}

/* The line of a call: a default argument is evaluated where the call is. */
struct here : xg_source_location {
    XG_INLINE_MEMBER here(const char *name = __builtin_FILE(), int at = __builtin_LINE())
    {
        file = name;
        line = at;
    }
};

} // namespace xg

#include "runtime.h"
#include "vectors.h"
#include "indices.h"
#include "intrinsics.h"
#include "math.inc"
#include "atomics.h"
#include "warp.h"
#include "host.h"

#endif
