/* SPDX-License-Identifier: BSD-3-Clause */
#include "occupancy.h"

#include "limits.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

static void fill_int(int *field, int value)
{
    if (*field == 0)
        *field = value;
}

static void fill_wide(int64_t *field, int64_t value)
{
    if (*field == 0)
        *field = value;
}

static void fill(xgemm_device *d, const xg_limits *limits)
{
    /* These two may well be 0, so that 0 alone does not say that they are missing. */
    if (d->warps_per_sm == 0) {
        d->shared_reserved = limits->shared_reserved;
        d->cluster_blocks = limits->cluster_blocks;
    }
    fill_int(&d->threads_per_sm, limits->threads_per_sm);
    fill_int(&d->blocks_per_sm, limits->blocks_per_sm);
    fill_int(&d->threads_per_block, 1024);
    fill_int(&d->registers_per_sm, limits->registers_per_sm);
    fill_wide(&d->shared_per_sm, limits->shared_per_sm);
    fill_wide(&d->shared_per_block, limits->shared_per_block);
    fill_int(&d->warps_per_sm, d->threads_per_sm / XG_WARP);
    fill_int(&d->registers_per_block, d->registers_per_sm);
    fill_int(&d->registers_per_thread, limits->registers_per_thread);
    fill_int(&d->register_granule, limits->register_granule);
    fill_int(&d->warp_granule, limits->warp_granule);
    fill_wide(&d->shared_granule, limits->shared_granule);
}

/* Its peaks and clocks, of which times are made. */
static xgemm_status check_rates(const xgemm_device *d, xg_error *error)
{
    const double most = 1e12;
    const struct {
        const char *name;
        double value;
    } fields[] = {{"core_clock_mhz", d->core_clock_mhz},
                  {"memory_clock_mhz", d->memory_clock_mhz},
                  {"peak_fp32_gflops", d->peak_fp32_gflops},
                  {"peak_bandwidth_gbs", d->peak_bandwidth_gbs},
                  {"peak_tf32_gflops", d->peak_tf32_gflops},
                  {"peak_fp16_gflops", d->peak_fp16_gflops},
                  {"peak_bf16_gflops", d->peak_bf16_gflops},
                  {"peak_fp64_gflops", d->peak_fp64_gflops},
                  {"peak_fp64_tensor_gflops", d->peak_fp64_tensor_gflops}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (!(fields[i].value >= 0.0 && fields[i].value <= most))
            return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                           "device->%s is %g; it must be from 0 to %g", fields[i].name,
                           fields[i].value, most);
    return XGEMM_OK;
}

/* A device may be made by hand; what divides or is multiplied must make sense. */
static xgemm_status check_device(const xgemm_device *d, xg_error *error)
{
    enum { MOST = 1 << 24 };
    const struct {
        const char *name;
        int64_t value, least;
    } fields[] = {
        {"multiprocessors", d->multiprocessors, 0},
        {"threads_per_sm", d->threads_per_sm, 1},
        {"blocks_per_sm", d->blocks_per_sm, 1},
        {"threads_per_block", d->threads_per_block, 1},
        {"registers_per_sm", d->registers_per_sm, 1},
        {"shared_per_sm", d->shared_per_sm, 1},
        {"shared_per_block", d->shared_per_block, 1},
        {"warps_per_sm", d->warps_per_sm, 1},
        {"registers_per_block", d->registers_per_block, 1},
        {"registers_per_thread", d->registers_per_thread, 1},
        {"register_granule", d->register_granule, 1},
        {"warp_granule", d->warp_granule, 1},
        {"shared_granule", d->shared_granule, 1},
        {"shared_reserved", d->shared_reserved, 0},
        {"cluster_blocks", d->cluster_blocks, 0},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].value < fields[i].least || fields[i].value > MOST)
            return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                           "device->%s is %" PRId64 "; a GPU has from %" PRId64 " to %d",
                           fields[i].name, fields[i].value, fields[i].least, MOST);
    return check_rates(d, error);
}

xgemm_status xg_device_complete(const xgemm_device *from, xgemm_device *all, xg_error *error)
{
    if (!from)
        return xg_fail(error, XGEMM_ERROR_NULL_POINTER, "device is NULL");
    const size_t size = from->struct_size;
    if (size < sizeof size)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "the device's struct_size is %zu; it must be filled in, by "
                       "xgemm_device_get() or xgemm_device_find()",
                       size);
    memset(all, 0, sizeof *all);
    memcpy(all, from, size < sizeof *all ? size : sizeof *all);
    if (all->compute_capability <= 0)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "the device \"%.*s\" has no compute capability: it is no GPU",
                       (int)sizeof all->name - 1, all->name);
    fill(all, xg_limits_of(all->compute_capability));
    return check_device(all, error);
}

static xgemm_status check_cluster(const xgemm_device *d, int cluster, xg_error *error)
{
    if (cluster < 0)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "cluster is %d; it is the number of blocks, or 0 for no clusters", cluster);
    if (cluster > 1 && d->cluster_blocks == 0)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "cluster is %d; GPUs of compute capability %d.%d have no clusters", cluster,
                       d->compute_capability / 10, d->compute_capability % 10);
    if (cluster > 1 && cluster > d->cluster_blocks)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "cluster is %d; a cluster has at most %d blocks", cluster,
                       d->cluster_blocks);
    return XGEMM_OK;
}

xgemm_status xg_occupancy_check(const xgemm_device *d, const xg_configuration *c, xg_error *error)
{
    if (c->threads < 1 || c->threads > d->threads_per_block)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE, "threads is %d; a block has from 1 to %d",
                       c->threads, d->threads_per_block);
    if (c->registers < 0 || c->registers > d->registers_per_thread)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "registers is %d; a thread has at most %d (0: they are not counted)",
                       c->registers, d->registers_per_thread);
    if (c->shared < 0 || c->shared > d->shared_per_block)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE,
                       "shared is %" PRId64 "; a block has from 0 to %" PRId64
                       " bytes of shared memory",
                       c->shared, d->shared_per_block);
    return check_cluster(d, c->cluster, error);
}

static int64_t round_up(int64_t x, int64_t granule)
{
    return (x + granule - 1) / granule * granule;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

int xg_blocks_by_registers(const xgemm_device *d, int threads, int registers, int64_t *allocated)
{
    const int64_t warps = (threads + XG_WARP - 1) / XG_WARP;
    const int64_t of_warp = round_up((int64_t)registers * XG_WARP, d->register_granule);
    *allocated = of_warp * warps;
    if (of_warp == 0)
        return INT_MAX;
    /* A launch is refused as if each partition took the same number of the block's warps. */
    if (of_warp * round_up(warps, d->warp_granule) > d->registers_per_block)
        return 0;
    const int64_t in_partition = d->registers_per_sm / d->warp_granule / of_warp;
    return (int)(in_partition * d->warp_granule / warps);
}

static int blocks_by_shared(const xgemm_device *d, int64_t shared, int64_t *allocated)
{
    *allocated = round_up(shared + d->shared_reserved, d->shared_granule);
    return *allocated == 0 ? INT_MAX : (int)(d->shared_per_sm / *allocated);
}

static unsigned limiters(const xgemm_occupancy_info *info)
{
    return (info->blocks_by_warps == info->blocks ? XGEMM_LIMITED_BY_WARPS : 0u) |
           (info->blocks_by_slots == info->blocks ? XGEMM_LIMITED_BY_BLOCKS : 0u) |
           (info->blocks_by_registers == info->blocks ? XGEMM_LIMITED_BY_REGISTERS : 0u) |
           (info->blocks_by_shared == info->blocks ? XGEMM_LIMITED_BY_SHARED : 0u);
}

static int clusters(const xgemm_device *d, int blocks, int cluster)
{
    const int64_t bound = cluster > 1 ? (int64_t)blocks * d->multiprocessors / cluster : 0;
    return bound < INT_MAX ? (int)bound : INT_MAX;
}

void xg_occupancy_compute(const xgemm_device *d, const xg_configuration *c,
                          xgemm_occupancy_info *info)
{
    const int warps = (c->threads + XG_WARP - 1) / XG_WARP;
    int64_t registers;
    info->blocks_by_warps = d->warps_per_sm / warps;
    info->blocks_by_slots = d->blocks_per_sm;
    info->blocks_by_registers = xg_blocks_by_registers(d, c->threads, c->registers, &registers);
    info->blocks_by_shared = blocks_by_shared(d, c->shared, &info->shared_allocated);
    info->registers_allocated = (int)registers;
    info->blocks = least(least(info->blocks_by_warps, info->blocks_by_slots),
                         least(info->blocks_by_registers, info->blocks_by_shared));
    info->limiters = limiters(info);
    info->warps = info->blocks * warps;
    info->threads = info->blocks * c->threads;
    info->warp_occupancy = (double)info->warps / d->warps_per_sm;
    info->thread_occupancy = (double)info->threads / d->threads_per_sm;
    info->cluster = c->cluster;
    info->clusters = clusters(d, info->blocks, c->cluster);
}

static xgemm_status occupancy(const xgemm_device *device, const xg_configuration *c,
                              xgemm_occupancy_info *info, xg_error *error)
{
    xgemm_device all;
    if (!device || !info)
        return xg_fail(error, XGEMM_ERROR_NULL_POINTER, "%s is NULL", device ? "info" : "device");
    const size_t size = info->struct_size;
    xgemm_status status = xg_size_check(size, "xgemm_occupancy_info", error);
    if (!status)
        status = xg_device_complete(device, &all, error);
    if (!status)
        status = xg_occupancy_check(&all, c, error);
    if (status)
        return status;

    xgemm_occupancy_info whole;
    memset(&whole, 0, sizeof whole);
    whole.struct_size = size;
    xg_occupancy_compute(&all, c, &whole);
    memcpy(info, &whole, size < sizeof whole ? size : sizeof whole);
    return XGEMM_OK;
}

xgemm_status xgemm_occupancy(const xgemm_device *device, int threads, int registers, int64_t shared,
                             int cluster, xgemm_occupancy_info *info)
{
    const xg_configuration c = {threads, registers, shared, cluster};
    const xgemm_status status = occupancy(device, &c, info, xg_thread_error());
    if (status)
        xg_error_prefix(xg_thread_error(), __func__);
    return status;
}
