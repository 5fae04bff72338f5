/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares lib/cuda/driver.h, which is our own, with the cuda.h of a toolkit. */

/* Declares the old functions too; the names without suffix are theirs then. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include "cuda/driver.h"

#include <stddef.h>
#include <stdio.h>

#define SAME_TYPE(member, symbol, parameters)                                                      \
    _Static_assert(                                                                                \
        __builtin_types_compatible_p(__typeof__(*((xg_cu *)0)->member), __typeof__(symbol)),       \
        #symbol " is declared otherwise in cuda.h");
XG_CU_FUNCTIONS(SAME_TYPE)
#if CUDA_VERSION >= 11080
XG_CU_LATER_FUNCTIONS(SAME_TYPE)

#define SAME_PLACE(type, member, theirs, their_member)                                             \
    _Static_assert(offsetof(type, member) == offsetof(theirs, their_member),                       \
                   #their_member " lies elsewhere in cuda.h");
SAME_PLACE(xg_cu_launch_attribute, id, CUlaunchAttribute, id)
SAME_PLACE(xg_cu_launch_attribute, value.flag, CUlaunchAttribute,
           value.programmaticStreamSerializationAllowed)
SAME_PLACE(xg_cu_launch_config, grid_z, CUlaunchConfig, gridDimZ)
SAME_PLACE(xg_cu_launch_config, block_x, CUlaunchConfig, blockDimX)
SAME_PLACE(xg_cu_launch_config, shared_bytes, CUlaunchConfig, sharedMemBytes)
SAME_PLACE(xg_cu_launch_config, stream, CUlaunchConfig, hStream)
SAME_PLACE(xg_cu_launch_config, attributes, CUlaunchConfig, attrs)
SAME_PLACE(xg_cu_launch_config, attribute_count, CUlaunchConfig, numAttrs)
_Static_assert(sizeof(xg_cu_launch_attribute) == sizeof(CUlaunchAttribute) &&
                   sizeof(xg_cu_launch_config) == sizeof(CUlaunchConfig),
               "a launch's configuration has another size in cuda.h");
#undef SAME_PLACE
#endif
#undef SAME_TYPE

#define SAME_VALUE(name, value)                                                                    \
    _Static_assert((value) == (int)name && (value) == (int)XG_##name,                              \
                   #name " has another value in cuda.h");
XG_CU_CONSTANTS(SAME_VALUE)
#undef SAME_VALUE

int main(void)
{
#define COUNT(...) +1
    printf("compared with cuda.h of CUDA %d.%d: %d functions, %d constants\n", CUDA_VERSION / 1000,
           CUDA_VERSION % 1000 / 10, 0 XG_CU_FUNCTIONS(COUNT), 0 XG_CU_CONSTANTS(COUNT));
    return 0;
}
