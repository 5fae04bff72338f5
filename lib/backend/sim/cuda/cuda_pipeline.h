/* SPDX-License-Identifier: BSD-3-Clause */
/* Asynchronous copies from global to shared memory, as cp.async. */
#ifndef XGEMM_CUDA_PIPELINE_H
#define XGEMM_CUDA_PIPELINE_H

#include "device.h"

XG_INLINE void __pipeline_memcpy_async(void *to, const void *from, size_t bytes, size_t zeros = 0)
{
    xg_access(from, (int)(bytes - zeros), XG_HOOK_READ, 0);
    xg_access(to, (int)bytes, XG_HOOK_ASYNC, 0);
    xg_copy_async(to, from, (unsigned)bytes, (unsigned)(bytes - zeros));
}
XG_INLINE void __pipeline_commit()
{
    xg_copy_commit();
}
XG_INLINE void __pipeline_wait_prior(int groups_left)
{
    xg_copy_wait(groups_left);
}

#endif
