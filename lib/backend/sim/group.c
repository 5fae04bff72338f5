/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbered barriers, which some warps of a block pass together. */
#include "order.h"
#include "scheduler.h"
#include "shared.h"
#include "sm90_shim.h"
#include "specialised.h"

#include <stdio.h>
#include <stdlib.h>

enum { NUMBERS = 16 };

typedef struct {
    unsigned threads, arrived; /* of the phase that goes on; 0: nobody has come */
    unsigned phase;
    xg_order_news gathered, passed; /* by arrivals; up to the last phase that ended */
} group_barrier;

/* What each waiting thread waits for. */
typedef struct {
    group_barrier *barrier;
    unsigned phase;
} awaited_phase;

static group_barrier barriers[XG_SIM_CLUSTER_MAX][NUMBERS];
static awaited_phase awaited[XG_SIM_THREADS_MAX];

static bool has_passed(int thread)
{
    return awaited[thread].barrier->phase != awaited[thread].phase;
}

static void describe(int thread, char *text, size_t size)
{
    const group_barrier *b = awaited[thread].barrier;
    snprintf(text, size, "waits without end for %u threads at a numbered barrier: %u have come",
             b->threads, b->arrived);
}

/* The running thread's arrival; the phase that it came in can be awaited from here on. */
static void arrive(unsigned number, unsigned threads, const xg_sim_place *here)
{
    const int thread = xg_sim_thread();
    if (number == 0 || number >= NUMBERS)
        xg_sim_blame(here, "waits at the barrier of number %u; they are 1 to %d", number,
                     NUMBERS - 1);
    if (threads == 0 || threads % XG_SIM_WARP != 0 || (int)threads > xg_sim_block_threads())
        xg_sim_blame(here, "waits at a barrier for %u threads; these must be whole warps", threads);
    group_barrier *const b = &barriers[xg_sim_rank()][number];
    xg_sim_specialise();
    if (b->arrived > 0 && b->threads != threads)
        xg_sim_blame(here, "waits at a barrier for %u threads, and others there for %u", threads,
                     b->threads);
    xg_sim_meet(0xffffffff, false, here); /* a warp comes as a whole */
    awaited[thread] = (awaited_phase){b, b->phase};
    b->threads = threads;
    bool kept = xg_order_pass_on(thread, &b->gathered);
    if (++b->arrived == threads) {
        b->arrived = 0;
        b->phase++;
        kept = kept && xg_order_keep(b->gathered, &b->passed);
    }
    if (!kept)
        xg_sim_abandon("%s: no memory for the simulator's trace", xg_sim_where());
}

void xg_sim_group_sync(unsigned number, unsigned threads, const xg_sim_place *here)
{
    static const xg_sim_condition condition = {.met = has_passed, .describe = describe};
    arrive(number, threads, here);
    xg_sim_wait(&condition, here);
    xg_order_learn(xg_sim_thread(), awaited[xg_sim_thread()].barrier->passed);
}

void xg_sim_group_arrive(unsigned number, unsigned threads, const xg_sim_place *here)
{
    arrive(number, threads, here);
}

void xg_sim_group_forget(void)
{
    for (int i = 0; i < XG_SIM_CLUSTER_MAX * NUMBERS; i++) {
        group_barrier *const b = &barriers[i / NUMBERS][i % NUMBERS];
        free(b->gathered);
        free(b->passed);
        *b = (group_barrier){.phase = 0};
    }
}
