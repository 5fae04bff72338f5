/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What runs now: the launch, the blocks of it that run together (a cluster, or one block) and the
 * thread whose turn it is. Threads are numbered through all blocks of the cluster. The scheduler
 * sets all this; everything else asks, and reports what a thread does wrong.
 */
#ifndef XGEMM_SIM_RUNNING_H
#define XGEMM_SIM_RUNNING_H

#include "backend/backend.h"
#include "cuda/hooks.h"
#include "cuda_shim.h"
#include "options.h"

#include <string.h>

enum {
    XG_SIM_BLOCK_MAX = 1024,   /* threads of a block */
    XG_SIM_THREADS_MAX = 4096, /* of all blocks of a cluster */
    XG_SIM_WARP = 32
};

/* ---- The launch ---- */

const xg_launch *xg_sim_launched(void);
bool xg_sim_is_late(void);
bool xg_sim_is_of_halves(void);
bool xg_sim_is_sample(void); /* only some of its blocks run */
/* The trace of a launch that is checked and counted; NULL: this one is not. */
xg_trace *xg_sim_trace(void);
static inline bool xg_sim_is_traced(void)
{
    return xg_sim_trace() != NULL;
}
/* Dynamic shared memory of each block, in bytes. */
int64_t xg_sim_dynamic_bytes(void);

/* ---- The blocks ---- */

int xg_sim_cluster_blocks(void);
int xg_sim_block_threads(void);
int xg_sim_all_threads(void);
/* The number in the grid of the block that runs. */
int64_t xg_sim_block(void);

/* ---- The threads ---- */

extern int xg_sim_current __attribute__((visibility("hidden")));
static inline int xg_sim_thread(void)
{
    return xg_sim_current;
}
extern int xg_sim_current_rank __attribute__((visibility("hidden")));
/* The rank in the cluster of the running thread's block. */
static inline int xg_sim_rank(void)
{
    return xg_sim_current_rank;
}
/* Whether the thread, any thread of a block, is there and has not left the kernel. */
bool xg_sim_is_alive(int thread);
bool xg_sim_block_is_alive(int rank);
/* How many threads of a block have not left; how many of all blocks have. */
int xg_sim_block_alive(int rank);
int xg_sim_exited(void);

/* ---- Failures ---- */

/* "kernel tiled16, block (0, 1, 0), thread (3, 2, 0)"; static text. */
const char *xg_sim_where(void);
/* The launch fails with the sentence, and the running thread never goes on. */
_Noreturn void xg_sim_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, of a line of the kernel's source: "WHERE: FILE:LINE does what it does". */
_Noreturn void xg_sim_fail_at(const xg_sim_location *here, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
_Noreturn void xg_sim_no_memory(const char *what); /* "no memory for the simulator's WHAT" */
/*
 * The array, moved by realloc() if need be, with room for one element more than "count"; "room" is
 * how many it has room for, 0 at first. Else as xg_sim_no_memory(what).
 */
void *xg_sim_with_room(void *array, int count, int *room, size_t size, const char *what);
/* The sentence of the launch's failure; NULL: it has not failed. */
const char *xg_sim_failure(void);
/* XGEMM_ERROR_LAUNCH, or of the host's memory. */
xgemm_status xg_sim_failure_status(void);
/* For the scheduler itself, outside of any thread. */
void xg_sim_set_failure(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- For the scheduler ---- */

void xg_sim_begin_launch(const xg_launch *what, const xg_sim_options *options, int cluster_blocks);
/* The cluster whose first block that is; its threads are all alive. */
void xg_sim_begin_cluster(xg_index3 first_block);
void xg_sim_set_current_block(int thread);
void xg_sim_thread_left(void); /* the running one */

/*
 * The object of the kernels' threadIdx, under a name that can be written: the compiler takes the
 * other never to change.
 */
extern xg_index3 xg_sim_threadIdx __asm__("xg_sim_threadIdx") __attribute__((visibility("hidden")));
extern xg_index3 xg_sim_thread_indices[XG_SIM_THREADS_MAX] __attribute__((visibility("hidden")));
extern bool xg_sim_has_cluster __attribute__((visibility("hidden")));
/* Where a kernel of the user's own reads its indices; NULL: there is none. */
extern xg_indices *xg_sim_seen_indices __attribute__((visibility("hidden")));
void xg_sim_show_indices(xg_indices *seen);
static inline void xg_sim_set_current(int thread)
{
    xg_sim_current = thread;
    xg_sim_threadIdx = xg_sim_thread_indices[thread];
    if (xg_sim_has_cluster)
        xg_sim_set_current_block(thread);
    if (xg_sim_seen_indices)
        memcpy(xg_sim_seen_indices->thread_index, &xg_sim_threadIdx, sizeof xg_sim_threadIdx);
}

#endif
