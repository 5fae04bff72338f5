/* SPDX-License-Identifier: BSD-3-Clause */
/* setmaxnreg: all threads of a warpgroup change their registers together. */
#include "model.h"
#include "running.h"
#include "sm90_shim.h"

#include <string.h>

/* How often each thread changed its registers. */
static int changes[XG_SIM_THREADS_MAX];
static bool any_changes;

void xg_sim_registers(int count, const xg_sim_location *here)
{
    xg_sim_use_clocks();
    changes[xg_sim_thread()]++;
    any_changes = true;
    if (count < 24 || count > 256 || count % 8 != 0)
        xg_sim_fail_at(here, "asks for %d registers; it must be a multiple of 8 from 24 to 256",
                       count);
}

/* Of a warpgroup's threads that have ended, each must have done it as often as the first. */
static void thread_ends(int thread)
{
    enum { WARPGROUP = 128 };
    const int in_block = thread % xg_sim_block_threads();
    const int first = thread - in_block % WARPGROUP;
    for (int other = first; any_changes && other < first + WARPGROUP && other < thread; other++)
        if (in_block / WARPGROUP == other % xg_sim_block_threads() / WARPGROUP &&
            !xg_sim_is_alive(other) && changes[other] != changes[thread])
            xg_sim_fail("%s has changed its registers %d times and others of its warpgroup %d "
                        "times; all threads of a warpgroup do it together",
                        xg_sim_where(), changes[thread], changes[other]);
}

static void reset(void)
{
    if (any_changes)
        memset(changes, 0, sizeof changes);
    any_changes = false;
}

const xg_sim_model xg_sim_registers_model = {.thread_ends = thread_ends, .reset = reset};
