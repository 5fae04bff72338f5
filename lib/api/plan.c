/* SPDX-License-Identifier: BSD-3-Clause */
/* The public plan: what a call would run. */
#include "gemm.h"
#include "target.h"

#include "device/occupancy.h"

#include <string.h>

/* The device that the caller asks for, which an older struct does not have. */
static const xgemm_device *device_of(const xgemm_plan *result)
{
    const size_t end = offsetof(xgemm_plan, device) + sizeof result->device;
    return result->struct_size >= end ? result->device : NULL;
}

static int64_t splits_of(const xg_candidate *chosen, int64_t k)
{
    return chosen->kernel ? xg_ceil_div(k, chosen->k_per_split) : 0;
}

/* a * b + c of numbers that are not negative, or INT64_MAX where that is too large. */
static int64_t add_product(int64_t a, int64_t b, int64_t c)
{
    int64_t product, sum;
    if (__builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(product, c, &sum))
        return INT64_MAX;
    return sum;
}

/* Panels that are alike along a dimension: the number of one, and how many there are. */
typedef struct {
    int64_t number, count;
} alike;

/* The first, those between and the last: as far as there are so many. */
static int alike_panels(int64_t count, alike to[3])
{
    int kinds = 0;
    if (count > 0)
        to[kinds++] = (alike){0, 1};
    if (count > 2)
        to[kinds++] = (alike){1, count - 2};
    if (count > 1)
        to[kinds++] = (alike){count - 1, 1};
    return kinds;
}

/* There may be more panels than could be counted one by one. */
static int64_t launches_of_panels(const xg_panels *panels)
{
    alike m[3], n[3], k[3];
    const int of_m = alike_panels(panels->counts[0], m), of_n = alike_panels(panels->counts[1], n);
    const int of_k = alike_panels(panels->counts[2], k);
    int64_t launches = 0;
    for (int i = 0; i < of_m; i++)
        for (int j = 0; j < of_n; j++)
            for (int l = 0; l < of_k; l++) {
                const int64_t at[3] = {m[i].number, n[j].number, k[l].number};
                const int64_t count =
                    add_product(add_product(m[i].count, n[j].count, 0), k[l].count, 0);
                launches = add_product(count, panels->kinds[xg_panel_kind(panels, at)]->step_count,
                                       launches);
            }
    return launches;
}

/* The launches of a call. */
static int64_t launches_of(const xg_plan *plan)
{
    if (!plan->panels)
        return plan->step_count > 0 ? plan->step_count * xg_plan_passes(plan) : 0;
    const int64_t launches = launches_of_panels(plan->panels);
    return add_product(add_product(1, launches, plan->step_count), plan->batch_count, 0);
}

/* Memory that is aligned as the caller's, in place of none. */
static const float *aligned(const float *pointer)
{
    return pointer ? pointer : (const float *)256;
}

/* A product of the batch, whose pointers are not followed: as if all were aligned. */
static xg_call one_of(const xg_call *call)
{
    xg_call one = *call;
    one.flags &= ~(unsigned)XGEMM_POINTER_ARRAYS;
    one.batch_count = 1;
    one.stride_a = one.stride_b = one.stride_c = 0;
    one.a = one.b = aligned(NULL);
    one.c = (void *)(uintptr_t)aligned(NULL);
    return one;
}

/* times: how often the plan is run. */
static void fill(const xg_plan *plan, const xg_candidate *chosen, const xg_request *request,
                 int64_t times, xgemm_plan *result)
{
    const xg_kernel *kernel = chosen->kernel;
    const int64_t launches = add_product(times, launches_of(plan), 0);
    const xgemm_plan all = {
        .struct_size = result->struct_size,
        .device = device_of(result),
        .kernel = kernel ? kernel->name : NULL,
        .tile_m = chosen->tile_m ? chosen->tile_m
                  : kernel       ? kernel->tile_m
                                 : 0,
        .tile_n = chosen->tile_n ? chosen->tile_n
                  : kernel       ? kernel->tile_n
                                 : 0,
        .tile_k = chosen->tile_k ? chosen->tile_k
                  : kernel       ? kernel->tile_k
                                 : 0,
        .split_k = splits_of(chosen, request->problem.k),
        .together = launches ? plan->batch_per_pass : 0,
        .launches = launches,
        .workspace_bytes = plan->workspace_bytes,
        .microseconds = kernel ? (double)times * chosen->microseconds : 0.0,
        .shared_tiles = xg_stream_k_tiles(chosen),
        .measured_on = kernel && chosen->microseconds > 0.0 ? request->target.costs->gpu : NULL,
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
    xg_target target = handle->target;
    xg_costs scaled;
    const xg_backend *backend = handle->backend;
    if (!status && handle->kernel)
        status = xg_kernel_check_math(handle->kernel, handle->math, error);
    if (!status && device_of(result)) {
        xgemm_device gpu;
        status = xg_device_complete(device_of(result), &gpu, error);
        if (!status)
            status = xg_target_of_gpu(&gpu, handle->kernel, &target, &scaled, error);
        backend = &xg_backend_sim;
    }
    if (status)
        return status;
    const bool one_by_one = !device_of(result) && xg_runs_one_by_one(handle, call);
    const xg_call planned = one_by_one && call->batch_count > 0 ? one_of(call) : *call;
    const xg_problem problem = xg_call_problem(&planned);
    xg_request request = xg_request_of(handle, &problem);
    request.target = target;
    xg_plan plan;
    xg_candidate chosen = {.kernel = NULL};
    xg_plan_begin(&plan, &problem);
    if (xg_call_writes(&planned))
        status = xg_plan_make(backend, &request, &plan, &chosen, error);
    if (!status)
        fill(&plan, &chosen, &request, one_by_one ? call->batch_count : 1, result);
    xg_plan_free(&plan);
    return status;
}

xgemm_status xg_plan_call(xgemm_handle *handle, const xg_call *call, xgemm_plan *plan,
                          const char *function)
{
    return xg_handle_done(handle, plan_call(handle, call, plan, &handle->error), function);
}

xgemm_status xgemm_sgemm_plan(xgemm_handle *handle, xgemm_order order, xgemm_transpose transa,
                              xgemm_transpose transb, int64_t m, int64_t n, int64_t k, float alpha,
                              const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
                              const float *c, int64_t ldc, xgemm_plan *plan)
{
    if (!handle)
        return xg_no_handle(__func__);
    const xg_call call =
        xg_call_of(XG_F32, order, transa, transb, m, n, k, &alpha, aligned(a), lda, 0, aligned(b),
                   ldb, 0, &beta, (void *)(uintptr_t)aligned(c), ldc, 0, 1);
    return xg_plan_call(handle, &call, plan, __func__);
}

xgemm_status xgemm_sgemm_strided_batched_plan(
    xgemm_handle *handle, xgemm_order order, xgemm_transpose transa, xgemm_transpose transb,
    int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t lda, int64_t stride_a,
    const float *b, int64_t ldb, int64_t stride_b, float beta, const float *c, int64_t ldc,
    int64_t stride_c, int64_t batch_count, xgemm_plan *plan)
{
    if (!handle)
        return xg_no_handle(__func__);
    const xg_call call = xg_call_of(XG_F32, order, transa, transb, m, n, k, &alpha, aligned(a), lda,
                                    stride_a, aligned(b), ldb, stride_b, &beta,
                                    (void *)(uintptr_t)aligned(c), ldc, stride_c, batch_count);
    return xg_plan_call(handle, &call, plan, __func__);
}
