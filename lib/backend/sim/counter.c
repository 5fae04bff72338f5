/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for counters in global memory. Clusters (blocks, where there are none) run one after the
 * other, in the order of their numbers: a wait for one that has not run is an error, since on a
 * card it would never end where not all are resident at once.
 */
#include "model.h"
#include "running.h"
#include "scheduler.h"
#include "sm90_shim.h"
#include "trace_events.h"
#include "vector_clock.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct {
    const unsigned *count;
    unsigned least;
} awaited_count;

static awaited_count awaited[XG_SIM_THREADS_MAX];

/* A counter that threads of the running cluster have added to, and what they released by that. */
typedef struct {
    const unsigned *count;
    xg_clock released;
} counter;

static counter *counters;
static int counter_count, counter_room;

static counter *find(const unsigned *count)
{
    for (int i = 0; i < counter_count; i++)
        if (counters[i].count == count)
            return &counters[i];
    return NULL;
}

static counter *add(const unsigned *count)
{
    counters = xg_sim_with_room(counters, counter_count, &counter_room, sizeof *counters, "trace");
    counters[counter_count] = (counter){.count = count};
    return &counters[counter_count++];
}

void xg_sim_count_up(const unsigned *count)
{
    if (!xg_clocks_are_kept())
        return;
    counter *its = find(count);
    if (!its)
        its = add(count);
    if (!xg_clock_release(xg_sim_thread(), &its->released))
        xg_sim_no_memory("trace");
}

static void reset(void)
{
    for (int i = 0; i < counter_count; i++)
        free(counters[i].released);
    free(counters);
    counters = NULL;
    counter_count = counter_room = 0;
}

bool xg_sim_count_is_reached(const unsigned *count, unsigned least)
{
    return *count >= least;
}

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

void xg_sim_count_wait(const unsigned *count, unsigned least, const xg_sim_location *here)
{
    static const xg_sim_condition condition = {is_reached, NULL, NULL, describe, 2};
    if (xg_sim_is_sample())
        return;
    xg_sim_use_models();
    if (xg_sim_is_traced())
        xg_trace_counter_awaited();
    awaited[xg_sim_thread()] = (awaited_count){count, least};
    xg_sim_wait(&condition, here);
    const counter *const its = find(count);
    if (its)
        xg_clock_acquire(xg_sim_thread(), its->released);
}

const xg_sim_model xg_sim_counter_model = {.reset = reset};
