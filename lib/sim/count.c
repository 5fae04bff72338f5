/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for counts in global memory. Blocks (clusters) run one after the other, in the order of
 * their numbers: who counts for this one runs in the same cluster or has run, or the wait would
 * have no end on a card where not all find room at once.
 */
#include "scheduler.h"
#include "sm90_shim.h"
#include "specialised.h"

#include <stdio.h>

typedef struct {
    const unsigned *count;
    unsigned least;
} awaited_count;

static awaited_count awaited[XG_SIM_THREADS_MAX];

static bool is_reached(int thread)
{
    return *awaited[thread].count >= awaited[thread].least;
}

static void describe(int thread, char *text, size_t size)
{
    snprintf(
        text, size,
        "waits for a count of %u that is %u, and no block of a higher number may be waited for",
        awaited[thread].least, *awaited[thread].count);
}

void xg_sim_count_wait(const unsigned *count, unsigned least, const xg_sim_place *here)
{
    static const xg_sim_condition condition = {is_reached, NULL, NULL, describe, 2};
    if (xg_sim_is_sample())
        return;
    awaited[xg_sim_thread()] = (awaited_count){count, least};
    xg_sim_wait(&condition, here);
}
