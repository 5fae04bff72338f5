/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the threads of a cluster, or of a block where there is none, as fibers that take turns. */
#ifndef XGEMM_SIM_SCHEDULER_H
#define XGEMM_SIM_SCHEDULER_H

#include "running.h"

/* ---- For models ---- */

/* Waits for the threads of its warp in the mask; whether it orders their accesses too. */
void xg_sim_sync_lanes(uint32_t mask, bool orders, const xg_sim_location *here);

/* What threads wait for that is no barrier of their warp or block. */
typedef struct {
    bool (*met)(int thread);       /* it goes on */
    bool (*can_force)(int thread); /* an operation that was deferred would help; NULL: never */
    void (*force)(int thread);     /* does it; called by the thread itself */
    void (*describe)(int thread, char *text, size_t size); /* "waits for ..., which ..." */
    int weight; /* of several that hang the heaviest is described: others wait for it */
} xg_sim_condition;

/*
 * Waits until the condition is met. Where every thread waits, one of those that can
 * be forced is; where there is none, the launch fails and describes what hangs.
 */
void xg_sim_wait(const xg_sim_condition *condition, const xg_sim_location *here);

/* Lets the others go on, and goes on itself at its next turn: no barrier, orders nothing. */
void xg_sim_pause(void);

/* ---- For the simulator ---- */

/* After xg_sim_begin_launch(): a thread for each of a cluster's, which calls the entry point. */
xgemm_status xg_sim_prepare(const xg_sim_options *options, void (*entry_point)(const void *),
                            xg_error *error);
xgemm_status xg_sim_run_cluster(const xg_sim_options *options, xg_index3 first_block,
                                xg_error *error);
/* After a failed launch some hang inside the kernel: they cannot be used again. */
void xg_sim_drop_threads(void);
/* All memory that is kept from launch to launch, here and by the models. */
void xg_sim_free_kept(void);

#endif
