/* SPDX-License-Identifier: BSD-3-Clause */
/* xgemm_device_count() and xgemm_device_get(): what is known of this machine's devices. */
#include "backend/backend.h"
#include "catalog.h"
#include "fields.h"

#include <string.h>

int xgemm_device_count(void)
{
    const int count = xg_backend_cuda.count(xg_thread_error());
    if (count < 1)
        xg_error_prefix(xg_thread_error(), __func__);
    return count;
}

/* Adds what the driver does not report: limits, peaks; tensor cores' peaks by the GPU's name. */
static void add_unreported(xgemm_device *d)
{
    xg_name name;
    if (!d->compute_capability) /* the driver does not report it */
        return;
    xg_device_add_limits(d);
    xg_device_derive(d);
    const xg_catalog_row *row = NULL;
    if (xg_name_read(&name, d->name, NULL))
        row = xg_catalog_named(&name, d->multiprocessors);
    if (!row || row->compute_capability != d->compute_capability)
        return;
    d->peak_tf32_gflops = row->tf32_tflops * 1e3;
    d->peak_fp16_gflops = row->fp16_tflops * 1e3;
    d->peak_bf16_gflops = row->bf16_tflops * 1e3;
}

xgemm_status xg_device_describe(int ordinal, xgemm_device *device, xg_error *error)
{
    const xg_backend *backend = xg_backend_of(ordinal);
    if (!backend)
        return xg_fail(error, XGEMM_ERROR_NO_DEVICE,
                       "there is no device %d; valid are a GPU's ordinal from 0 on, "
                       "XGEMM_DEVICE_CPU (-2) and XGEMM_DEVICE_SIM (-3)",
                       ordinal);
    memset(device, 0, sizeof *device);
    device->struct_size = sizeof *device;
    device->ordinal = ordinal;
    device->numa_node = -1;
    const xgemm_status status = backend->describe(ordinal, device, error);
    if (!status && ordinal >= 0)
        add_unreported(device);
    return status;
}

static xgemm_status get(int ordinal, xgemm_device *device, xg_error *error)
{
    xgemm_device full;
    xgemm_status status = xg_device_check(device, error);
    if (!status)
        status = xg_device_describe(ordinal, &full, error);
    if (!status)
        xg_device_store(device, &full);
    return status;
}

xgemm_status xgemm_device_get(int ordinal, xgemm_device *device)
{
    const xgemm_status status = get(ordinal, device, xg_thread_error());
    if (status)
        xg_error_prefix(xg_thread_error(), __func__);
    return status;
}
