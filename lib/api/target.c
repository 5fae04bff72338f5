/* SPDX-License-Identifier: BSD-3-Clause */
#include "target.h"

#include "backend/sim/simulator.h"

#include <stdio.h>

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
    char device[sizeof gpu->name + 16];
    snprintf(device, sizeof device, "the device \"%s\"", gpu->name);
    if (kernel->programs[0]->host)
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel %s is for the CPU, and the device is \"%s\"", kernel->name,
                       gpu->name);
    return xg_kernel_check_device(kernel, gpu->compute_capability, gpu->shared_per_block, device,
                                  error);
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
