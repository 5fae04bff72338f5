/* SPDX-License-Identifier: BSD-3-Clause */
#include "target.h"

#include "backend/sim/simulator.h"

enum { OLDEST = 80 }; /* the compute capability that the kernels are compiled for */

bool xg_is_older_gpu(const xgemm_device *gpu)
{
    return gpu->compute_capability < OLDEST;
}

/* What a plan needs of it. */
static xgemm_status check_gpu(const xgemm_device *gpu, xg_error *error)
{
    if (gpu->multiprocessors < 1)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "the device \"%s\" has %d multiprocessors; a plan needs their number",
                       gpu->name, gpu->multiprocessors);
    if (xg_is_older_gpu(gpu))
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "the device \"%s\" has compute capability %d.%d; the kernels need at least "
                       "%d.%d",
                       gpu->name, gpu->compute_capability / 10, gpu->compute_capability % 10,
                       OLDEST / 10, OLDEST % 10);
    return XGEMM_OK;
}

xgemm_status xg_target_check_kernel(const xgemm_device *gpu, const xg_kernel *kernel,
                                    xg_error *error)
{
    const int wanted = kernel->programs[0]->compute_capability;
    if (wanted && wanted != gpu->compute_capability)
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel %s is for compute capability %d.%d alone, and the device \"%s\" has "
                       "%d.%d",
                       kernel->name, wanted / 10, wanted % 10, gpu->name,
                       gpu->compute_capability / 10, gpu->compute_capability % 10);
    if (kernel->programs[0]->host)
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel %s is for the CPU, and the device is \"%s\"", kernel->name,
                       gpu->name);
    const int64_t shared = xg_kernel_shared_bytes(kernel);
    if (!wanted && gpu->shared_per_block > 0 && shared > gpu->shared_per_block)
        return xg_fail(
            error, XGEMM_ERROR_NOT_SUPPORTED,
            "kernel %s needs up to %lld bytes of shared memory for a block, and the device "
            "\"%s\" has %lld",
            kernel->name, (long long)shared, gpu->name, (long long)gpu->shared_per_block);
    return XGEMM_OK;
}

xgemm_status xg_target_of_gpu(const xgemm_device *gpu, const xg_kernel *kernel, xg_target *to,
                              xg_costs *scaled, xg_error *error)
{
    xgemm_status status = check_gpu(gpu, error);
    if (!status && kernel)
        status = xg_target_check_kernel(gpu, kernel, error);
    if (status)
        return status;
    *to = xg_target_of(&xg_backend_sim, NULL, gpu, scaled);
    to->shared_per_block = gpu->shared_per_block;
    to->multiprocessors = gpu->multiprocessors;
    to->compute_capability = gpu->compute_capability;
    return XGEMM_OK;
}
