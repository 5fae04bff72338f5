/* SPDX-License-Identifier: BSD-3-Clause */
#include "fields.h"

#include "limits.h"

#include <string.h>

enum { WARP = 32 };

xgemm_status xg_device_check(const xgemm_device *device, xg_error *error)
{
    if (!device)
        return xg_fail(error, XGEMM_ERROR_NULL_POINTER, "device is NULL");
    return xg_size_check(device->struct_size, "xgemm_device", error);
}

void xg_device_store(xgemm_device *device, const xgemm_device *full)
{
    const size_t size = device->struct_size;
    memcpy(device, full, size < sizeof *full ? size : sizeof *full);
    device->struct_size = size;
}

void xg_device_add_limits(xgemm_device *d)
{
    const xg_limits *limits = xg_limits_of(d->compute_capability);
    d->limits_from = limits->compute_capability;
    /* Of a GPU older than the table nothing can be said of its lanes. */
    if (d->compute_capability >= limits->compute_capability)
        d->fp32_lanes = limits->fp32_lanes;
    d->registers_per_thread = limits->registers_per_thread;
    d->register_granule = limits->register_granule;
    d->warp_granule = limits->warp_granule;
    d->shared_granule = limits->shared_granule;
    if (!d->shared_reserved) /* drivers before CUDA 11.3 do not tell */
        d->shared_reserved = limits->shared_reserved;
    d->warps_per_sm = d->threads_per_sm / WARP;
}

double xg_device_fp64_gflops(const xgemm_device *d, bool tensor)
{
    const xg_limits *limits = xg_limits_of(d->compute_capability);
    if (d->compute_capability < limits->compute_capability)
        return 0.0;
    const int lanes = tensor ? limits->fp64_tensor_lanes : limits->fp64_lanes;
    return (double)d->multiprocessors * lanes * 2.0 * d->core_clock_mhz * 1e-3;
}

void xg_device_derive(xgemm_device *d)
{
    d->peak_fp64_gflops = xg_device_fp64_gflops(d, false);
    d->peak_fp64_tensor_gflops = xg_device_fp64_gflops(d, true);
    d->peak_fp32_gflops =
        (double)d->multiprocessors * d->fp32_lanes * 2.0 * d->core_clock_mhz * 1e-3;
    if (d->peak_bandwidth_gbs > 0.0)
        d->balance_flop_per_byte = d->peak_fp32_gflops / d->peak_bandwidth_gbs;
}
