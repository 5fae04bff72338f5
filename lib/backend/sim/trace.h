/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A trace of simulated launches: every load and store of the kernel's source comes here by the
 * compiler's instrumentation. Checks them (bounds, races, shared memory that nothing wrote) and
 * counts them by access site and warp.
 */
#ifndef XGEMM_SIM_TRACE_H
#define XGEMM_SIM_TRACE_H

#include "options.h"

#include <stdbool.h>
#include <stdint.h>

/* One line of the source that accesses one array. */
typedef struct {
    const char *file; /* "tiled.inc" */
    int line;
    const char *source; /* the line's text */
    const char *array;  /* a region's or a shared array's name */
    bool is_shared, is_store, is_atomic;
    int bytes;                   /* of one thread's access */
    int64_t requests;            /* instructions of a warp with at least one thread */
    int64_t partial_requests;    /* those with fewer threads than the warp has */
    int64_t lanes;               /* threads, over all requests */
    int64_t sectors;             /* 32-byte sectors touched; global only */
    int64_t ideal_sectors;       /* as few as hold what was asked */
    int64_t cache_lines;         /* 128-byte lines touched; global only */
    int64_t wavefronts;          /* passes over the banks; shared only */
    int64_t ideal_wavefronts;    /* without conflicts */
    int most_sectors, most_ways; /* of one request */
} xg_trace_site;

typedef struct {
    int64_t blocks, warps, barriers;
    int64_t steps;      /* basic blocks that warps ran */
    int64_t step_lanes; /* threads in them */
} xg_trace_totals;

/* Whether this build has traced kernels. */
bool xg_trace_available(void);

/* NULL when memory is out, or when this build has no traced kernels. */
xg_trace *xg_trace_new(void);
void xg_trace_free(xg_trace *trace);

/* The sites, merged by source line and array, in the order of the source. */
const xg_trace_site *xg_trace_sites(xg_trace *trace, int *count);
const xg_trace_totals *xg_trace_sum(const xg_trace *trace);

#endif
