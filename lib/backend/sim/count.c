/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for counts in global memory. Blocks (clusters) run one after the other, in the order of
 * their numbers: who counts for this one runs in the same cluster or has run, or the wait would
 * have no end on a card where not all find room at once.
 */
#include "order.h"
#include "scheduler.h"
#include "sm90_shim.h"
#include "specialised.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct {
    const unsigned *count;
    unsigned least;
} awaited_count;

static awaited_count awaited[XG_SIM_THREADS_MAX];

/* What those knew who counted, of the cluster that runs. */
typedef struct {
    const unsigned *count;
    xg_order_news gathered;
} known_count;

static known_count *known;
static bool was_awaited;
static int known_counts, known_room;

static known_count *find(const unsigned *count)
{
    for (int i = 0; i < known_counts; i++)
        if (known[i].count == count)
            return &known[i];
    return NULL;
}

static known_count *add(const unsigned *count)
{
    if (known_counts == known_room) {
        const int room = known_room > 0 ? 2 * known_room : 16;
        known_count *const more = realloc(known, (size_t)room * sizeof *more);
        if (!more)
            return NULL;
        known = more;
        known_room = room;
    }
    known[known_counts] = (known_count){.count = count};
    return &known[known_counts++];
}

void xg_sim_count_up(const unsigned *count)
{
    if (!xg_order_is_kept())
        return;
    known_count *its = find(count);
    if (!its)
        its = add(count);
    if (!its || !xg_order_pass_on(xg_sim_thread(), &its->gathered))
        xg_sim_abandon("%s: no memory for the simulator's trace", xg_sim_where());
}

bool xg_sim_count_was_awaited(void)
{
    return was_awaited;
}

void xg_sim_count_forget(void)
{
    was_awaited = false;
    for (int i = 0; i < known_counts; i++)
        free(known[i].gathered);
    free(known);
    known = NULL;
    known_counts = known_room = 0;
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

void xg_sim_count_wait(const unsigned *count, unsigned least, const xg_sim_place *here)
{
    static const xg_sim_condition condition = {is_reached, NULL, NULL, describe, 2};
    if (xg_sim_is_sample())
        return;
    was_awaited = true;
    awaited[xg_sim_thread()] = (awaited_count){count, least};
    xg_sim_wait(&condition, here);
    const known_count *const its = find(count);
    if (its)
        xg_order_learn(xg_sim_thread(), its->gathered);
}
