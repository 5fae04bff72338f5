/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the blocks of a launch, one after the other, their threads as fibers. */
#ifndef XGEMM_SIM_SCHEDULER_H
#define XGEMM_SIM_SCHEDULER_H

#include "cuda_shim.h"
#include "trace.h"

/* In which order the warps of a block, and the threads of a warp, take their turns. */
typedef enum { XG_SIM_FORWARD, XG_SIM_REVERSE, XG_SIM_SHUFFLE } xg_sim_order;

enum {
    XG_SIM_BLOCK_MAX = 1024,   /* threads of a block */
    XG_SIM_THREADS_MAX = 4096, /* of all blocks of a cluster */
    XG_SIM_WARP = 32
};

typedef struct {
    xg_sim_order order;
    uint64_t seed;       /* of the shuffle */
    bool late;           /* asynchronous copies arrive when they are waited for, else at once */
    xg_trace *trace;     /* NULL: not watched */
    int64_t most_blocks; /* 0: all; else a sample spread over the grid */
} xg_sim_options;

/* Any thread may call; launches wait for one another. */
xgemm_status xg_sim_launch(const xg_launch *what, const xg_sim_options *options, xg_error *error);

/*
 * For the hooks of trace.c, called by a simulated thread: the launch fails with
 * the sentence, and the thread never goes on.
 */
_Noreturn void xg_sim_abandon(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The thread that runs: its number in the block; in a cluster those of its blocks follow on. */
extern int xg_sim_current __attribute__((visibility("hidden")));
static inline int xg_sim_thread(void)
{
    return xg_sim_current;
}

/* Of a cluster, or of the one block that runs. */
int xg_sim_all_threads(void);
/* The number of the block that runs in the grid. */
int64_t xg_sim_block(void);
/* "kernel tiled16, block (0, 1, 0), thread (3, 2, 0)"; static text. */
const char *xg_sim_where(void);
/* Waits for the threads of its warp in the mask; whether it orders their accesses too. */
void xg_sim_meet(uint32_t mask, bool orders, const xg_sim_place *here);

/* What threads wait for that is no barrier of their warp or block. */
typedef struct {
    bool (*met)(int thread);       /* it goes on */
    bool (*can_force)(int thread); /* something that was put off would help; NULL: never */
    void (*force)(int thread);     /* does that; called by the thread itself */
    void (*describe)(int thread, char *text, size_t size); /* "waits for ..., which ..." */
    int weight; /* of several that hang the heaviest is described: others wait for it */
} xg_sim_condition;

/*
 * Waits until the condition is met. Where every thread waits, one of those that can
 * be forced is; where there is none, the launch fails and describes what hangs.
 */
void xg_sim_wait(const xg_sim_condition *condition, const xg_sim_place *here);

/* Whether only some of the launch's blocks run. */
bool xg_sim_is_sample(void);

/* In the cluster that runs: the blocks; the running one's rank; the threads of each. */
int xg_sim_cluster_blocks(void);
int xg_sim_rank(void);
int xg_sim_block_threads(void);
/* Whether threads of the block have not left the kernel; how many of all blocks have. */
bool xg_sim_block_is_alive(int rank);
int xg_sim_exited(void);
/* The running kernel uses what compute capability 9.0 has: its threads' ends matter. */
void xg_sim_specialise(void);
/* Whether a thread of the block is there and has not left the kernel. */
bool xg_sim_is_alive(int thread);
bool xg_sim_is_late(void);
bool xg_sim_is_watched(void);
/* The launch that runs. */
const xg_launch *xg_sim_launched(void);

/* The dynamic shared memory of the launch, bytes. */
int64_t xg_sim_dynamic_bytes(void);
/* Whether an address is on the running thread's own stack. */
bool xg_sim_on_stack(uintptr_t address);

#endif
