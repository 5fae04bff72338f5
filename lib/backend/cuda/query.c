/* SPDX-License-Identifier: BSD-3-Clause */
/* What the driver says of a GPU, without a context on it. */
#include "context.h"

#include <stdio.h>

/* The CUDA programming model promises so many blocks to every cluster. */
enum { PORTABLE_CLUSTER = 8 };

static int attribute(const xg_cu *driver, xg_cu_device device, unsigned which)
{
    int value = 0;
    return driver->device_attribute(&value, which, device) ? 0 : value;
}

static void fill(const xg_cu *driver, xg_cu_device device, xgemm_device *d)
{
#define GET(name) attribute(driver, device, XG_CU_DEVICE_ATTRIBUTE_##name)
    size_t memory = 0;
    driver->device_name(d->name, (int)sizeof d->name, device);
    driver->device_memory(&memory, device);
    snprintf(d->detail, sizeof d->detail, "CUDA driver %d.%d", driver->driver_version / 1000,
             driver->driver_version % 1000 / 10);
    d->compute_capability = 10 * GET(COMPUTE_CAPABILITY_MAJOR) + GET(COMPUTE_CAPABILITY_MINOR);
    d->multiprocessors = GET(MULTIPROCESSOR_COUNT);
    d->threads_per_sm = GET(MAX_THREADS_PER_MULTIPROCESSOR);
    d->blocks_per_sm = GET(MAX_BLOCKS_PER_MULTIPROCESSOR);
    d->threads_per_block = GET(MAX_THREADS_PER_BLOCK);
    d->registers_per_sm = GET(MAX_REGISTERS_PER_MULTIPROCESSOR);
    d->registers_per_block = GET(MAX_REGISTERS_PER_BLOCK);
    d->shared_per_sm = GET(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    d->shared_per_block = GET(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    d->shared_per_block_static = GET(MAX_SHARED_MEMORY_PER_BLOCK);
    d->shared_reserved = GET(RESERVED_SHARED_MEMORY_PER_BLOCK);
    d->cluster_blocks = GET(CLUSTER_LAUNCH) ? PORTABLE_CLUSTER : 0;
    d->l2_bytes = GET(L2_CACHE_SIZE);
    d->memory_bytes = (int64_t)memory;
    d->memory_bus_bits = GET(GLOBAL_MEMORY_BUS_WIDTH);
    d->core_clock_mhz = GET(CLOCK_RATE) * 1e-3;
    d->memory_clock_mhz = GET(MEMORY_CLOCK_RATE) * 1e-3;
    d->peak_bandwidth_gbs = 2.0 * d->memory_clock_mhz * (double)d->memory_bus_bits / 8.0 * 1e-3;
#undef GET
}

xgemm_status xg_cu_describe(int ordinal, xgemm_device *description, xg_error *error)
{
    const xg_cu *driver;
    xg_cu_device device;
    const xgemm_status status = xg_cu_open(&driver, error);
    if (status)
        return status;
    if (driver->device_get(&device, ordinal))
        return xg_fail(error, XGEMM_ERROR_NO_DEVICE, "there is no GPU %d; the CUDA driver has %d",
                       ordinal, xg_cu_count());
    fill(driver, device, description);
    return XGEMM_OK;
}

int xg_cu_count(void)
{
    const xg_cu *driver;
    int count = 0;
    if (xg_cu_open(&driver, NULL) || driver->device_count(&count))
        return 0;
    return count;
}
