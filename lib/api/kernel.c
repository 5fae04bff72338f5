/* SPDX-License-Identifier: BSD-3-Clause */
/* The public table of kernels. */
#include "families/kernels.h"

#include <string.h>

int xgemm_kernel_count(void)
{
    return XG_KERNEL_COUNT;
}

static unsigned runs_on(const xg_program *program)
{
    return (xg_backend_cuda.can_run(program) ? XGEMM_RUNS_ON_CUDA : 0u) |
           (xg_backend_sim.can_run(program) ? XGEMM_RUNS_ON_SIM : 0u) |
           (xg_backend_cpu.can_run(program) ? XGEMM_RUNS_ON_CPU : 0u);
}

static xgemm_status get(int index, xgemm_kernel_info *info, xg_error *error)
{
    if (!info)
        return xg_fail(error, XGEMM_ERROR_NULL_POINTER, "info is NULL");
    const xgemm_status status = xg_size_check(info->struct_size, "xgemm_kernel_info", error);
    if (status)
        return status;
    if (index < 0 || index >= XG_KERNEL_COUNT)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE, "index is %d; there are %d kernels", index,
                       XG_KERNEL_COUNT);

    const xg_kernel *kernel = xg_kernel_at(index);
    const xgemm_kernel_info all = {
        .struct_size = info->struct_size,
        .name = kernel->name,
        .summary = kernel->summary,
        .devices = runs_on(kernel->programs[0]),
        .tile_m = kernel->tile_m,
        .tile_n = kernel->tile_n,
        .tile_k = kernel->tile_k,
        .threads = kernel->block_x * kernel->block_y,
        .shared_bytes = kernel->shared_bytes,
        .flop_per_byte = kernel->flop_per_byte,
        .math = kernel->tensor_products == 0   ? XGEMM_MATH_STRICT
                : kernel->tensor_products == 1 ? XGEMM_MATH_TF32
                                               : XGEMM_MATH_DEFAULT,
        .compute_capability = kernel->programs[0]->compute_capability,
    };
    memcpy(info, &all, info->struct_size < sizeof all ? info->struct_size : sizeof all);
    return XGEMM_OK;
}

xgemm_status xgemm_kernel_get(int index, xgemm_kernel_info *info)
{
    const xgemm_status status = get(index, info, xg_thread_error());
    if (status)
        xg_error_prefix(xg_thread_error(), "xgemm_kernel_get");
    return status;
}
