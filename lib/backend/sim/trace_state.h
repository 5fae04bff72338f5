/* SPDX-License-Identifier: BSD-3-Clause */
/* What a trace keeps while a launch runs: trace.c fills it, trace_count.c counts. */
#ifndef XGEMM_SIM_TRACE_STATE_H
#define XGEMM_SIM_TRACE_STATE_H

#include "scheduler.h"
#include "trace.h"

enum {
    WARP = XG_SIM_WARP,
    WARP_BITS = 5,
    SECTOR_BYTES = 32,
    LINE_BYTES = 128,
    BANKS = 32,
    SEVERAL_WARPS = -1
};

/* Called for every access; compiled once for each size, which is constant there. */
#define HOT static inline __attribute__((always_inline))

/* One access of a warp: which threads, and where each. */
typedef struct {
    uint32_t lanes;
    uint32_t word[WARP]; /* 4-byte words from the array's beginning, as aligned as a line */
} request;

/* One place in the machine code; what its threads did since the warp's last stop. */
typedef struct {
    int merged; /* index of the site in the report; -1: not met yet */
    bool is_block;
    request *requests;
    int count, room;
    int next[WARP]; /* requests that each thread has taken part in */
} code_site;

/*
 * Who last wrote and read a word, to find races and reads of what nobody wrote. When in the
 * epoch: after so many barriers of the thread's warp, or its moment (order.h).
 */
typedef struct {
    uint64_t write_epoch, read_epoch; /* the block and its phase then; 0: never */
    uint32_t write_time, read_time;
    int16_t writer, reader; /* thread; -2 - WARP: several of one warp */
    uint16_t write_fence;   /* the writer's fences before it */
    bool atomic : 1;        /* what wrote it last */
    bool coming : 1;        /* an asynchronous copy that nobody has waited for */
    bool by_engine : 1;     /* a bulk copy wrote it last */
} word_state;

struct xg_trace {
    const xg_launch *launch;
    code_site *code; /* one for each record of xg_sites */
    int code_total;
    int *touched, touched_count; /* code sites used since the warp's last stop */
    xg_trace_site *sites;
    int site_count, site_room;
    xg_trace_totals totals;
    word_state *shared, *global[XG_REGIONS_MAX];
    int64_t product;                    /* the running block's z */
    const float *bases[XG_REGIONS_MAX]; /* where the regions begin for it */
    word_state *states[XG_REGIONS_MAX]; /* global's, from there on */
    uint64_t epoch;                     /* of now; see EPOCH_BITS */
    uint64_t ordered_since;             /* the epoch from which on order.h is asked; 0: it is not */
    uint32_t warp_phase[XG_SIM_THREADS_MAX / WARP]; /* the warp's barriers so far */
    uint16_t fences[XG_SIM_THREADS_MAX];            /* the thread's xg_fence_async() so far */
};

#endif
