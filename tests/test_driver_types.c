/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares lib/cuda/driver.h, which is our own, with the cuda.h of a toolkit. */

/* Declares the old functions too; the names without suffix are theirs then. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include "cuda/driver.h"

#include <stdio.h>

#define SAME_TYPE(member, symbol, parameters)                                                      \
    _Static_assert(                                                                                \
        __builtin_types_compatible_p(__typeof__(*((xg_cu *)0)->member), __typeof__(symbol)),       \
        #symbol " is declared otherwise in cuda.h");
XG_CU_FUNCTIONS(SAME_TYPE)
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
