/* SPDX-License-Identifier: BSD-3-Clause */
#include "gemm.h"

#include "planner/execute.h"

xg_request xg_request_of(const xgemm_handle *handle, const xg_problem *problem)
{
    return (xg_request){.problem = *problem,
                        .target = handle->target,
                        .kernel = handle->kernel,
                        .math = handle->math,
                        .workspace_limit =
                            handle->given_workspace ? handle->given_bytes : SIZE_MAX};
}

/*
 * The plan, and memory for it; when there is not enough, the plan that needs none.
 * Only a named kernel can fail for its workspace: there is always one to choose
 * that needs none.
 */
static xgemm_status prepare(xgemm_handle *handle, const xg_problem *problem,
                            const xg_cached_plan **made, void **workspace)
{
    *workspace = handle->given_workspace;
    xg_request request = xg_request_of(handle, problem);
    xgemm_status status =
        xg_plan_cache_get(&handle->plans, handle->backend, &request, made, &handle->error);
    if (*workspace || status || (*made)->plan.workspace_bytes == 0)
        return status;
    status = xg_workspace_get(&handle->workspaces, handle->backend, handle->device, handle->stream,
                              (*made)->plan.workspace_bytes, workspace, &handle->error);
    if (status != XGEMM_ERROR_OUT_OF_DEVICE_MEMORY || handle->kernel)
        return status;
    request.workspace_limit = 0;
    return xg_plan_cache_get(&handle->plans, handle->backend, &request, made, &handle->error);
}

static xgemm_status run(xgemm_handle *handle, const xg_call *call)
{
    const xg_problem problem = xg_call_problem(call);
    const xg_cached_plan *made;
    void *workspace;
    xgemm_status status = handle->kernel
                              ? xg_kernel_check_math(handle->kernel, handle->math, &handle->error)
                              : XGEMM_OK;
    if (!status)
        status = prepare(handle, &problem, &made, &workspace);
    if (!status)
        status = xg_execute(&made->plan, &problem, handle->backend, handle->device, handle->stream,
                            workspace, &handle->error);
    if (status)
        return status;
    const size_t count = made->plan.recomputed;
    handle->last_kernel = made->chosen.kernel ? made->chosen.kernel->name : NULL;
    handle->recomputed = (xg_recomputed){.count = count ? (const char *)workspace + count : NULL,
                                         .most = call->m * call->n * call->batch_count,
                                         .stream = handle->stream,
                                         .is_callers = count && handle->given_workspace};
    return XGEMM_OK;
}

static bool takes_pointer_arrays(const xgemm_handle *handle)
{
    return handle->kernel ? xg_takes_pointer_arrays(handle->kernel) : !handle->target.host;
}

/* Where the host can read the pointers, every kernel can compute a batch of them. */
static xgemm_status run_pointer_arrays(xgemm_handle *handle, const xg_call *call)
{
    if (!handle->backend->host_memory)
        return run(handle, call);
    xgemm_status status = xg_call_check_pointers(call, &handle->error);
    if (!status && takes_pointer_arrays(handle))
        return run(handle, call);
    int64_t sum = 0, elements = 0;
    for (int64_t i = 0; i < call->batch_count && !status; i++) {
        const xg_call one = xg_call_of_batch(call, i);
        status = run(handle, &one);
        if (!status)
            status = xg_recomputed_get(handle, &elements);
        sum += elements;
    }
    handle->recomputed = (xg_recomputed){.elements = sum};
    return status;
}

static xgemm_status sgemm(xgemm_handle *handle, const xg_call *call)
{
    const xgemm_status status = xg_call_check(call, &handle->error);
    if (status)
        return status;
    handle->last_kernel = NULL;
    handle->recomputed = (xg_recomputed){.elements = 0};
    if (!xg_call_writes(call))
        return XGEMM_OK;
    return call->pointer_arrays ? run_pointer_arrays(handle, call) : run(handle, call);
}

xgemm_status xgemm_sgemm(xgemm_handle *handle, xgemm_order order, xgemm_transpose transa,
                         xgemm_transpose transb, int64_t m, int64_t n, int64_t k, float alpha,
                         const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
                         float *c, int64_t ldc)
{
    if (!handle)
        return xg_no_handle(__func__);
    const xg_call call = xg_call_f32(order, transa, transb, m, n, k, alpha, a, lda, 0, b, ldb, 0,
                                     beta, c, ldc, 0, 1);
    return xg_handle_done(handle, sgemm(handle, &call), __func__);
}

xgemm_status xgemm_sgemm_strided_batched(xgemm_handle *handle, xgemm_order order,
                                         xgemm_transpose transa, xgemm_transpose transb, int64_t m,
                                         int64_t n, int64_t k, float alpha, const float *a,
                                         int64_t lda, int64_t stride_a, const float *b, int64_t ldb,
                                         int64_t stride_b, float beta, float *c, int64_t ldc,
                                         int64_t stride_c, int64_t batch_count)
{
    if (!handle)
        return xg_no_handle(__func__);
    const xg_call call = xg_call_f32(order, transa, transb, m, n, k, alpha, a, lda, stride_a, b,
                                     ldb, stride_b, beta, c, ldc, stride_c, batch_count);
    return xg_handle_done(handle, sgemm(handle, &call), __func__);
}

xgemm_status xgemm_sgemm_batched(xgemm_handle *handle, xgemm_order order, xgemm_transpose transa,
                                 xgemm_transpose transb, int64_t m, int64_t n, int64_t k,
                                 float alpha, const float *const *a, int64_t lda,
                                 const float *const *b, int64_t ldb, float beta, float *const *c,
                                 int64_t ldc, int64_t batch_count)
{
    if (!handle)
        return xg_no_handle(__func__);
    xg_call call = xg_call_f32(
        order, transa, transb, m, n, k, alpha, (const float *)(const void *)a, lda, 0,
        (const float *)(const void *)b, ldb, 0, beta, (float *)(uintptr_t)c, ldc, 0, batch_count);
    call.pointer_arrays = true;
    return xg_handle_done(handle, sgemm(handle, &call), __func__);
}
