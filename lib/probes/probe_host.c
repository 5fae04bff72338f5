/* SPDX-License-Identifier: BSD-3-Clause */
/* The probes of what lies between host and GPU: transfers and launches. */
#include "probe.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SAMPLES = 11, LEAST_BYTES = 4096, LAUNCHES_MOST = 1024, PAIRS = 256 };

static double now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static xgemm_status keep(xg_probe_run *run, const char *series, double parameter, double bytes,
                         double *us)
{
    xgemm_probe_point point = {.series = series,
                               .parameter = parameter,
                               .bytes = bytes,
                               .microseconds = xg_probe_median(us, SAMPLES)};
    if (point.microseconds > 0.0)
        point.gbs = bytes / point.microseconds * 1e-3;
    return xg_probe_add(run, &point);
}

/* ---- host-device ---- */

/* What the calling thread waits for one transfer; the first touches everything once. */
static xgemm_status transfer(xg_probe_run *run, const char *series, void *host, size_t bytes,
                             bool up)
{
    xgemm_handle *h = run->handle;
    double us[SAMPLES] = {0.0};
    xgemm_status status = XGEMM_OK;
    for (int i = -1; i < SAMPLES && !status; i++) {
        const double from = now_us();
        status = up ? h->backend->upload(h->device, h->stream, run->a, host, bytes, &h->error)
                    : h->backend->download(h->device, h->stream, host, run->a, bytes, &h->error);
        us[i < 0 ? 0 : i] = now_us() - from;
    }
    return status ? status : keep(run, series, (double)bytes, (double)bytes, us);
}

static xgemm_status transfers(xg_probe_run *run, const char *series, void *host, bool up)
{
    xgemm_status status = XGEMM_OK;
    for (size_t bytes = LEAST_BYTES; bytes <= run->bytes && !status; bytes *= 4)
        status = transfer(run, series, host, bytes, up);
    return status;
}

static xgemm_status pageable(xg_probe_run *run)
{
    void *host = malloc(run->bytes);
    if (!host)
        return xg_fail(&run->handle->error, XGEMM_ERROR_OUT_OF_MEMORY,
                       "the host has no %zu bytes of memory left", run->bytes);
    memset(host, 1, run->bytes); /* the system gives memory when it is first written */
    xgemm_status status = transfers(run, "upload", host, true);
    if (!status)
        status = transfers(run, "download", host, false);
    free(host);
    return status;
}

static xgemm_status pinned(xg_probe_run *run)
{
    xgemm_handle *h = run->handle;
    void *host;
    xgemm_status status = h->backend->allocate_pinned(h->device, run->bytes, &host, &h->error);
    if (status)
        return status;
    memset(host, 1, run->bytes);
    status = transfers(run, "pinned-upload", host, true);
    if (!status)
        status = transfers(run, "pinned-download", host, false);
    if (status)
        h->backend->release_pinned(h->device, host, NULL);
    else
        status = h->backend->release_pinned(h->device, host, &h->error);
    return status;
}

xgemm_status xg_probe_host_device(xg_probe_run *run)
{
    xgemm_status status = xg_probe_arrays(run, run->bytes / sizeof(float), 1);
    if (!status)
        status = pageable(run);
    return status ? status : pinned(run);
}

/* ---- launch ---- */

static const xg_probe_args no_arguments;

static xgemm_status launch_empty(xg_probe_run *run)
{
    xgemm_handle *h = run->handle;
    const xg_launch launch = {.program = &xg_program_probe_empty,
                              .grid = {1, 1, 1},
                              .block = {32, 1, 1},
                              .arguments = &no_arguments,
                              .arguments_size = sizeof no_arguments};
    return h->backend->launch(h->device, h->stream, &launch, &h->error);
}

static xgemm_status wait(xg_probe_run *run)
{
    xgemm_handle *h = run->handle;
    return h->backend->wait(h->device, h->stream, &h->error);
}

/* A number of launches and one wait, by the host's clock; of it, the share of each launch. */
static xgemm_status launches(xg_probe_run *run, const char *series, int count)
{
    double us[SAMPLES] = {0.0};
    xgemm_status status = XGEMM_OK;
    for (int i = -1; i < SAMPLES && !status; i++) {
        const double from = now_us();
        for (int j = 0; j < count && !status; j++)
            status = launch_empty(run);
        if (!status)
            status = wait(run);
        us[i < 0 ? 0 : i] = (now_us() - from) / count;
    }
    return status ? status : keep(run, series, count, 0.0, us);
}

/* What it costs the calling thread to put two marks into the stream, in a row of such pairs. */
static xgemm_status mark_pairs(xg_probe_run *run, xg_mark *const marks[2])
{
    xgemm_handle *h = run->handle;
    double us[SAMPLES] = {0.0};
    xgemm_status status = XGEMM_OK;
    for (int i = -1; i < SAMPLES && !status; i++) {
        const double from = now_us();
        for (int j = 0; j < 2 * PAIRS && !status; j++)
            status = h->backend->mark_record(h->device, h->stream, marks[j % 2], &h->error);
        us[i < 0 ? 0 : i] = (now_us() - from) / PAIRS;
        if (!status)
            status = wait(run);
    }
    return status ? status : keep(run, "event-pair", PAIRS, 0.0, us);
}

/* What the GPU's clock finds between two marks that have so many launches between, for each. */
static xgemm_status between_marks(xg_probe_run *run, xg_mark *const marks[2], int count)
{
    xgemm_handle *h = run->handle;
    double us[SAMPLES] = {0.0};
    xgemm_status status = XGEMM_OK;
    for (int i = -1; i < SAMPLES && !status; i++) {
        status = h->backend->mark_record(h->device, h->stream, marks[0], &h->error);
        for (int j = 0; j < count && !status; j++)
            status = launch_empty(run);
        if (!status)
            status = h->backend->mark_record(h->device, h->stream, marks[1], &h->error);
        if (!status)
            status = h->backend->mark_elapsed(h->device, marks[0], marks[1], &us[i < 0 ? 0 : i],
                                              &h->error);
        us[i < 0 ? 0 : i] /= count;
    }
    return status ? status : keep(run, "between-events", count, 0.0, us);
}

static xgemm_status events(xg_probe_run *run)
{
    xg_mark *marks[2];
    xgemm_status status = xg_probe_marks_begin(run, marks);
    if (!status)
        status = mark_pairs(run, marks);
    for (int count = 1; count <= LAUNCHES_MOST && !status; count *= 4)
        status = between_marks(run, marks, count);
    xg_probe_marks_end(run, marks);
    return status;
}

xgemm_status xg_probe_launch(xg_probe_run *run)
{
    xgemm_status status = launches(run, "synchronised", 1);
    for (int count = 4; count <= LAUNCHES_MOST && !status; count *= 4)
        status = launches(run, "back-to-back", count);
    return status ? status : events(run);
}
