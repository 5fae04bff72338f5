/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Watches a simulated launch: every load and store of the kernel's source comes
 * here by the compiler's instrumentation. Checks them (bounds, races, shared
 * memory that nothing wrote) and counts them by access site and warp.
 */
#ifndef XGEMM_SIM_TRACE_H
#define XGEMM_SIM_TRACE_H

#include "backend/backend.h"
#include "cuda_shim.h"

#include <stdint.h>

typedef struct xg_trace xg_trace;

/* One place in the source that accesses one array. */
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

/* NULL when memory is out, or when this build has no traced kernels. */
xg_trace *xg_trace_new(void);
void xg_trace_free(xg_trace *trace);

/* The sites, merged by source line and array, in the order of the source. */
const xg_trace_site *xg_trace_sites(xg_trace *trace, int *count);
const xg_trace_totals *xg_trace_sum(const xg_trace *trace);

/* For the scheduler: what it runs now. */
bool xg_trace_available(void);
bool xg_trace_begin(xg_trace *trace, const xg_launch *what);
void xg_trace_end(xg_trace *trace);
void xg_trace_block_begins(xg_trace *trace, int warps);
/* All threads of the warp have come to a barrier, of the block or their own, or to the end. */
void xg_trace_warp_stops(xg_trace *trace, int lanes_alive);
void xg_trace_barrier_passes(xg_trace *trace);
/* From now on order.h says what came before what. */
void xg_trace_keeps_order(xg_trace *trace);
/* All threads of the warp that are left have passed __syncwarp(). */
void xg_trace_warp_meets(xg_trace *trace, int warp);
/* The running thread has waited for its asynchronous copy to shared memory. */
void xg_trace_copy_arrives(const void *to, int bytes);
/* The running thread sends a bulk copy to shared memory; one has come. */
void xg_trace_bulk_sent(const void *to, int bytes, const xg_sim_place *here);
void xg_trace_bulk_comes(const void *to, int bytes);
/* The running thread's stores so far are for the copy engine and the tensor cores to see. */
void xg_trace_fence(void);
/* A matrix product reads shared memory, or the running thread that of a block of its cluster. */
void xg_trace_model_reads(const void *from, int bytes, bool by_product, const xg_sim_place *here);

#endif
