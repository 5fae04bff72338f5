/* SPDX-License-Identifier: BSD-3-Clause */
/* The public plan: what a call would run. */
#include "gemm.h"
#include "planner/steps.h"

#include <string.h>

/* Which device a plan is for. */
typedef struct {
    const xg_backend *backend;
    int64_t block_shared;
    int processors, architecture;
} target;

enum { OLDEST = 80 }; /* the compute capability that the kernels are compiled for */

/* A GPU that need not be there. It runs what the simulator runs. */
static xgemm_status target_gpu(const xgemm_device *device, const xg_kernel *kernel, target *to,
                               xg_error *error)
{
    const size_t size = device->struct_size;
    xgemm_device all = {0};
    if (size < sizeof size)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "the plan's device has struct_size %zu; it must be filled in, by "
                       "xgemm_device_get() or xgemm_device_find()",
                       size);
    memcpy(&all, device, size < sizeof all ? size : sizeof all);
    all.name[sizeof all.name - 1] = '\0';
    if (all.compute_capability <= 0)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "the plan's device \"%s\" has no compute capability: it is no GPU",
                       all.name);
    if (all.multiprocessors < 1)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "the plan's device \"%s\" has %d multiprocessors; a plan needs their number",
                       all.name, all.multiprocessors);
    if (all.compute_capability < OLDEST)
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "the plan's device \"%s\" has compute capability %d.%d; the kernels need at "
                       "least %d.%d",
                       all.name, all.compute_capability / 10, all.compute_capability % 10,
                       OLDEST / 10, OLDEST % 10);
    const int wanted = kernel ? kernel->program->architecture : 0;
    if (wanted && wanted != all.compute_capability)
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel %s, which the handle has, is for compute capability %d.%d alone, "
                       "and the plan's device \"%s\" has %d.%d",
                       kernel->name, wanted / 10, wanted % 10, all.name,
                       all.compute_capability / 10, all.compute_capability % 10);
    if (kernel && kernel->program->host)
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel %s, which the handle has, is for the CPU, and the plan's device is "
                       "\"%s\"",
                       kernel->name, all.name);
    *to = (target){&xg_backend_sim, all.shared_per_block, all.multiprocessors,
                   all.compute_capability};
    return XGEMM_OK;
}

/* The device that the caller asks for, which an older struct does not have. */
static const xgemm_device *device_of(const xgemm_plan *result)
{
    const size_t end = offsetof(xgemm_plan, device) + sizeof result->device;
    return result->struct_size >= end ? result->device : NULL;
}

static int64_t parts_of(const xg_plan *plan)
{
    for (int i = 0; i < plan->steps; i++) {
        const xg_args *args = &plan->step[i].args;
        if (plan->step[i].role == XG_STEP_FP16_PRODUCT)
            return 1;
        if (plan->step[i].role == XG_STEP_PRODUCT)
            return args->k_part > 0 ? xg_tiles_of(args->k, args->k_part) : 1;
    }
    return 0;
}

static int64_t panels_of(const xg_plan *plan)
{
    return plan->shape.panels > 1 ? plan->shape.panels : 1;
}

static void fill(const xg_plan *plan, xgemm_plan *result)
{
    const xg_kernel *kernel = plan->kernel;
    const xgemm_plan all = {
        .struct_size = result->struct_size,
        .device = device_of(result),
        .kernel = kernel ? kernel->name : NULL,
        .tile_m = kernel ? kernel->tile_m : 0,
        .tile_n = kernel ? kernel->tile_n : 0,
        .tile_k = kernel ? kernel->tile_k : 0,
        .split_k = parts_of(plan),
        .together = plan->steps ? plan->shape.together : 0,
        .launches = plan->steps ? plan->steps * xg_plan_passes(plan) * panels_of(plan) : 0,
        .workspace_bytes = plan->workspace_bytes,
        .microseconds = kernel ? plan->shape.microseconds : 0.0,
        .shared_tiles = plan->shape.shared,
    };
    memcpy(result, &all, result->struct_size < sizeof all ? result->struct_size : sizeof all);
}

static xgemm_status plan_call(const xgemm_handle *handle, const xg_call *call, xgemm_plan *result,
                              xg_error *error)
{
    if (!result)
        return xg_fail(error, XGEMM_ERROR_NULL_POINTER, "plan is NULL");
    xgemm_status status = xg_size_check(result->struct_size, "xgemm_plan", error);
    if (!status)
        status = xg_call_check(call, error);
    target to = {handle->backend, handle->block_shared, handle->processors, 0};
    if (!status && handle->kernel)
        status = xg_kernel_check_math(handle->kernel, handle->math, error);
    if (!status && device_of(result))
        status = target_gpu(device_of(result), handle->kernel, &to, error);
    if (status)
        return status;
    xg_plan plan = {.steps = 0};
    if (xg_call_writes(call)) {
        const xg_args problem = xg_problem_of(call);
        xg_request request = xg_request_of(handle, &problem, call->products);
        request.processors = to.processors;
        request.block_shared = to.block_shared;
        if (device_of(result))
            request.architecture = to.architecture;
        status = xg_plan_make(to.backend, &request, &plan, error);
    }
    if (!status)
        fill(&plan, result);
    return status;
}

/* Memory that is aligned as the caller's, in place of none. */
static const float *aligned(const float *pointer)
{
    return pointer ? pointer : (const float *)256;
}

xgemm_status xgemm_sgemm_plan(xgemm_handle *handle, xgemm_order order, xgemm_transpose transa,
                              xgemm_transpose transb, int64_t m, int64_t n, int64_t k, float alpha,
                              const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
                              const float *c, int64_t ldc, xgemm_plan *plan)
{
    if (!handle)
        return xg_no_handle(__func__);
    const xg_call call =
        xg_call_of(order, transa, transb, m, n, k, alpha, aligned(a), lda, 0, aligned(b), ldb, 0,
                   beta, (float *)(uintptr_t)aligned(c), ldc, 0, 1);
    return xg_handle_done(handle, plan_call(handle, &call, plan, &handle->error), __func__);
}

xgemm_status xgemm_sgemm_strided_batched_plan(
    xgemm_handle *handle, xgemm_order order, xgemm_transpose transa, xgemm_transpose transb,
    int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t lda, int64_t stride_a,
    const float *b, int64_t ldb, int64_t stride_b, float beta, const float *c, int64_t ldc,
    int64_t stride_c, int64_t batch_count, xgemm_plan *plan)
{
    if (!handle)
        return xg_no_handle(__func__);
    const xg_call call =
        xg_call_of(order, transa, transb, m, n, k, alpha, aligned(a), lda, stride_a, aligned(b),
                   ldb, stride_b, beta, (float *)(uintptr_t)aligned(c), ldc, stride_c, batch_count);
    return xg_handle_done(handle, plan_call(handle, &call, plan, &handle->error), __func__);
}
