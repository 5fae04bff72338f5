/* SPDX-License-Identifier: BSD-3-Clause */
/* What a trace keeps, for the files trace_*.c. */
#ifndef XGEMM_SIM_TRACE_STATE_H
#define XGEMM_SIM_TRACE_STATE_H

#include "running.h"
#include "trace.h"

enum {
    WARP = XG_SIM_WARP,
    WARP_BITS = 5,
    SECTOR_BYTES = 32,
    LINE_BYTES = 128,
    BANKS = 32,
    SEVERAL_WARPS = -1,
    PHASE_BITS = 32
};

/* Called for every access; compiled once for each size, which is constant there. */
#ifdef XGEMM_COVERAGE /* tests/coverage.sh: counted once */
#define HOT static inline
#else
#define HOT static inline __attribute__((always_inline))
#endif

/* One access of a warp: which threads, and where each. */
typedef struct {
    uint32_t lanes;
    uint64_t key;        /* of a user's own kernel: the iterations of its loops, path.h */
    int merged;          /* index of its site in the report */
    uint32_t word[WARP]; /* 4-byte words from the array's beginning, as aligned as a line */
} request;

/* Of a table of requests by key: where one is, if the warp's stops are still as many. */
typedef struct {
    uint64_t stop;
    int index;
} request_slot;

/* One access in the machine code; what its threads did since the warp's last stop. */
typedef struct {
    int merged; /* index of the site in the report; -1: not met yet */
    bool is_block;
    request *requests;
    int count, room;
    request_slot *slots;       /* of a user's own kernel: twice the room; NULL: few requests */
    int next[WARP];            /* requests that each thread has taken part in */
    int64_t steps, step_lanes; /* of a block, in all: as in xg_trace_totals */
} code_site;

/*
 * Who last wrote and read a word, or a half of one, to find races and reads of what nobody wrote. A
 * phase is the number of the block among those that ran, from 1, and its barriers so far
 * (PHASE_BITS). The epoch within it: the barriers of the thread's warp so far or, where vector
 * clocks are used, its epoch.
 */
typedef struct {
    uint64_t write_phase, read_phase; /* 0: never */
    uint32_t write_epoch, read_epoch;
    int16_t writer, reader;  /* thread; -2 - WARP: several of one warp */
    uint16_t write_fence;    /* the writer's fences before it */
    bool atomic : 1;         /* what wrote it last */
    bool in_flight : 1;      /* an asynchronous copy that nobody has waited for */
    bool by_async_proxy : 1; /* a bulk copy wrote it last */
} word_state;

struct xg_trace {
    const xg_launch *launch;
    struct source_memories *source; /* of a kernel of the user's own: source_memory.h; else NULL */
    code_site *code;                /* one for each record of xg_sites */
    int code_total;
    int *touched, touched_count; /* code sites used since the warp's last stop */
    xg_trace_site *sites;
    int site_count, site_room;
    xg_trace_totals totals;
    word_state *shared, *global[XG_REGIONS_MAX];
    int64_t batch;            /* the running block's z */
    int unit[XG_REGIONS_MAX]; /* the bytes that have a state of their own: of 16-bit elements 2,
                                 since two threads may have a half of a word each, else 4 */
    const char *bases[XG_REGIONS_MAX];  /* where the regions begin for it */
    word_state *states[XG_REGIONS_MAX]; /* global's, from there on */
    uint64_t phase;                     /* the current one */
    uint64_t clocks_since;              /* the phase from which on clocks are used; 0: not yet */
    bool counter_awaited;               /* by the running block: it may read what others wrote */
    uint32_t warp_phase[XG_SIM_THREADS_MAX / WARP]; /* the warp's barriers so far */
    uint16_t fences[XG_SIM_THREADS_MAX];            /* the thread's fence.proxy.async so far */
};

/* That of the launch that runs; NULL: it has none. */
extern xg_trace *xg_trace_current __attribute__((visibility("hidden")));

HOT uint64_t block_of(uint64_t phase)
{
    return phase >> PHASE_BITS;
}

/* From now on the region is that matrix of several. */
void xg_trace_use_matrix(xg_trace *trace, int index, int64_t matrix);

/* Of so many bytes each. */
static inline int64_t region_units(const xg_region *region, int unit)
{
    return region->rows > 0
               ? (region->rows - 1) * (region->stride_bytes / unit) + region->row_bytes / unit
               : 0;
}

#endif
