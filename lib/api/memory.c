/* SPDX-License-Identifier: BSD-3-Clause */
#include "handle.h"

static xgemm_status null_pointer(xgemm_handle *handle, const char *function, const char *name)
{
    return xg_fail(&handle->error, XGEMM_ERROR_NULL_POINTER, "%s: %s is NULL", function, name);
}

xgemm_status xgemm_malloc(xgemm_handle *handle, size_t bytes, void **memory)
{
    if (!handle)
        return xg_no_handle(__func__);
    if (!memory)
        return null_pointer(handle, __func__, "memory");
    *memory = NULL;
    if (bytes == 0)
        return XGEMM_OK;
    return xg_handle_done(
        handle, handle->backend->allocate(handle->device, bytes, memory, &handle->error), __func__);
}

xgemm_status xgemm_free(xgemm_handle *handle, void *memory)
{
    if (!handle)
        return xg_no_handle(__func__);
    if (!memory)
        return XGEMM_OK;
    return xg_handle_done(handle, handle->backend->release(handle->device, memory, &handle->error),
                          __func__);
}

xgemm_status xgemm_upload(xgemm_handle *handle, void *device, const void *host, size_t bytes)
{
    if (!handle)
        return xg_no_handle(__func__);
    if (bytes == 0)
        return XGEMM_OK;
    if (!device || !host)
        return null_pointer(handle, __func__, device ? "host" : "device");
    return xg_handle_done(handle,
                          handle->backend->upload(handle->device, handle->stream, device, host,
                                                  bytes, &handle->error),
                          __func__);
}

xgemm_status xgemm_download(xgemm_handle *handle, void *host, const void *device, size_t bytes)
{
    if (!handle)
        return xg_no_handle(__func__);
    if (bytes == 0)
        return XGEMM_OK;
    if (!device || !host)
        return null_pointer(handle, __func__, device ? "host" : "device");
    return xg_handle_done(handle,
                          handle->backend->download(handle->device, handle->stream, host, device,
                                                    bytes, &handle->error),
                          __func__);
}

xgemm_status xgemm_memory_info(xgemm_handle *handle, uint64_t *free_bytes, uint64_t *total_bytes)
{
    if (!handle)
        return xg_no_handle(__func__);
    if (!free_bytes || !total_bytes)
        return null_pointer(handle, __func__, free_bytes ? "total_bytes" : "free_bytes");
    return xg_handle_done(
        handle,
        handle->backend->memory_info(handle->device, free_bytes, total_bytes, &handle->error),
        __func__);
}
