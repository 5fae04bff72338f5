/* SPDX-License-Identifier: BSD-3-Clause */
/* cublasDestroy_v2 and cublasLtDestroy: an xgemm handle ends with the handle that it was made for.
 */
#include "serve.h"
#include "states.h"

typedef int destroy_function(void *handle);

EXPORT destroy_function cublasDestroy_v2, cublasLtDestroy;

int cublasDestroy_v2(void *handle)
{
    static real_function real = {REAL_CUBLAS, "cublasDestroy_v2", NULL};
    states_forget(handle);
    PASS_ON(destroy_function, real, handle);
}

int cublasLtDestroy(void *handle)
{
    static real_function real = {REAL_CUBLASLT, "cublasLtDestroy", NULL};
    if (real_depth == 0) /* a cuBLAS handle, which may be one of cublasLt, goes on living */
        states_forget(handle);
    PASS_ON(destroy_function, real, handle);
}
