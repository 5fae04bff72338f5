/* SPDX-License-Identifier: BSD-3-Clause */
/* The public query of devices. */
#include "../backend.h"

#include <string.h>

int xgemm_device_count(void)
{
    return xg_backend_cuda.count();
}

static xgemm_status get(int ordinal, xgemm_device *device, xg_error *error)
{
    if (!device)
        return xg_fail(error, XGEMM_ERROR_NULL_POINTER, "device is NULL");
    const size_t size = device->struct_size;
    if (size < sizeof device->struct_size)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "struct_size is %zu; set it to sizeof(xgemm_device)", size);
    const xg_backend *backend = xg_backend_of(ordinal);
    if (!backend)
        return xg_fail(error, XGEMM_ERROR_NO_DEVICE,
                       "there is no device %d; it is a GPU's number from 0, or "
                       "XGEMM_DEVICE_CPU (-2) or XGEMM_DEVICE_SIM (-3)",
                       ordinal);

    xgemm_device all;
    memset(&all, 0, sizeof all);
    all.struct_size = size;
    all.ordinal = ordinal;
    const xgemm_status status = backend->describe(ordinal, &all, error);
    if (!status)
        memcpy(device, &all, size < sizeof all ? size : sizeof all);
    return status;
}

xgemm_status xgemm_device_get(int ordinal, xgemm_device *device)
{
    const xgemm_status status = get(ordinal, device, xg_thread_error());
    if (status)
        xg_error_prefix(xg_thread_error(), __func__);
    return status;
}
