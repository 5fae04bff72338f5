/* SPDX-License-Identifier: BSD-3-Clause */
#include "handle.h"
#include "problem.h"

/* Of the kernels that are chosen automatically none needs a workspace: only a named one can fail.
 */
static xgemm_status make_plan(xgemm_handle *handle, const xg_args *problem, xg_plan *plan)
{
    const size_t limit = handle->given_workspace ? handle->given_bytes : SIZE_MAX;
    return xg_plan_make(handle->backend, handle->processors, handle->kernel, problem, limit, plan,
                        &handle->error);
}

static xgemm_status run(xgemm_handle *handle, const xg_args *problem)
{
    xg_plan plan;
    void *workspace = handle->given_workspace;
    xgemm_status status = make_plan(handle, problem, &plan);
    if (!status && plan.workspace_bytes > 0 && !workspace)
        status = xg_workspace_get(&handle->workspaces, handle->backend, handle->device,
                                  handle->stream, plan.workspace_bytes, &workspace, &handle->error);
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
