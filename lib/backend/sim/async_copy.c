/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cp.async. A copy happens when it is issued (early) or when its thread waits for it (late): a
 * kernel that lacks a wait is right in the one order and wrong in the other. The trace is told when
 * a copy may be relied on.
 */
#include "cuda_shim.h"
#include "model.h"
#include "running.h"
#include "trace_events.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    void *to;
    const void *from;
    unsigned whole, bytes;
    int64_t group;
} copy;

/* The copies of a thread that it has not waited for, oldest first. */
typedef struct {
    copy *copies;
    int first, count, room;
    int64_t groups; /* committed */
} queue;

static queue queues[XG_SIM_THREADS_MAX];

static void make(const copy *c)
{
    memcpy(c->to, c->from, c->bytes);
    memset((char *)c->to + c->bytes, 0, c->whole - c->bytes);
}

static void append(queue *q, const copy *c)
{
    q->copies = xg_sim_with_room(q->copies, q->count, &q->room, sizeof *q->copies, "copies");
    q->copies[q->count++] = *c;
}

void xg_sim_copy_async(void *to, const void *from, unsigned whole, unsigned bytes)
{
    queue *q = &queues[xg_sim_thread()];
    const copy c = {to, from, whole, bytes, q->groups};
    xg_sim_use_models();
    if (bytes > whole || (uintptr_t)to % whole || (bytes > 0 && (uintptr_t)from % whole))
        xg_sim_fail("%s: an asynchronous copy of %u of %u bytes from %p to %p is not aligned or "
                    "too long",
                    xg_sim_where(), bytes, whole, from, to);
    if (!xg_sim_is_late())
        make(&c);
    if (xg_sim_is_late() || xg_sim_is_traced())
        append(q, &c);
}

void xg_sim_copy_commit(void)
{
    xg_sim_use_models();
    queues[xg_sim_thread()].groups++;
}

void xg_sim_copy_wait(int groups_left)
{
    queue *q = &queues[xg_sim_thread()];
    for (; q->first < q->count && q->copies[q->first].group < q->groups - groups_left; q->first++) {
        const copy *c = &q->copies[q->first];
        if (xg_sim_is_late())
            make(c);
        if (xg_sim_is_traced())
            xg_trace_copy_completes(c->to, (int)c->whole);
    }
    if (q->first == q->count)
        q->first = q->count = 0;
}

/* What the thread never waited for has arrived, or never does. */
static void thread_ends(int thread)
{
    queue *q = &queues[thread];
    q->first = q->count = 0;
    q->groups = 0;
}

static void reset(void)
{
    for (int thread = 0; thread < xg_sim_all_threads(); thread++)
        thread_ends(thread);
}

static void unload(void)
{
    for (int thread = 0; thread < XG_SIM_THREADS_MAX; thread++)
        free(queues[thread].copies);
    memset(queues, 0, sizeof queues);
}

const xg_sim_model xg_sim_async_copy_model = {
    .thread_ends = thread_ends, .reset = reset, .unload = unload};
