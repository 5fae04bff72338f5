/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes: small kernels that show what a device's memory does. A probe is a row
 * of the table in probe.c; its function makes one point after the other.
 */
#ifndef XGEMM_LIB_PROBE_H
#define XGEMM_LIB_PROBE_H

#include "api/handle.h"
#include "args.h"
#include "families/programs.h"

/* What of a launch the simulator's counts are of; bits. */
enum { XG_PROBE_LOADS = 1, XG_PROBE_STORES = 2, XG_PROBE_SHARED = 4 };

/* What "percent of peak" is of. */
typedef enum { XG_PEAK_NONE, XG_PEAK_MEMORY, XG_PEAK_SHARED } xg_probe_peak;

/* One run of a probe: where it runs, with what memory, and its points so far. */
typedef struct {
    xgemm_handle *handle;
    xgemm_device device;
    size_t bytes;          /* of each array: a multiple of XG_PROBE_UNIT */
    float *a, *c;          /* on the device; NULL before xg_probe_arrays() */
    size_t a_size, c_size; /* in floats */
    bool warm;             /* the GPU has had something to do */
    xgemm_probe_point *points;
    int count, room;
} xg_probe_run;

/* One launch that a point is of. */
typedef struct {
    const char *series;
    double parameter, bytes;
    const xg_program *program;
    uint32_t grid[3], threads;
    xg_probe_args args; /* the arrays are filled in */
    unsigned counted;
    xg_probe_peak peak;
} xg_probe_case;

typedef struct {
    const char *name, *summary, *parameter, *unit;
    const xg_program *program; /* one that it needs */
    bool counts;               /* it runs on the simulator too */
    xgemm_status (*run)(xg_probe_run *);
} xg_probe;

/* With steps of up to 32 elements, every warp of every point is full. */
enum { XG_PROBE_UNIT = 4096, XG_PROBE_STEPS = 32 };

/* Makes the arrays A, of positive numbers, and C; sizes in floats. */
xgemm_status xg_probe_arrays(xg_probe_run *run, size_t a_size, size_t c_size);

/* Times (GPU) or counts (simulator) a launch on the arrays, and keeps the point. */
xgemm_status xg_probe_measure(xg_probe_run *run, const xg_probe_case *what);

/* Keeps a point. */
xgemm_status xg_probe_add(xg_probe_run *run, const xgemm_probe_point *point);

/* Two marks for times between them, until xg_probe_marks_end(), also after a failure. */
xgemm_status xg_probe_marks_begin(xg_probe_run *run, xg_mark *marks[2]);
void xg_probe_marks_end(xg_probe_run *run, xg_mark *marks[2]);

double xg_probe_median(double *values, int count);

/* The probes. */
xgemm_status xg_probe_copy_offset(xg_probe_run *run), xg_probe_copy_stride(xg_probe_run *run),
    xg_probe_rows_columns(xg_probe_run *run), xg_probe_complex_layout(xg_probe_run *run),
    xg_probe_banks(xg_probe_run *run), xg_probe_powers(xg_probe_run *run),
    xg_probe_host_device(xg_probe_run *run), xg_probe_launch(xg_probe_run *run);

#endif
