/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The C model of cp.async. A copy happens when it is issued (early) or when its
 * thread waits for it (late): a kernel that lacks a wait is right in the one
 * order and wrong in the other. The trace is told when a copy may be relied on.
 */
#include "async.h"

#include "cuda_shim.h"
#include "scheduler.h"

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
    if (q->count == q->room) {
        const int room = q->room ? 2 * q->room : 64;
        copy *larger = realloc(q->copies, (size_t)room * sizeof *larger);
        if (!larger)
            xg_sim_abandon("%s: no memory for the simulator's copies", xg_sim_where());
        q->copies = larger;
        q->room = room;
    }
    q->copies[q->count++] = *c;
}

void xg_sim_copy_async(void *to, const void *from, unsigned whole, unsigned bytes)
{
    queue *q = &queues[xg_sim_thread()];
    const copy c = {to, from, whole, bytes, q->groups};
    if (bytes > whole || (uintptr_t)to % whole || (bytes > 0 && (uintptr_t)from % whole))
        xg_sim_abandon("%s: an asynchronous copy of %u of %u bytes from %p to %p is not aligned or "
                       "too long",
                       xg_sim_where(), bytes, whole, from, to);
    if (!xg_sim_is_late())
        make(&c);
    if (xg_sim_is_late() || xg_sim_is_watched())
        append(q, &c);
}

void xg_sim_copy_commit(void)
{
    queues[xg_sim_thread()].groups++;
}

void xg_sim_copy_wait(int groups_left)
{
    queue *q = &queues[xg_sim_thread()];
    for (; q->first < q->count && q->copies[q->first].group < q->groups - groups_left; q->first++) {
        const copy *c = &q->copies[q->first];
        if (xg_sim_is_late())
            make(c);
        if (xg_sim_is_watched())
            xg_trace_copy_arrives(c->to, (int)c->whole);
    }
    if (q->first == q->count)
        q->first = q->count = 0;
}

void xg_sim_async_ends(void)
{
    queue *q = &queues[xg_sim_thread()];
    q->first = q->count = 0;
    q->groups = 0;
}

void xg_sim_async_forget(void)
{
    for (int thread = 0; thread < XG_SIM_THREADS_MAX; thread++) {
        free(queues[thread].copies);
        queues[thread] = (queue){NULL, 0, 0, 0, 0};
    }
}
