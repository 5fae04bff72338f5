/* SPDX-License-Identifier: BSD-3-Clause */
#include "gemm.h"

#include "loading.h"

#include "planner/execute.h"

xg_request xg_request_of(const xgemm_handle *handle, const xg_problem *problem)
{
    return (xg_request){.problem = *problem,
                        .target = handle->target,
                        .kernel = handle->kernel,
                        .math = handle->math,
                        .by_element = handle->reproducible == XGEMM_REPRODUCIBLE_ELEMENT,
                        .workspace_limit =
                            handle->given_workspace ? handle->given_bytes : SIZE_MAX};
}

/* The plan to run, and the one that was chosen at first: they differ where a fallback runs. */
typedef struct {
    const xg_cached_plan *made, *wanted;
    void *workspace;
} prepared;

/*
 * Memory for the plan; *enough: whether there is. A caller's workspace may be too small, and the
 * library's own one cannot be allocated where the device's memory is used up.
 */
static xgemm_status find_workspace(xgemm_handle *handle, prepared *p, bool *enough)
{
    const size_t bytes = p->made->plan.workspace_bytes;
    *enough = true;
    p->workspace = handle->given_workspace;
    if (handle->given_workspace || bytes == 0) {
        *enough = bytes == 0 || bytes <= handle->given_bytes;
        return XGEMM_OK;
    }
    const xgemm_status status =
        xg_workspace_get(&handle->workspaces, handle->backend, handle->device, handle->stream,
                         bytes, &p->workspace, &handle->error);
    const bool no_memory =
        status == XGEMM_ERROR_OUT_OF_DEVICE_MEMORY || status == XGEMM_ERROR_OUT_OF_MEMORY;
    if (!no_memory || handle->kernel)
        return status;
    *enough = false;
    return XGEMM_OK;
}

/* What runs in place of another plan. */
static void note_wanted(xgemm_handle *handle, const xg_cached_plan *wanted)
{
    handle->ran.wanted = wanted->chosen.kernel->name;
    handle->ran.wanted_bytes = wanted->plan.workspace_bytes;
}

/*
 * The plan, or what replaces it while it is loaded, and memory for it; when there is not enough,
 * the best plan for what there is. Only a named kernel, and XGEMM_REPRODUCIBLE_ELEMENT, can fail
 * for the workspace: else there is always a kernel to choose that needs none.
 */
static xgemm_status prepare(xgemm_handle *handle, const xg_problem *problem, prepared *p)
{
    bool enough = true;
    xg_request request = xg_request_of(handle, problem);
    request.workspace_limit = SIZE_MAX;
    handle->ran = (xg_ran){.kernel = NULL};
    xgemm_status status =
        xg_plan_cache_get(&handle->plans, handle->backend, &request, &p->made, &handle->error);
    if (status)
        return status;
    p->wanted = p->made;
    const xg_loading loading = xg_loading_begin(handle, p->made);
    status = find_workspace(handle, p, &enough);
    if (!status && enough)
        xg_replace_unloaded(handle, &request, loading, &p->made);
    if (p->made != p->wanted) {
        note_wanted(handle, p->wanted);
        status = find_workspace(handle, p, &enough);
    }
    if (status || enough)
        return status;
    note_wanted(handle, p->wanted);
    request.workspace_limit = handle->given_workspace ? handle->given_bytes : 0;
    return xg_plan_cache_get(&handle->plans, handle->backend, &request, &p->made, &handle->error);
}

static void note_what_ran(xgemm_handle *handle, const xg_call *call, const prepared *p)
{
    const xg_plan *plan = &p->made->plan;
    const xg_candidate *chosen = &p->made->chosen;
    const size_t count = plan->recomputed;
    handle->ran.kernel = chosen->kernel ? chosen->kernel->name : NULL;
    handle->ran.workspace_bytes = plan->workspace_bytes;
    handle->ran.microseconds = chosen->microseconds;
    handle->recomputed =
        (xg_recomputed){.count = count ? (const char *)p->workspace + count : NULL,
                        .most = call->m * call->n * call->batch_count,
                        .stream = xg_stream_identity(handle->backend, handle->stream),
                        .is_callers = count && handle->given_workspace};
}

/*
 * From now on the kernel is not chosen, as the driver cannot load it: it is too old for the
 * kernel's PTX, or for its machine code. False: so it was already, and there is no other.
 */
static bool leave_out(xgemm_handle *handle, const xg_kernel *kernel)
{
    const uint64_t bit = UINT64_C(1) << kernel->id;
    if (handle->target.left_out & bit)
        return false;
    handle->target.left_out |= bit;
    return true;
}

static xgemm_status execute(xgemm_handle *handle, const xg_problem *problem, const prepared *p)
{
    return xg_execute(&p->made->plan, problem, handle->backend, handle->device, handle->stream,
                      p->workspace, &handle->error);
}

/* Runs the plan that was chosen at first, if the compact program has counted elements to recompute.
 */
static xgemm_status complete(xgemm_handle *handle, const xg_call *call, const xg_problem *problem,
                             prepared *p)
{
    int64_t elements = 0;
    const xgemm_status status = xg_recomputed_get(handle, &elements);
    if (status || elements == 0)
        return status;
    p->made = p->wanted;
    handle->ran.wanted = NULL;
    note_what_ran(handle, call, p);
    return execute(handle, problem, p);
}

static xgemm_status run_problem(xgemm_handle *handle, const xg_call *call,
                                const xg_problem *problem)
{
    prepared p = {.made = NULL};
    xg_error why; /* no kernel was loaded */
    xgemm_status status = handle->kernel
                              ? xg_kernel_check_math(handle->kernel, handle->math, &handle->error)
                              : XGEMM_OK;
    bool again = !status;
    why.text[0] = '\0';
    while (again) {
        status = prepare(handle, problem, &p);
        const xg_kernel *const chosen = status ? NULL : p.made->chosen.kernel;
        if (!status)
            status = execute(handle, problem, &p);
        again = status == XGEMM_ERROR_NOT_SUPPORTED && chosen && !handle->kernel &&
                leave_out(handle, chosen);
        if (again)
            why = handle->error;
        else if (status == XGEMM_ERROR_NOT_SUPPORTED && why.text[0])
            handle->error = why;
    }
    if (!status)
        note_what_ran(handle, call, &p);
    if (!status && p.made == handle->compact && p.made->plan.recomputed)
        status = complete(handle, call, problem, &p);
    handle->fallbacks += !status && handle->ran.wanted;
    return status;
}

static xgemm_status run(xgemm_handle *handle, const xg_call *call)
{
    const xg_problem problem = xg_call_problem(call);
    return run_problem(handle, call, &problem);
}

static bool takes_pointer_arrays(const xgemm_handle *handle, const xg_call *call)
{
    return handle->kernel ? xg_takes_pointer_arrays(handle->kernel, (xg_type)call->type_a)
                          : !handle->target.host;
}

bool xg_runs_one_by_one(const xgemm_handle *handle, const xg_call *call)
{
    return call->flags & XGEMM_POINTER_ARRAYS && handle->backend->host_memory &&
           !takes_pointer_arrays(handle, call);
}

static xgemm_status run_one_by_one(xgemm_handle *handle, const xg_call *call)
{
    xgemm_status status = XGEMM_OK;
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

static xgemm_status check_and_run(xgemm_handle *handle, const xg_call *call)
{
    xgemm_status status = xg_call_check(call, &handle->error);
    const bool writes = !status && xg_call_writes(call);
    if (writes && call->flags & XGEMM_POINTER_ARRAYS && handle->backend->host_memory)
        status = xg_call_check_pointers(call, &handle->error);
    if (status)
        return status;
    handle->ran = (xg_ran){.kernel = NULL};
    handle->recomputed = (xg_recomputed){.elements = 0};
    if (!writes)
        return XGEMM_OK;
    return xg_runs_one_by_one(handle, call) ? run_one_by_one(handle, call) : run(handle, call);
}

static xgemm_status end_call(xgemm_handle *handle, const xg_call *call, int64_t groups,
                             xgemm_status status, const char *function)
{
    if (handle->log != XG_NO_LOG)
        xg_log_call(handle->log, &(xg_log_entry){.function = function,
                                                 .call = call,
                                                 .device = handle->ordinal,
                                                 .math = handle->math,
                                                 .reproducible = handle->reproducible,
                                                 .groups = groups,
                                                 .status = status,
                                                 .error = handle->error.text,
                                                 .ran = &handle->ran});
    return xg_handle_done(handle, status, function);
}

xgemm_status xg_call_end(xgemm_handle *handle, const xg_call *call, xgemm_status status,
                         const char *function)
{
    return end_call(handle, call, 0, status, function);
}

xgemm_status xg_multiply(xgemm_handle *handle, const xg_call *call, const char *function)
{
    return xg_call_end(handle, call, check_and_run(handle, call), function);
}

xgemm_status xg_multiply_groups(xgemm_handle *handle, const xg_call *call, const int64_t *offsets,
                                int64_t groups, const char *function)
{
    xgemm_status status = xg_call_check_groups(call, offsets, groups, &handle->error);
    if (!status) {
        handle->ran = (xg_ran){.kernel = NULL};
        handle->recomputed = (xg_recomputed){.elements = 0};
    }
    if (!status && groups > 0 && xg_call_writes(call)) {
        const xg_problem problem = xg_call_problem_of_groups(call, offsets, groups);
        status = run_problem(handle, call, &problem);
    }
    return end_call(handle, call, groups, status, function);
}
