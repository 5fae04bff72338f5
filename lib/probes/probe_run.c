/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a probe's launches: on a GPU between marks, on the simulator under the trace. */
#include "probe.h"
#include "backend/sim/simulator.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 11, LAUNCHES_MAX = 100 };

static const double sample_us = 1000.0; /* marks cost some; a sample is not shorter than this */
static const double warm_us = 20000.0;  /* until a GPU's clocks have risen */

/* Positive, small and not all equal: what a kernel computes of them stays finite. */
static xgemm_status fill(xg_probe_run *run, float *array, size_t size)
{
    enum { CHUNK = 1 << 18 };
    xgemm_handle *handle = run->handle;
    float *values = malloc(CHUNK * sizeof *values);
    xgemm_status status = XGEMM_OK;
    if (!values)
        return xg_fail(&handle->error, XGEMM_ERROR_OUT_OF_MEMORY, "the host is out of memory");
    for (int i = 0; i < CHUNK; i++)
        values[i] = 0.5f + (float)(i * 37 % 64) / 128.0f;
    for (size_t at = 0; at < size && !status; at += CHUNK) {
        const size_t count = size - at < CHUNK ? size - at : CHUNK;
        status = handle->backend->upload(handle->device, handle->stream, array + at, values,
                                         count * sizeof *values, &handle->error);
    }
    free(values);
    return status;
}

static xgemm_status allocate(xg_probe_run *run, size_t size, float **array)
{
    xgemm_handle *handle = run->handle;
    void *memory;
    const xgemm_status status =
        handle->backend->allocate(handle->device, size * sizeof(float), &memory, &handle->error);
    *array = status ? NULL : memory;
    return status;
}

xgemm_status xg_probe_arrays(xg_probe_run *run, size_t a_size, size_t c_size)
{
    xgemm_status status = allocate(run, a_size, &run->a);
    if (!status)
        status = allocate(run, c_size, &run->c);
    if (!status)
        status = fill(run, run->a, a_size);
    run->a_size = a_size;
    run->c_size = c_size;
    return status;
}

xgemm_status xg_probe_add(xg_probe_run *run, const xgemm_probe_point *point)
{
    if (run->count == run->room) {
        const int room = run->room ? 2 * run->room : 32;
        xgemm_probe_point *larger = realloc(run->points, (size_t)room * sizeof *larger);
        if (!larger)
            return xg_fail(&run->handle->error, XGEMM_ERROR_OUT_OF_MEMORY,
                           "the host is out of memory");
        run->points = larger;
        run->room = room;
    }
    run->points[run->count++] = *point;
    return XGEMM_OK;
}

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

double xg_probe_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return count % 2 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
}

static xg_region array(const char *name, const float *base, size_t size)
{
    const int64_t bytes = (int64_t)(size * sizeof *base);
    return (xg_region){
        .name = name, .base = base, .rows = 1, .row_bytes = bytes, .stride_bytes = bytes};
}

static xg_launch launch_of(const xg_probe_run *run, const xg_probe_case *what, xg_probe_args *args)
{
    *args = what->args;
    args->a = run->a;
    args->c = run->c;
    xg_launch launch = {.program = what->program,
                        .block = {what->threads, 1, 1},
                        .regions = {[XG_REGION_A] = array("A", run->a, run->a_size),
                                    [XG_REGION_C] = array("C", run->c, run->c_size)},
                        .arguments = args,
                        .arguments_size = sizeof *args};
    memcpy(launch.grid, what->grid, sizeof launch.grid);
    return launch;
}

/* ---- Counted ---- */

static bool is_counted(const xg_trace_site *site, unsigned counted)
{
    return site->is_shared == ((counted & XG_PROBE_SHARED) != 0) &&
           (counted & (site->is_store ? XG_PROBE_STORES : XG_PROBE_LOADS));
}

static xgemm_status count(xg_probe_run *run, const xg_probe_case *what, const xg_launch *launch,
                          xgemm_probe_point *point)
{
    xg_error *error = &run->handle->error;
    xg_trace *trace = xg_trace_new();
    if (!trace)
        return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "no memory for the simulator's trace");
    const xg_sim_options options = {.trace = trace};
    const xgemm_status status = xg_sim_launch(launch, &options, error);
    int sites;
    const xg_trace_site *site = xg_trace_sites(trace, &sites);
    for (int i = 0; i < sites && !status; i++, site++)
        if (is_counted(site, what->counted)) {
            point->requests += site->requests;
            point->sectors += site->sectors;
            point->wavefronts += site->wavefronts;
            point->ideal_sectors += site->ideal_sectors;
            point->ideal_wavefronts += site->ideal_wavefronts;
        }
    xg_trace_free(trace);
    return status;
}

/* ---- Timed ---- */

/* Microseconds of one launch, as the mean of several between two marks. */
static xgemm_status sample(xg_probe_run *run, const xg_launch *launch, xg_mark *const marks[2],
                           int launches, double *us)
{
    xgemm_handle *h = run->handle;
    xgemm_status status = h->backend->mark_record(h->device, h->stream, marks[0], &h->error);
    for (int i = 0; i < launches && !status; i++)
        status = h->backend->launch(h->device, h->stream, launch, &h->error);
    if (!status)
        status = h->backend->mark_record(h->device, h->stream, marks[1], &h->error);
    if (!status)
        status = h->backend->mark_elapsed(h->device, marks[0], marks[1], us, &h->error);
    *us /= launches;
    return status;
}

/* The first launch also loads the kernel; of the last, the time. */
static xgemm_status warm_up(xg_probe_run *run, const xg_launch *launch, xg_mark *const marks[2],
                            double *us)
{
    xgemm_status status = sample(run, launch, marks, 1, us);
    double busy = *us;
    do {
        if (!status)
            status = sample(run, launch, marks, 1, us);
        busy += *us;
    } while (!status && !run->warm && busy < warm_us);
    run->warm = true;
    return status;
}

static xgemm_status time_between(xg_probe_run *run, const xg_launch *launch,
                                 xg_mark *const marks[2], double *median)
{
    double us[SAMPLES] = {0.0}, one = 0.0;
    xgemm_status status = warm_up(run, launch, marks, &one);
    const int launches = one * LAUNCHES_MAX <= sample_us ? LAUNCHES_MAX
                         : one >= sample_us              ? 1
                                                         : (int)(sample_us / one) + 1;
    for (int i = 0; i < SAMPLES && !status; i++)
        status = sample(run, launch, marks, launches, &us[i]);
    *median = xg_probe_median(us, SAMPLES);
    return status;
}

xgemm_status xg_probe_marks_begin(xg_probe_run *run, xg_mark *marks[2])
{
    xgemm_handle *h = run->handle;
    marks[0] = marks[1] = NULL;
    const xgemm_status status = h->backend->mark_create(h->device, &marks[0], &h->error);
    return status ? status : h->backend->mark_create(h->device, &marks[1], &h->error);
}

void xg_probe_marks_end(xg_probe_run *run, xg_mark *marks[2])
{
    xgemm_handle *h = run->handle;
    for (int i = 0; i < 2; i++)
        if (marks[i])
            h->backend->mark_destroy(h->device, marks[i]);
}

static xgemm_status time_launch(xg_probe_run *run, const xg_launch *launch, double *median)
{
    xg_mark *marks[2];
    xgemm_status status = xg_probe_marks_begin(run, marks);
    if (!status)
        status = time_between(run, launch, marks, median);
    xg_probe_marks_end(run, marks);
    return status;
}

static double peak_of(const xgemm_device *device, xg_probe_peak peak)
{
    if (peak == XG_PEAK_MEMORY)
        return device->peak_bandwidth_gbs;
    if (peak == XG_PEAK_SHARED) /* each of 32 banks gives 4 bytes a clock */
        return 128.0 * device->multiprocessors * device->core_clock_mhz * 1e-3;
    return 0.0;
}

xgemm_status xg_probe_measure(xg_probe_run *run, const xg_probe_case *what)
{
    xg_probe_args args;
    const xg_launch launch = launch_of(run, what, &args);
    xgemm_probe_point point = {
        .series = what->series, .parameter = what->parameter, .bytes = what->bytes};
    const bool counts = run->handle->backend == &xg_backend_sim;
    const xgemm_status status =
        counts ? count(run, what, &launch, &point) : time_launch(run, &launch, &point.microseconds);
    if (status)
        return status;
    const double peak = peak_of(&run->device, what->peak);
    if (point.microseconds > 0.0)
        point.gbs = point.bytes / point.microseconds * 1e-3;
    if (peak > 0.0)
        point.percent_of_peak = 100.0 * point.gbs / peak;
    return xg_probe_add(run, &point);
}
