/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernels take on each architecture they were compiled for. */
#include "resources.h"

#include "device/occupancy.h"
#include "families/resources.h"

#include <string.h>

#if !XGEMM_WITH_CUDA
const xg_record xg_records[] = {XG_LAST_RECORD};
#endif

static bool runs_on(const xg_record *r, int compute_capability)
{
    return r->only ? r->compute_capability == compute_capability
                   : r->compute_capability <= compute_capability;
}

/* The newest record that the device can run; NULL with *any, whether there are others. */
static const xg_record *find(const char *symbol, int compute_capability, bool *any)
{
    const xg_record *found = NULL;
    *any = false;
    for (const xg_record *r = xg_records; r->symbol; r++) {
        if (strcmp(r->symbol, symbol) != 0)
            continue;
        *any = true;
        if (runs_on(r, compute_capability) &&
            (!found || r->compute_capability > found->compute_capability))
            found = r;
    }
    return found;
}

static xgemm_status none(const xg_kernel *kernel, const xgemm_device *device, bool any,
                         xg_error *error)
{
    if (any)
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel \"%s\" was not compiled for compute capability %d.%d", kernel->name,
                       device->compute_capability / 10, device->compute_capability % 10);
    if (kernel->programs[0]->host)
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel \"%s\" runs on the CPU and takes nothing of a GPU", kernel->name);
    return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                   "no resources of kernel \"%s\" were recorded when this library was built%s",
                   kernel->name, XGEMM_WITH_CUDA ? "" : ", which was without CUDA");
}

/* The most warps whose registers a launch accepts, as threads. */
static int most_threads(const xgemm_device *device, int registers)
{
    int64_t allocated;
    int threads = device->threads_per_block;
    while (threads > 0 && xg_blocks_by_registers(device, threads, registers, &allocated) == 0)
        threads -= XG_WARP;
    return threads > 0 ? threads : 0;
}

xgemm_status xg_program_resources(const xg_kernel *kernel, const xg_program *program,
                                  const xgemm_device *device, xgemm_kernel_resources *result,
                                  xg_error *error)
{
    bool any;
    const size_t size = result->struct_size;
    const xg_record *r = find(program->symbol, device->compute_capability, &any);
    if (!r)
        return none(kernel, device, any, error);
    const xgemm_kernel_resources found = {
        .struct_size = size,
        .registers = r->registers,
        .shared_bytes = r->shared_bytes,
        .local_bytes = r->stack_bytes,
        .constant_bytes = r->constant_bytes,
        .max_threads = most_threads(device, r->registers),
        .binary_version = r->compute_capability,
    };
    memcpy(result, &found, size < sizeof found ? size : sizeof found);
    return XGEMM_OK;
}

static xgemm_status resources(const char *name, const xgemm_device *device,
                              xgemm_kernel_resources *result, xg_error *error)
{
    xgemm_device all;
    if (!name || !result)
        return xg_fail(error, XGEMM_ERROR_NULL_POINTER, "%s is NULL", name ? "resources" : "name");
    if (xg_size_check(result->struct_size, "xgemm_kernel_resources", error))
        return XGEMM_ERROR_INVALID_VALUE;
    const xg_kernel *kernel = xg_kernel_named(name);
    if (!kernel)
        return xg_kernel_unknown(name, NULL, error);
    const xgemm_status status = xg_device_complete(device, &all, error);
    return status ? status : xg_program_resources(kernel, kernel->programs[0], &all, result, error);
}

xgemm_status xgemm_kernel_resources_find(const char *name, const xgemm_device *device,
                                         xgemm_kernel_resources *result)
{
    const xgemm_status status = resources(name, device, result, xg_thread_error());
    if (status)
        xg_error_prefix(xg_thread_error(), __func__);
    return status;
}
