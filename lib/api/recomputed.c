/* SPDX-License-Identifier: BSD-3-Clause */
/* How many elements of C the last product recomputed, which the device counts in the workspace. */
#include "handle.h"

xgemm_status xg_recomputed_get(xgemm_handle *handle, int64_t *elements)
{
    const xg_backend *backend = handle->backend;
    const xg_recomputed *of = &handle->recomputed;
    uint64_t counted = 0;
    if (of->count && of->stream != xg_stream_identity(handle->backend, handle->stream))
        return xg_fail(&handle->error, XGEMM_ERROR_INVALID_VALUE,
                       "the last product ran on another stream; ask before xgemm_set_stream()");
    if (of->is_lost)
        return xg_fail(&handle->error, XGEMM_ERROR_INVALID_VALUE,
                       "the last product counted in a workspace that the handle has no more; ask "
                       "before xgemm_set_workspace()");
    /* First: a graph that is being captured refuses to be waited for, and takes no copy then. */
    xgemm_status status = backend->wait(handle->device, handle->stream, &handle->error);
    if (!status && of->count)
        status = backend->download(handle->device, handle->stream, &counted, of->count,
                                   sizeof counted, &handle->error);
    if (status)
        return status;
    if (!of->count)
        *elements = of->elements;
    else
        *elements = counted < (uint64_t)of->most ? (int64_t)counted : of->most;
    return XGEMM_OK;
}

xgemm_status xgemm_last_recomputed(xgemm_handle *handle, int64_t *elements)
{
    if (!handle)
        return xg_no_handle(__func__);
    if (!elements)
        return xg_fail(&handle->error, XGEMM_ERROR_NULL_POINTER, "%s: elements is NULL", __func__);
    return xg_handle_done(handle, xg_recomputed_get(handle, elements), __func__);
}
