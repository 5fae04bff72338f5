/* SPDX-License-Identifier: BSD-3-Clause */
/* GPUs that need not be there. */
#include "catalog.h"

#include "fields.h"
#include "limits.h"

#include <stdio.h>
#include <string.h>

/* The same for every compute capability in the catalogue. */
enum { THREADS_PER_BLOCK = 1024, SHARED_STATIC = 48 * 1024 };

/* As the driver would report them. */
static void add_attributes(xgemm_device *d)
{
    const xg_limits *limits = xg_limits_of(d->compute_capability);
    d->threads_per_sm = limits->threads_per_sm;
    d->blocks_per_sm = limits->blocks_per_sm;
    d->threads_per_block = THREADS_PER_BLOCK;
    d->registers_per_sm = limits->registers_per_sm;
    d->registers_per_block = limits->registers_per_sm;
    d->shared_per_sm = limits->shared_per_sm;
    d->shared_per_block = limits->shared_per_block;
    d->shared_per_block_static = SHARED_STATIC;
    d->shared_reserved = limits->shared_reserved;
    d->cluster_blocks = limits->cluster_blocks;
}

void xg_catalog_describe(const xg_catalog_row *row, xgemm_device *d)
{
    memset(d, 0, sizeof *d);
    d->ordinal = XGEMM_DEVICE_CATALOG;
    d->numa_node = -1;
    d->compute_capability = row->compute_capability;
    snprintf(d->name, sizeof d->name, "%.*s", (int)strcspn(row->names, ","), row->names);
    d->multiprocessors = row->multiprocessors;
    d->l2_bytes = (int64_t)(row->l2_mib * (1 << 20));
    d->memory_bytes = (int64_t)(row->memory_gib * (1 << 30));
    d->memory_bus_bits = row->memory_bus_bits;
    d->core_clock_mhz = row->core_clock_mhz;
    d->peak_bandwidth_gbs = row->bandwidth_gbs;
    d->peak_tf32_gflops = row->tf32_tflops * 1e3;
    d->peak_fp16_gflops = row->fp16_tflops * 1e3;
    d->peak_bf16_gflops = row->bf16_tflops * 1e3;
    snprintf(d->source, sizeof d->source, "%s", row->source);
    add_attributes(d);
    xg_device_add_limits(d);
    xg_device_derive(d);
}

const xg_catalog_row *xg_catalog_named(const xg_name *name, int multiprocessors)
{
    for (int i = 0; i < xg_catalog_count; i++) {
        const xg_catalog_row *row = &xg_catalog[i];
        if (multiprocessors && row->multiprocessors != multiprocessors)
            continue;
        for (const char *next = row->names; next;) {
            xg_name own;
            if (xg_name_read(&own, next, &next) && xg_name_same(&own, name))
                return row;
        }
    }
    return NULL;
}

int xgemm_device_catalog_count(void)
{
    return xg_catalog_count;
}

static xgemm_status get(int index, xgemm_device *device, xg_error *error)
{
    xgemm_device full;
    const xgemm_status status = xg_device_check(device, error);
    if (status)
        return status;
    if (index < 0 || index >= xg_catalog_count)
        return xg_fail(error, XGEMM_ERROR_NO_DEVICE, "the catalogue has no GPU %d; it has 0 to %d",
                       index, xg_catalog_count - 1);
    xg_catalog_describe(&xg_catalog[index], &full);
    xg_device_store(device, &full);
    return XGEMM_OK;
}

xgemm_status xgemm_device_catalog_get(int index, xgemm_device *device)
{
    const xgemm_status status = get(index, device, xg_thread_error());
    if (status)
        xg_error_prefix(xg_thread_error(), __func__);
    return status;
}
