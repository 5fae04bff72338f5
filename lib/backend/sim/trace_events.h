/* SPDX-License-Identifier: BSD-3-Clause */
/* What the scheduler and the models tell the trace; only while a traced launch runs. */
#ifndef XGEMM_SIM_TRACE_EVENTS_H
#define XGEMM_SIM_TRACE_EVENTS_H

#include "backend/backend.h"
#include "cuda_shim.h"
#include "options.h"

/* ---- By the scheduler ---- */

bool xg_trace_begin(xg_trace *trace, const xg_launch *what);
void xg_trace_end(void);
/* A cluster, or a block. */
void xg_trace_block_begins(int warps);
/* All threads of the warp have come to a barrier, of the block or their own, or to the end. */
void xg_trace_warp_stops(int lanes_alive);
void xg_trace_barrier_passes(void);
/* All threads of the warp that are left have passed __syncwarp(). */
void xg_trace_warp_syncs(int warp);

/* ---- By models; "the thread" is the running one ---- */

/* From now on vector clocks say which accesses happen before which. */
void xg_trace_uses_clocks(void);
/* The thread has waited for a counter: the block may read what others wrote. */
void xg_trace_counter_awaited(void);
/* The thread has waited for its cp.async to there. */
void xg_trace_copy_completes(const void *to, int bytes);
/* The thread issues a bulk copy to shared memory; one has completed. */
void xg_trace_bulk_issued(const void *to, int bytes, const xg_sim_location *here);
void xg_trace_bulk_completes(const void *to, int bytes);
/* fence.proxy.async: the async proxy sees the thread's stores so far. */
void xg_trace_fence(void);
/* wgmma or TMA reads shared memory, or the thread that of a block of its cluster. */
typedef enum { XG_TRACE_THREAD, XG_TRACE_WGMMA, XG_TRACE_TMA } xg_trace_reader;
void xg_trace_model_reads(const void *from, int bytes, xg_trace_reader by,
                          const xg_sim_location *here);
/* The thread writes to shared memory of a block of its cluster. */
void xg_trace_model_writes(const void *to, int bytes, const xg_sim_location *here);

#endif
