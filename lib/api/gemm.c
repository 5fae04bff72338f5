/* SPDX-License-Identifier: BSD-3-Clause */
#include "gemm.h"

#include "planner/choice.h"

xg_request xg_request_of(const xgemm_handle *handle, const xg_args *problem, int64_t products)
{
    return (xg_request){.problem = *problem,
                        .products = products,
                        .kernel = handle->kernel,
                        .workspace_limit = handle->given_workspace ? handle->given_bytes : SIZE_MAX,
                        .block_shared = handle->block_shared,
                        .processors = handle->processors,
                        .math = (int)handle->math,
                        .architecture = handle->backend->can_run(&xg_program_fp16_split)
                                            ? handle->backend->architecture(handle->device)
                                            : 0};
}

/*
 * The plan, and memory for it; when there is not enough, the plan that needs none.
 * Only a named kernel can fail for its workspace: there is always one to choose
 * that needs none.
 */
static xgemm_status prepare(xgemm_handle *handle, const xg_args *problem, int64_t products,
                            const xg_plan **plan, void **workspace)
{
    *workspace = handle->given_workspace;
    xg_request request = xg_request_of(handle, problem, products);
    xgemm_status status =
        xg_plans_get(&handle->plans, handle->backend, &request, plan, &handle->error);
    if (*workspace || status || (*plan)->workspace_bytes == 0)
        return status;
    status = xg_workspace_get(&handle->workspaces, handle->backend, handle->device, handle->stream,
                              (*plan)->workspace_bytes, workspace, &handle->error);
    if (status != XGEMM_ERROR_OUT_OF_DEVICE_MEMORY || handle->kernel)
        return status;
    request.workspace_limit = 0;
    return xg_plans_get(&handle->plans, handle->backend, &request, plan, &handle->error);
}

static xgemm_status run(xgemm_handle *handle, const xg_call *call)
{
    const xg_args problem = xg_problem_of(call);
    const xg_plan *plan;
    void *workspace;
    xgemm_status status = handle->kernel
                              ? xg_kernel_check_math(handle->kernel, handle->math, &handle->error)
                              : XGEMM_OK;
    if (!status)
        status = prepare(handle, &problem, call->products, &plan, &workspace);
    if (!status)
        status = xg_plan_run(plan, &problem, handle->backend, handle->device, handle->stream,
                             workspace, &handle->error);
    if (status)
        return status;
    handle->last_kernel = plan->kernel ? plan->kernel->name : NULL;
    handle->recomputed = (xg_recomputed){
        .count = plan->recomputed ? (const char *)workspace + plan->recomputed : NULL,
        .most = call->m * call->n * call->products,
        .stream = handle->stream,
        .is_callers = plan->recomputed && handle->given_workspace};
    return XGEMM_OK;
}

static bool takes_lists(const xgemm_handle *handle)
{
    return handle->kernel ? xg_takes_lists(handle->kernel)
                          : handle->backend->can_run(&xg_program_scale);
}

/* Where the host can read the pointers, every kernel can compute a batch of them. */
static xgemm_status run_lists(xgemm_handle *handle, const xg_call *call)
{
    if (!handle->backend->host_memory)
        return run(handle, call);
    xgemm_status status = xg_lists_check(call, &handle->error);
    if (!status && takes_lists(handle))
        return run(handle, call);
    int64_t sum = 0, elements = 0;
    for (int64_t i = 0; i < call->products && !status; i++) {
        const xg_call one = xg_call_of_lists(call, i);
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
    return call->lists ? run_lists(handle, call) : run(handle, call);
}

xgemm_status xgemm_sgemm(xgemm_handle *handle, xgemm_order order, xgemm_transpose transa,
                         xgemm_transpose transb, int64_t m, int64_t n, int64_t k, float alpha,
                         const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
                         float *c, int64_t ldc)
{
    if (!handle)
        return xg_no_handle(__func__);
    const xg_call call =
        xg_call_of(order, transa, transb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1);
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
    const xg_call call = xg_call_of(order, transa, transb, m, n, k, alpha, a, lda, stride_a, b, ldb,
                                    stride_b, beta, c, ldc, stride_c, batch_count);
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
    xg_call call = xg_call_of(order, transa, transb, m, n, k, alpha, (const float *)(const void *)a,
                              lda, 0, (const float *)(const void *)b, ldb, 0, beta,
                              (float *)(uintptr_t)c, ldc, 0, batch_count);
    call.lists = true;
    return xg_handle_done(handle, sgemm(handle, &call), __func__);
}
