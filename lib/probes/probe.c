/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of probes, and the public functions. */
#include "probe.h"

#include "backend/sim/simulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const xg_probe probes[] = {
    {"copy-offset", "a copy whose source begins so many floats past an aligned address", "offset",
     "elements", &xg_program_probe_copy, true, xg_probe_copy_offset},
    {"copy-stride", "every s-th float read and written", "stride", "elements",
     &xg_program_probe_copy, true, xg_probe_copy_stride},
    {"rows-columns", "a row-major square matrix read row after row, and column after column",
     "side", "elements", &xg_program_probe_lines, true, xg_probe_rows_columns},
    {"complex-layout", "complex numbers as aligned pairs, as split arrays, and pairs part by part",
     "part", "bytes", &xg_program_probe_pairs_float, true, xg_probe_complex_layout},
    {"banks", "shared memory read with a stride, broadcast, and down the columns of a tile",
     "stride", "words", &xg_program_probe_banks, true, xg_probe_banks},
    {"powers", "consecutive powers of each thread's value, stored in two orders", "powers",
     "of each value", &xg_program_probe_powers_shared, true, xg_probe_powers},
    {"host-device", "transfers between host and GPU, from pageable and from pinned memory", "size",
     "bytes", &xg_program_probe_empty, false, xg_probe_host_device},
    {"launch", "empty kernels and events: what each of so many in a row takes", "count", "in a row",
     &xg_program_probe_empty, false, xg_probe_launch},
};
enum { PROBES = sizeof probes / sizeof *probes };

/* Bytes of an array: every point has a full block, and no grid is too large. */
static const int64_t bytes_least = 16384, bytes_most = INT64_C(1) << 39;
/* On the simulator a traced word takes another 24 bytes, and time. */
static const int64_t bytes_counted = 65536, bytes_counted_most = INT64_C(1) << 28;
static const int64_t bytes_transferred = INT64_C(1) << 28;

int xgemm_probe_count(void)
{
    return PROBES;
}

static unsigned runs_on(const xg_probe *probe)
{
    const bool counts = probe->counts && probe->program->traced && xg_trace_available();
    return (xg_backend_cuda.can_run(probe->program) ? XGEMM_RUNS_ON_CUDA : 0u) |
           (counts ? XGEMM_RUNS_ON_SIM : 0u);
}

static xgemm_status get(int index, xgemm_probe_info *info, xg_error *error)
{
    if (!info)
        return xg_fail(error, XGEMM_ERROR_NULL_POINTER, "info is NULL");
    const size_t size = info->struct_size;
    if (xg_size_check(size, "xgemm_probe_info", error))
        return XGEMM_ERROR_INVALID_VALUE;
    if (index < 0 || index >= PROBES)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE, "index is %d; there are %d probes", index,
                       PROBES);
    const xg_probe *probe = &probes[index];
    const xgemm_probe_info all = {.struct_size = size,
                                  .name = probe->name,
                                  .summary = probe->summary,
                                  .parameter = probe->parameter,
                                  .unit = probe->unit,
                                  .devices = runs_on(probe)};
    memcpy(info, &all, size < sizeof all ? size : sizeof all);
    return XGEMM_OK;
}

xgemm_status xgemm_probe_get(int index, xgemm_probe_info *info)
{
    const xgemm_status status = get(index, info, xg_thread_error());
    if (status)
        xg_error_prefix(xg_thread_error(), __func__);
    return status;
}

static xgemm_status unknown(const char *name, xg_error *error)
{
    char known[256] = "";
    size_t used = 0;
    for (int i = 0; i < PROBES && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                                 probes[i].name);
    return xg_fail(error, XGEMM_ERROR_INVALID_VALUE, "there is no probe \"%.64s\"; there are %s",
                   name, known);
}

static const xg_probe *find(const char *name)
{
    for (int i = 0; i < PROBES; i++)
        if (strcmp(probes[i].name, name) == 0)
            return &probes[i];
    return NULL;
}

static xgemm_status check_device(const xg_probe *probe, const xgemm_handle *handle, xg_error *error)
{
    const xg_backend *backend = handle->backend;
    if (backend == &xg_backend_cpu)
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "probe %s shows a GPU's memory: it runs on a GPU%s, not on the CPU",
                       probe->name, probe->counts ? " or on the simulator" : "");
    if (backend == &xg_backend_sim && !probe->counts)
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "probe %s measures time, which the simulator has none of; it runs on a GPU",
                       probe->name);
    if (backend == &xg_backend_sim && !(runs_on(probe) & XGEMM_RUNS_ON_SIM))
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "this build of libxgemm has no traced kernels: its compiler was not able");
    return XGEMM_OK;
}

/* A power of two past the L2 cache by a factor of 8, as far as the memory has room for it. */
static int64_t bytes_of_gpu(const xg_probe_run *run, uint64_t available)
{
    int64_t bytes = INT64_C(1) << 26;
    while (bytes < 8 * run->device.l2_bytes && bytes < bytes_most)
        bytes *= 2;
    while (bytes > bytes_least && (uint64_t)bytes > available / 4)
        bytes /= 2;
    return bytes;
}

static xgemm_status set_bytes(const xg_probe *probe, int64_t bytes, xg_probe_run *run)
{
    xgemm_handle *h = run->handle;
    const bool counts = h->backend == &xg_backend_sim;
    const int64_t most = counts ? bytes_counted_most : bytes_most;
    if (bytes && (bytes < bytes_least || bytes > most))
        return xg_fail(&h->error, XGEMM_ERROR_INVALID_VALUE,
                       "bytes is %lld; on the %s device it must be 0, for a size that suits it, or "
                       "from %lld to %lld",
                       (long long)bytes, h->backend->name, (long long)bytes_least, (long long)most);
    if (!bytes && counts)
        bytes = bytes_counted;
    if (!bytes) {
        uint64_t available, total;
        const xgemm_status status =
            h->backend->memory_info(h->device, &available, &total, &h->error);
        if (status)
            return status;
        bytes = bytes_of_gpu(run, available);
        if (probe->run == xg_probe_host_device)
            bytes = bytes < bytes_transferred ? bytes : bytes_transferred;
    }
    run->bytes = (size_t)(bytes / XG_PROBE_UNIT * XG_PROBE_UNIT);
    return XGEMM_OK;
}

/* The arrays go back; after a failure its sentence stays. */
static xgemm_status release(xg_probe_run *run, xgemm_status status)
{
    float *const arrays[] = {run->a, run->c};
    xgemm_handle *h = run->handle;
    for (int i = 0; i < 2; i++) {
        xg_error *error = status ? NULL : &h->error;
        const xgemm_status released =
            arrays[i] ? h->backend->release(h->device, arrays[i], error) : XGEMM_OK;
        status = status ? status : released;
    }
    return status;
}

static xgemm_status make_report(const xg_probe *probe, xg_probe_run *run,
                                xgemm_probe_report **result)
{
    xgemm_probe_report *report = calloc(1, sizeof *report);
    if (!report)
        return xg_fail(&run->handle->error, XGEMM_ERROR_OUT_OF_MEMORY, "the host is out of memory");
    report->struct_size = sizeof *report;
    report->name = probe->name;
    report->point_size = sizeof *report->points;
    report->point_count = run->count;
    report->points = run->points;
    run->points = NULL;
    *result = report;
    return XGEMM_OK;
}

static xgemm_status run_probe(const xg_probe *probe, xgemm_handle *handle, int64_t bytes,
                              xgemm_probe_report **result)
{
    xg_probe_run run = {.handle = handle};
    xgemm_status status = handle->backend->describe(handle->ordinal, &run.device, &handle->error);
    if (!status)
        status = set_bytes(probe, bytes, &run);
    if (!status)
        status = release(&run, probe->run(&run));
    if (!status)
        status = make_report(probe, &run, result);
    free(run.points);
    return status;
}

static xgemm_status check_and_run(xgemm_handle *handle, const char *name, int64_t bytes,
                                  xgemm_probe_report **report)
{
    xg_error *error = &handle->error;
    if (!name || !report)
        return xg_fail(error, XGEMM_ERROR_NULL_POINTER, "%s is NULL", name ? "report" : "name");
    const xg_probe *probe = find(name);
    if (!probe)
        return unknown(name, error);
    const xgemm_status status = check_device(probe, handle, error);
    return status ? status : run_probe(probe, handle, bytes, report);
}

xgemm_status xgemm_probe(xgemm_handle *handle, const char *name, int64_t bytes,
                         xgemm_probe_report **report)
{
    if (report)
        *report = NULL;
    if (!handle)
        return xg_no_handle(__func__);
    return xg_handle_done(handle, check_and_run(handle, name, bytes, report), __func__);
}

void xgemm_probe_free(xgemm_probe_report *report)
{
    if (!report)
        return;
    free((void *)report->points);
    free(report);
}
