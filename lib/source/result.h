/* SPDX-License-Identifier: BSD-3-Clause */
/* What the child process of xg_run() finds out. */
#ifndef XGEMM_SOURCE_RESULT_H
#define XGEMM_SOURCE_RESULT_H

#include "arguments.h"
#include "compile.h"
#include "image.h"

#include "backend/sim/simulator.h"

typedef struct {
    int64_t steps, lanes;
} xg_block_steps;

/* What the child found. Names in it are the image's, the arguments' and the compiled file's. */
typedef struct {
    xgemm_status status; /* of the launch, where it did not even begin */
    char text[sizeof((xg_error *)0)->text];
    bool ended; /* the kernel came to its end */
    double seconds;
    int64_t bytes_read, bytes_written; /* different bytes of global memory */
    int static_shared_bytes;
    xg_trace_totals totals;
    int site_count, fault_count, step_count;
    xg_trace_site *sites;
    xg_source_fault *faults;
    xg_block_steps *steps; /* by site of the code */
} xg_run_result;

#endif
