/* SPDX-License-Identifier: BSD-3-Clause */
/* Named barriers (bar.sync, bar.arrive): those of some warps of a block. */
#include "model.h"
#include "running.h"
#include "scheduler.h"
#include "shared_memory.h"
#include "sm90_shim.h"
#include "vector_clock.h"

#include <stdio.h>
#include <stdlib.h>

enum { NUMBERS = 16 };

typedef struct {
    unsigned threads, arrived; /* of the phase that goes on; 0: nobody has come */
    unsigned phase;
    xg_clock released, of_completed; /* by arrivals; up to the last phase that completed */
} named_barrier;

/* What each waiting thread waits for. */
typedef struct {
    named_barrier *barrier;
    unsigned phase;
} awaited_phase;

static named_barrier barriers[XG_SIM_CLUSTER_MAX][NUMBERS];
static awaited_phase awaited[XG_SIM_THREADS_MAX];

static bool has_passed(int thread)
{
    return awaited[thread].barrier->phase != awaited[thread].phase;
}

static void describe(int thread, char *text, size_t size)
{
    const named_barrier *b = awaited[thread].barrier;
    snprintf(text, size, "waits without end for %u threads at a named barrier: %u have come",
             b->threads, b->arrived);
}

/* The running thread's arrival; the phase that it came in can be awaited from here on. */
static void arrive(unsigned number, unsigned threads, const xg_sim_location *here)
{
    const int thread = xg_sim_thread();
    if (number == 0 || number >= NUMBERS)
        xg_sim_fail_at(here, "waits at the barrier of number %u; they are 1 to %d", number,
                       NUMBERS - 1);
    if (threads == 0 || threads % XG_SIM_WARP != 0 || (int)threads > xg_sim_block_threads())
        xg_sim_fail_at(here, "waits at a barrier for %u threads; these must be whole warps",
                       threads);
    named_barrier *const b = &barriers[xg_sim_rank()][number];
    xg_sim_use_clocks();
    if (b->arrived > 0 && b->threads != threads)
        xg_sim_fail_at(here, "waits at a barrier for %u threads, and others there for %u", threads,
                       b->threads);
    xg_sim_sync_lanes(0xffffffff, false, here); /* a warp comes as a whole */
    awaited[thread] = (awaited_phase){b, b->phase};
    b->threads = threads;
    bool kept = xg_clock_release(thread, &b->released);
    if (++b->arrived == threads) {
        b->arrived = 0;
        b->phase++;
        kept = kept && xg_clock_copy(b->released, &b->of_completed);
    }
    if (!kept)
        xg_sim_no_memory("trace");
}

void xg_sim_named_barrier_sync(unsigned number, unsigned threads, const xg_sim_location *here)
{
    static const xg_sim_condition condition = {.met = has_passed, .describe = describe};
    arrive(number, threads, here);
    xg_sim_wait(&condition, here);
    xg_clock_acquire(xg_sim_thread(), awaited[xg_sim_thread()].barrier->of_completed);
}

void xg_sim_named_barrier_arrive(unsigned number, unsigned threads, const xg_sim_location *here)
{
    arrive(number, threads, here);
}

static void reset(void)
{
    for (int i = 0; i < XG_SIM_CLUSTER_MAX * NUMBERS; i++) {
        named_barrier *const b = &barriers[i / NUMBERS][i % NUMBERS];
        free(b->released);
        free(b->of_completed);
        *b = (named_barrier){.phase = 0};
    }
}

const xg_sim_model xg_sim_named_barrier_model = {.reset = reset};
