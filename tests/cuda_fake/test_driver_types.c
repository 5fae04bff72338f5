/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares lib/backend/cuda/driver.h, which is our own, with the cuda.h of a toolkit. */

/* Declares the old functions too; the names without suffix are theirs then. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include "../../bin/recorder_driver.h"
#include "backend/cuda/driver.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SAME_TYPE(member, symbol, parameters)                                                      \
    _Static_assert(                                                                                \
        __builtin_types_compatible_p(__typeof__(*((xg_cu *)0)->member), __typeof__(symbol)),       \
        #symbol " is declared otherwise in cuda.h");
XG_CU_FUNCTIONS(SAME_TYPE)
#undef SAME_TYPE

/* The utility's; unsigned, for which the library has a name. */
#define SAME_TYPE(member, symbol, parameters)                                                      \
    _Static_assert(__builtin_types_compatible_p(unsigned parameters, __typeof__(symbol)),          \
                   #symbol " is declared otherwise in cuda.h");
#if CUDA_VERSION >= 11040
RECORDER_FUNCTIONS(SAME_TYPE)
#endif
#undef SAME_TYPE

#define SAME_VALUE(name, value)                                                                    \
    _Static_assert((value) == (int)name && (value) == (int)RECORDER_##name,                        \
                   #name " has another value in cuda.h");
RECORDER_CONSTANTS(SAME_VALUE)
#undef SAME_VALUE

#define SAME_PLACE(ours, our_member, theirs, their_member)                                         \
    _Static_assert(offsetof(ours, our_member) == offsetof(theirs, their_member),                   \
                   #our_member " lies elsewhere in cuda.h");
#if CUDA_VERSION >= 12000
SAME_PLACE(xg_cu_launch_config, grid, CUlaunchConfig, gridDimX)
SAME_PLACE(xg_cu_launch_config, block, CUlaunchConfig, blockDimX)
SAME_PLACE(xg_cu_launch_config, shared_bytes, CUlaunchConfig, sharedMemBytes)
SAME_PLACE(xg_cu_launch_config, stream, CUlaunchConfig, hStream)
SAME_PLACE(xg_cu_launch_config, attributes, CUlaunchConfig, attrs)
SAME_PLACE(xg_cu_launch_config, count, CUlaunchConfig, numAttrs)
SAME_PLACE(xg_cu_attribute, value, CUlaunchAttribute, value)
SAME_PLACE(xg_cu_attribute, value.cluster, CUlaunchAttribute, value.clusterDim)
SAME_PLACE(xg_cu_attribute, value.allowed, CUlaunchAttribute,
           value.programmaticStreamSerializationAllowed)
_Static_assert(sizeof(xg_cu_attribute) == sizeof(CUlaunchAttribute) &&
                   sizeof(xg_cu_launch_config) == sizeof(CUlaunchConfig),
               "the launch's structs have another size in cuda.h");
_Static_assert(sizeof(xg_cu_tensor_map) == sizeof(CUtensorMap) &&
                   _Alignof(xg_cu_tensor_map) >= _Alignof(CUtensorMap),
               "a tensor map has another size, or begins elsewhere, in cuda.h");
#endif
SAME_PLACE(xg_cu_allocation, allocation_type, CUmemAllocationProp, type)
SAME_PLACE(xg_cu_allocation, handle_types, CUmemAllocationProp, requestedHandleTypes)
SAME_PLACE(xg_cu_allocation, location_type, CUmemAllocationProp, location.type)
SAME_PLACE(xg_cu_allocation, location, CUmemAllocationProp, location.id)
SAME_PLACE(xg_cu_access, location_type, CUmemAccessDesc, location.type)
SAME_PLACE(xg_cu_access, location, CUmemAccessDesc, location.id)
SAME_PLACE(xg_cu_access, access, CUmemAccessDesc, flags)
_Static_assert(sizeof(xg_cu_allocation) == sizeof(CUmemAllocationProp) &&
                   sizeof(xg_cu_access) == sizeof(CUmemAccessDesc) &&
                   sizeof(xg_cu_physical) == sizeof(CUmemGenericAllocationHandle),
               "what memory is mapped by has another size in cuda.h");
#undef SAME_PLACE

#define SAME_VALUE(name, value)                                                                    \
    _Static_assert((value) == (int)name && (value) == (int)XG_##name,                              \
                   #name " has another value in cuda.h");
XG_CU_CONSTANTS(SAME_VALUE)
#undef SAME_VALUE

int main(void)
{
    /* Not an assertion at compile time: clang takes no cast from a pointer there. */
    if (XG_CU_STREAM_LEGACY != (uintptr_t)CU_STREAM_LEGACY ||
        XG_CU_STREAM_PER_THREAD != (uintptr_t)CU_STREAM_PER_THREAD) {
        fputs("streams have other tokens in cuda.h\n", stderr);
        return 1;
    }
#define COUNT(...) +1
    printf("compared with cuda.h of CUDA %d.%d: %d functions, %d constants\n", CUDA_VERSION / 1000,
           CUDA_VERSION % 1000 / 10, 0 XG_CU_FUNCTIONS(COUNT) RECORDER_FUNCTIONS(COUNT),
           0 XG_CU_CONSTANTS(COUNT) RECORDER_CONSTANTS(COUNT));
    return 0;
}
