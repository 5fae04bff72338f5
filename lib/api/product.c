/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions that take the public struct. */
#include "gemm.h"
#include "host_product.h"

/* Memory that is aligned as the caller's, in place of none. */
static const void *aligned(const void *pointer)
{
    return pointer ? pointer : (const void *)256;
}

/* The public struct of a function as a call. */
static xgemm_status call_of(xgemm_handle *handle, const xgemm_product *product, xg_call *call,
                            const char *function)
{
    if (!handle)
        return xg_no_handle(function);
    const xgemm_status status = xg_call_of_product(product, call, &handle->error);
    return status ? xg_handle_done(handle, status, function) : XGEMM_OK;
}

xgemm_status xgemm_gemm(xgemm_handle *handle, const xgemm_product *product)
{
    xg_call call;
    const xgemm_status status = call_of(handle, product, &call, __func__);
    if (status)
        return status;
    return (call.flags & XGEMM_HOST_MEMORY ? xg_multiply_host : xg_multiply)(handle, &call,
                                                                             __func__);
}

xgemm_status xgemm_gemm_plan(xgemm_handle *handle, const xgemm_product *product, xgemm_plan *plan)
{
    xg_call call;
    const xgemm_status status = call_of(handle, product, &call, __func__);
    if (status)
        return status;
    call.a = aligned(call.a);
    call.b = aligned(call.b);
    call.c = (void *)(uintptr_t)aligned(call.c);
    return xg_plan_call(handle, &call, plan, __func__);
}

xgemm_status xgemm_gemm_ragged(xgemm_handle *handle, const xgemm_product *product,
                               const int64_t *offsets, int64_t groups)
{
    xg_call call;
    const xgemm_status status = call_of(handle, product, &call, __func__);
    if (status)
        return status;
    return xg_multiply_groups(handle, &call, offsets, groups, __func__);
}
