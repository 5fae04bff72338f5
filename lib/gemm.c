/* SPDX-License-Identifier: BSD-3-Clause */
#include "handle.h"
#include "problem.h"

/* Only a named kernel can fail for its workspace: there is always one to choose that needs none. */
static xgemm_status make_plan(xgemm_handle *handle, const xg_args *problem, size_t limit,
                              xg_plan *plan)
{
    return xg_plan_make(handle->backend, handle->processors, handle->kernel, problem, limit, plan,
                        &handle->error);
}

/* The plan, and memory for it; when there is not enough, the plan that needs none. */
static xgemm_status prepare(xgemm_handle *handle, const xg_args *problem, xg_plan *plan,
                            void **workspace)
{
    *workspace = handle->given_workspace;
    if (*workspace)
        return make_plan(handle, problem, handle->given_bytes, plan);
    xgemm_status status = make_plan(handle, problem, SIZE_MAX, plan);
    if (!status && plan->workspace_bytes > 0)
        status = xg_workspace_get(&handle->workspaces, handle->backend, handle->device,
                                  handle->stream, plan->workspace_bytes, workspace, &handle->error);
    if (status == XGEMM_ERROR_OUT_OF_DEVICE_MEMORY && !handle->kernel)
        status = make_plan(handle, problem, 0, plan);
    return status;
}

static xgemm_status run(xgemm_handle *handle, const xg_args *problem)
{
    xg_plan plan;
    void *workspace;
    xgemm_status status = handle->kernel
                              ? xg_kernel_check_math(handle->kernel, handle->math, &handle->error)
                              : XGEMM_OK;
    if (!status)
        status = prepare(handle, problem, &plan, &workspace);
    if (!status)
        status = xg_plan_run(&plan, handle->backend, handle->device, handle->stream, workspace,
                             &handle->error);
    if (!status)
        handle->last_kernel = plan.kernel ? plan.kernel->name : NULL;
    return status;
}

static xgemm_status sgemm(xgemm_handle *handle, const xg_call *call)
{
    const xgemm_status status = xg_call_check(call, &handle->error);
    if (status)
        return status;
    handle->last_kernel = NULL;
    if (call->m == 0 || call->n == 0)
        return XGEMM_OK;
    const xg_args problem = xg_problem_of(call);
    return run(handle, &problem);
}

xgemm_status xgemm_sgemm(xgemm_handle *handle, xgemm_order order, xgemm_transpose transa,
                         xgemm_transpose transb, int64_t m, int64_t n, int64_t k, float alpha,
                         const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
                         float *c, int64_t ldc)
{
    if (!handle)
        return xg_no_handle(__func__);
    const xg_call call = {order, transa, transb, m, n, k, alpha, beta, a, b, c, lda, ldb, ldc};
    return xg_handle_done(handle, sgemm(handle, &call), __func__);
}
