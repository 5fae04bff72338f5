/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies between the host's memory and a GPU's. */
#include "context.h"

xgemm_status xg_cu_wait(xg_device *device, void *stream, xg_error *error)
{
    xg_cu_result result;
    XG_CU_IN_CONTEXT(device, result, device->driver->stream_wait(stream), error);
    return xg_cu_result_of(device, result, "cuStreamSynchronize", error);
}

xgemm_status xg_cu_upload_begin(xg_device *device, void *stream, void *to, const void *from,
                                size_t bytes, xg_error *error)
{
    xg_cu_result result;
    XG_CU_IN_CONTEXT(device, result, device->driver->upload((uintptr_t)to, from, bytes, stream),
                     error);
    return xg_cu_result_of(device, result, "cuMemcpyHtoDAsync", error);
}

xgemm_status xg_cu_download_begin(xg_device *device, void *stream, void *to, const void *from,
                                  size_t bytes, xg_error *error)
{
    xg_cu_result result;
    XG_CU_IN_CONTEXT(device, result, device->driver->download(to, (uintptr_t)from, bytes, stream),
                     error);
    return xg_cu_result_of(device, result, "cuMemcpyDtoHAsync", error);
}

/* Pinned memory is read after the driver's call returns. */
xgemm_status xg_cu_upload(xg_device *device, void *stream, void *to, const void *from, size_t bytes,
                          xg_error *error)
{
    const xgemm_status status = xg_cu_upload_begin(device, stream, to, from, bytes, error);
    return status ? status : xg_cu_wait(device, stream, error);
}

xgemm_status xg_cu_download(xg_device *device, void *stream, void *to, const void *from,
                            size_t bytes, xg_error *error)
{
    const xgemm_status status = xg_cu_download_begin(device, stream, to, from, bytes, error);
    return status ? status : xg_cu_wait(device, stream, error);
}

/* The driver knows no other memory of the host. */
bool xg_cu_is_pinned(xg_device *device, const void *first, const void *last)
{
    const xg_cu *const driver = device->driver;
    const void *const ends[] = {first, last};
    bool is_pinned = driver->copy_2d && driver->pointer_attribute, pushed;
    if (!is_pinned || xg_cu_enter(device, &pushed, NULL))
        return false;
    for (int i = 0; i < 2; i++) {
        unsigned type = 0;
        is_pinned =
            is_pinned &&
            !driver->pointer_attribute(&type, XG_CU_POINTER_MEMORY_TYPE, (uintptr_t)ends[i]) &&
            type == XG_CU_MEMORY_OF_HOST;
    }
    xg_cu_leave(device, pushed);
    return is_pinned;
}

xgemm_status xg_cu_copy_rows(xg_device *device, void *stream, const xg_row_copy *what,
                             xg_error *error)
{
    xg_cu_copy_2d copy = {.source_pitch = what->from_pitch,
                          .to_pitch = what->to_pitch,
                          .width = what->width,
                          .height = what->rows};
    xg_cu_result result;
    if (what->to_device) {
        copy.source_type = XG_CU_MEMORY_OF_HOST, copy.source_host = what->from;
        copy.to_type = XG_CU_MEMORY_OF_DEVICE, copy.to = (uintptr_t)what->to;
    } else {
        copy.source_type = XG_CU_MEMORY_OF_DEVICE, copy.source = (uintptr_t)what->from;
        copy.to_type = XG_CU_MEMORY_OF_HOST, copy.to_host = what->to;
    }
    XG_CU_IN_CONTEXT(device, result, device->driver->copy_2d(&copy, stream), error);
    if (result)
        return xg_cu_result_of(device, result, "cuMemcpy2DAsync", error);
    return xg_cu_wait(device, stream, error);
}
