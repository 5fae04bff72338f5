/* SPDX-License-Identifier: BSD-3-Clause */
/* xgemm_malloc() and the other functions on a device's memory; 0 bytes are no error. */
#include "handle.h"

static xgemm_status fail_null(xgemm_handle *handle, const char *function, const char *name)
{
    return xg_fail(&handle->error, XGEMM_ERROR_NULL_POINTER, "%s: %s is NULL", function, name);
}

xgemm_status xgemm_malloc(xgemm_handle *handle, size_t bytes, void **memory)
{
    if (memory)
        *memory = NULL;
    if (!handle)
        return xg_no_handle(__func__);
    if (!memory)
        return fail_null(handle, __func__, "memory");
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

xgemm_status xgemm_upload(xgemm_handle *handle, void *device_memory, const void *host_memory,
                          size_t bytes)
{
    if (!handle)
        return xg_no_handle(__func__);
    if (bytes == 0)
        return XGEMM_OK;
    if (!device_memory || !host_memory)
        return fail_null(handle, __func__, device_memory ? "host_memory" : "device_memory");
    return xg_handle_done(handle,
                          handle->backend->upload(handle->device, handle->stream, device_memory,
                                                  host_memory, bytes, &handle->error),
                          __func__);
}

xgemm_status xgemm_download(xgemm_handle *handle, void *host_memory, const void *device_memory,
                            size_t bytes)
{
    if (!handle)
        return xg_no_handle(__func__);
    if (bytes == 0)
        return XGEMM_OK;
    if (!device_memory || !host_memory)
        return fail_null(handle, __func__, device_memory ? "host_memory" : "device_memory");
    return xg_handle_done(handle,
                          handle->backend->download(handle->device, handle->stream, host_memory,
                                                    device_memory, bytes, &handle->error),
                          __func__);
}

xgemm_status xgemm_memory_info(xgemm_handle *handle, uint64_t *free_bytes, uint64_t *total_bytes)
{
    if (!handle)
        return xg_no_handle(__func__);
    if (!free_bytes || !total_bytes)
        return fail_null(handle, __func__, free_bytes ? "total_bytes" : "free_bytes");
    return xg_handle_done(
        handle,
        handle->backend->memory_info(handle->device, free_bytes, total_bytes, &handle->error),
        __func__);
}
