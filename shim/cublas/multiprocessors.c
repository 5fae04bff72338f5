/* SPDX-License-Identifier: BSD-3-Clause */
/* cublasSetSmCountTarget: how many multiprocessors a handle's products may take; libxgemm takes
 * all. */
#include "serve.h"

typedef int target_setter(void *handle, int count);
typedef int target_getter(void *handle, int *count);

EXPORT target_setter cublasSetSmCountTarget;

/* Whether any handle had a target. The handles of most programs have none, and are not asked. */
static _Atomic bool some_have_targets;

int cublasSetSmCountTarget(void *handle, int count)
{
    static real_function real = {REAL_CUBLAS, "cublasSetSmCountTarget", NULL};
    if (count != 0)
        some_have_targets = true;
    PASS_ON(target_setter, real, handle, count);
}

bool takes_all_multiprocessors(void *handle)
{
    static real_function real = {REAL_CUBLAS, "cublasGetSmCountTarget", NULL};
    int count;
    if (!atomic_load_explicit(&some_have_targets, memory_order_relaxed))
        return true;
    target_getter *const get = REAL(target_getter, &real);
    return get && get(handle, &count) == 0 && count == 0;
}
