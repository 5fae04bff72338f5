/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A trace of simulated launches. The compiler's instrumentation of a kernel's source calls hooks at
 * every load and store (trace_access.c), which check it (bounds, races, reads of shared memory that
 * nothing wrote) and count the warps' requests by access site.
 */
#ifndef XGEMM_SIM_TRACE_H
#define XGEMM_SIM_TRACE_H

#include "cuda/hooks.h"
#include "options.h"

#include <stdbool.h>
#include <stdint.h>

/* Accesses of one size and kind (load, store, atomic) by one source line to one array. */
typedef struct {
    const char *file; /* "tiled.inc" */
    int line;
    const char *source; /* the line's text */
    const char *array;  /* "A", "B", "C", what the workspace holds, or the shared array's name */
    char joined[96];    /* of a user's own kernel, to several arrays: "a+b"; array is NULL */
    bool is_joined;     /* some of its requests were to other arrays, too, and have another site */
    bool is_shared;
    bool is_constant; /* constant memory: a pass for each different word of a request */
    bool is_store;    /* also of an atomic */
    bool is_atomic;
    int bytes;                 /* of one thread's access */
    int64_t requests;          /* a warp's instructions in which at least one thread takes part */
    int64_t partial_requests;  /* those with fewer threads than the warp had running */
    int64_t lanes;             /* threads, over all requests */
    int64_t sectors;           /* 32-byte sectors touched; global only */
    int64_t ideal_sectors;     /* the fewest that hold the bytes requested */
    int64_t cache_lines;       /* 128-byte lines touched; global only */
    int64_t wavefronts;        /* passes over the banks; shared only */
    int64_t ideal_wavefronts;  /* without conflicts */
    int most_sectors;          /* of one request */
    int most_ways;             /* worst bank conflict: n-way; 1: none */
    uint32_t request_lanes;    /* of a user's own kernel, the worst request: who took part, and */
    uint32_t request_word[32]; /* which word each wanted */
} xg_trace_site;

typedef struct {
    int64_t blocks, warps, barriers;
    int64_t steps;      /* basic blocks, counted once for each warp that runs one */
    int64_t step_lanes; /* and for each thread: / (32 steps) is the SIMT efficiency */
    int64_t tensor_flops[XG_TENSOR_TYPES]; /* of a user's own kernel, on tensor cores */
} xg_trace_totals;

/* Whether this build has traced kernels. */
bool xg_trace_available(void);

/* An empty trace; NULL: out of memory, or this build has no traced kernels. */
xg_trace *xg_trace_new(void);
void xg_trace_free(xg_trace *trace);

/* The sites, in the order of the source; they stay until the next launch with the trace. */
const xg_trace_site *xg_trace_sites(xg_trace *trace, int *count);

/* The name of its array, or those of its arrays. */
const char *xg_trace_array_of(const xg_trace_site *site);

/* The bytes of the arrays in static shared memory that were accessed so far. */
int64_t xg_trace_static_bytes(const xg_trace *trace);

/* Of all launches so far. */
const xg_trace_totals *xg_trace_get_totals(const xg_trace *trace);

#endif
