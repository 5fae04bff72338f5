/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler.h"

#include "fiber.h"
#include "model.h"
#include "shared_memory.h"
#include "trace_events.h"
#include "turns.h"
#include "vector_clock.h"

#include <stdio.h>
#include <string.h>

enum { THREADS_MAX = XG_SIM_THREADS_MAX, WARP = XG_SIM_WARP };

/* WAITING: for a condition, which is looked at when it would be the thread's turn. */
typedef enum { READY, AT_BARRIER, AT_WARP_BARRIER, WAITING, EXITED } thread_state;

/* Where a thread waits, and at a warp's barrier for whom. */
typedef struct {
    const xg_sim_location *location;
    uint32_t mask;
    bool orders; /* at a warp's barrier: also the accesses to memory */
    bool forced; /* of a condition: its turn came since nothing else could go on */
    const xg_sim_condition *condition;
} wait_state;

static void (*kernel)(const void *);
static bool traced;
static xg_fiber *fibers[THREADS_MAX]; /* kept from launch to launch */
static uint8_t states[THREADS_MAX];   /* thread_state */
static wait_state waits[THREADS_MAX];
static int turns[THREADS_MAX]; /* the order in which threads run, warp by warp */
static int current_turn, thread_count, block_threads, cluster_blocks;
static int at_barrier[XG_SIM_CLUSTER_MAX]; /* threads of each block there */
static int
    warp_waiting;      /* threads at their warp's barrier; without conditions, the current warp's */
static int waiting;    /* threads that wait for a condition */
static bool paused;    /* some threads only let others go on, and are ready */
static int warp_ran;   /* threads of the current warp that ran since it last stopped */
static bool run_ahead; /* a cluster's block passed its barrier: it goes on before others begin */

/* ---- Whose turn it is ---- */

/* The first of the turns of the same warp as this one. */
static int first_turn_of_warp(int turn)
{
    const int warp = turns[turn] / WARP;
    while (turn > 0 && turns[turn - 1] / WARP == warp)
        turn--;
    return turn;
}

/* Whether all threads that this one waits for are at the warp's barrier, for the same ones. */
static bool warp_complete(int thread)
{
    const int first = thread / WARP * WARP;
    const uint32_t mask = waits[thread].mask;
    for (int lane = 0; lane < WARP; lane++) {
        const int other = first + lane;
        if (mask >> lane & 1 && other < thread_count && states[other] != EXITED &&
            (states[other] != AT_WARP_BARRIER || waits[other].mask != mask))
            return false;
    }
    return true;
}

/*
 * At the end of a warp some of whose threads wait for one another: those that
 * can go on do, from the warp's first turn; else the kernel would hang, unless
 * others of the warp wait for a condition and come later.
 */
static int release_warp(int last_turn)
{
    const int first = turns[last_turn] / WARP * WARP;
    bool complete[WARP] = {false};
    uint32_t ordered = 0;
    int released = 0, stuck = first, left = 0, at_warp_barrier = 0, at_condition = 0;
    for (int lane = 0; lane < WARP && first + lane < thread_count; lane++) {
        left += states[first + lane] != EXITED;
        at_condition += states[first + lane] == WAITING || states[first + lane] == READY;
        if (states[first + lane] == AT_WARP_BARRIER) {
            stuck = at_warp_barrier++ == 0 ? first + lane : stuck;
            complete[lane] = warp_complete(first + lane);
            released += complete[lane];
            if (complete[lane] && waits[first + lane].orders)
                ordered |= 1u << lane;
        }
    }
    if (released == 0 && (at_warp_barrier == 0 || at_condition > 0))
        return last_turn + 1;
    if (released == 0) {
        xg_sim_set_current(stuck);
        xg_sim_set_failure("%s: %s:%d waits for threads of its warp (mask 0x%08x) that do not come",
                           xg_sim_where(), waits[stuck].location->file, waits[stuck].location->line,
                           waits[stuck].mask);
        return thread_count;
    }
    for (int lane = 0; lane < WARP; lane++)
        if (complete[lane])
            states[first + lane] = READY;
    warp_waiting -= released;
    if (traced && released == left && waits[stuck].orders)
        xg_trace_warp_syncs(first / WARP);
    if (ordered)
        xg_clock_synchronize(first, WARP, ordered);
    return first_turn_of_warp(last_turn);
}

/* Whether a thread can go on; one that waits for a condition looks whether it is met. */
static bool can_go_on(int thread)
{
    if (states[thread] == WAITING && waits[thread].condition->met(thread)) {
        states[thread] = READY;
        waiting--;
    }
    return states[thread] == READY;
}

/* The next turn, warp after warp, of a thread that can go on; thread_count: there is none. */
static int next_turn(void)
{
    if (!traced && warp_waiting == 0 && waiting == 0 &&
        !run_ahead) { /* most often: nothing happens between warps */
        int turn = current_turn + 1;
        while (turn < thread_count && states[turns[turn]] != READY)
            turn++;
        return turn;
    }
    for (int turn = current_turn + 1; !xg_sim_failure(); turn++) {
        const bool end_of_warp =
            turn > 0 && (turn == thread_count || turns[turn] / WARP != turns[turn - 1] / WARP);
        if (end_of_warp && traced && warp_ran > 0) {
            xg_trace_warp_stops(warp_ran);
            warp_ran = 0;
        }
        if (end_of_warp && warp_waiting > 0)
            turn = release_warp(turn - 1);
        if (end_of_warp && run_ahead)
            turn = 0;
        run_ahead &= !end_of_warp;
        if (turn == thread_count)
            break;
        if (can_go_on(turns[turn]))
            return turn;
    }
    return thread_count;
}

/*
 * A thread waits or has ended: the next one that can go on, or the scheduler when
 * there is none. A traced launch stops at the scheduler after every thread.
 */
static void yield(void)
{
    const int turn = traced ? thread_count : next_turn();
    if (turn == thread_count) {
        xg_fiber_pause();
        return;
    }
    current_turn = turn;
    if (turns[turn] == xg_sim_current)
        return; /* what it waited for came meanwhile */
    xg_sim_set_current(turns[turn]);
    xg_fiber_hand_over(fibers[turns[turn]]);
}

static void thread_body(void)
{
    kernel(xg_sim_launched()->arguments);
    if (xg_sim_models_used)
        xg_sim_tell_thread_ends(xg_sim_current, xg_sim_block_alive(xg_sim_rank()) == 1);
    states[xg_sim_current] = EXITED;
    xg_sim_thread_left();
    yield();
}

/* ---- What threads wait for ---- */

/* The blocks all of whose threads are at the barrier pass it; whether there was one. */
static bool release_blocks(void)
{
    bool any = false;
    for (int rank = 0; rank < cluster_blocks; rank++)
        if (at_barrier[rank] == block_threads) {
            memset(states + rank * block_threads, READY, (size_t)block_threads);
            at_barrier[rank] = 0;
            any = true;
            if (traced) {
                xg_trace_barrier_passes();
                xg_clock_synchronize(rank * block_threads, block_threads, 0);
            }
        }
    return any;
}

void xg_sim_syncthreads(const xg_sim_location *here)
{
    states[xg_sim_current] = AT_BARRIER;
    waits[xg_sim_current].location = here;
    at_barrier[xg_sim_rank()]++;
    if (cluster_blocks > 1)
        run_ahead = release_blocks();
    yield();
}

void xg_sim_wait(const xg_sim_condition *condition, const xg_sim_location *here)
{
    const int thread = xg_sim_current;
    while (!condition->met(thread)) {
        states[thread] = WAITING;
        waits[thread] = (wait_state){.location = here, .condition = condition};
        waiting++;
        yield();
        while (waits[thread].forced && !condition->met(thread) && condition->can_force(thread))
            condition->force(thread);
    }
}

void xg_sim_sync_lanes(uint32_t mask, bool orders, const xg_sim_location *here)
{
    const int lane = xg_sim_current % WARP;
    if (!(mask >> lane & 1))
        xg_sim_fail_at(here, "is not in the mask 0x%08x that it waits with", mask);
    states[xg_sim_current] = AT_WARP_BARRIER;
    waits[xg_sim_current] = (wait_state){.location = here, .mask = mask, .orders = orders};
    warp_waiting++;
    yield();
}

void xg_sim_syncwarp(uint32_t mask, const xg_sim_location *here)
{
    xg_sim_sync_lanes(mask, true, here);
}

void xg_sim_pause(void)
{
    paused = true;
    yield();
}

/* ---- Where no thread can go on ---- */

static int thread_in_state(int first, int end, thread_state state)
{
    int thread = first;
    while (thread < end && states[thread] != state)
        thread++;
    return thread;
}

/* Some threads of the block wait at its barrier, and the others have left. */
static xgemm_status barrier_not_reached(int rank, xg_error *error)
{
    const int begin = rank * block_threads, end = begin + block_threads;
    const int first = thread_in_state(begin, end, AT_BARRIER);
    const xg_index3 gone = xg_sim_thread_indices[thread_in_state(begin, end, EXITED)];
    const xg_sim_location *location = waits[first].location;
    xg_sim_set_current(first);
    return xg_fail(error, XGEMM_ERROR_LAUNCH,
                   "%s: %s:%d is one of %d of %d threads that wait at __syncthreads(); the others, "
                   "thread (%u, %u, %u) first, have left the kernel",
                   xg_sim_where(), location->file, location->line, at_barrier[rank], block_threads,
                   gone.x, gone.y, gone.z);
}

/* The first of the threads that wait for the heaviest condition; thread_count: none does. */
static int thread_to_describe(void)
{
    int found = thread_count;
    for (int thread = 0; thread < thread_count; thread++)
        if (states[thread] == WAITING &&
            (found == thread_count ||
             waits[thread].condition->weight > waits[found].condition->weight))
            found = thread;
    return found;
}

/* Nothing goes on: what a thread waits for. */
static xgemm_status hangs(xg_error *error)
{
    char what[200] = "waits for threads of its warp or block that do not come";
    for (int rank = 0; rank < cluster_blocks; rank++)
        if (at_barrier[rank] > 0 && at_barrier[rank] == xg_sim_block_alive(rank))
            return barrier_not_reached(rank, error);
    int thread = thread_to_describe();
    if (thread < thread_count)
        waits[thread].condition->describe(thread, what, sizeof what);
    else if ((thread = thread_in_state(0, thread_count, AT_WARP_BARRIER)) == thread_count)
        thread = thread_in_state(0, thread_count, AT_BARRIER);
    xg_sim_set_current(thread);
    return xg_fail(error, XGEMM_ERROR_LAUNCH, "%s: %s:%d %s", xg_sim_where(),
                   waits[thread].location->file, waits[thread].location->line, what);
}

/* A thread that waits for a condition goes on: since it is met, or as it can be forced. */
static bool release_waiting(void)
{
    for (int thread = 0; waiting > 0 && thread < thread_count; thread++)
        if (states[thread] == WAITING && waits[thread].condition->met(thread))
            return true; /* goes on at its turn */
    for (int turn = 0; waiting > 0 && turn < thread_count; turn++) {
        const int thread = turns[turn];
        const xg_sim_condition *condition = waits[thread].condition;
        if (states[thread] == WAITING && condition->can_force && condition->can_force(thread)) {
            waits[thread].forced = true;
            states[thread] = READY;
            waiting--;
            return true;
        }
    }
    return false;
}

/* ---- A cluster ---- */

/* Every thread until it waits for the block or ends; false when the launch failed. */
static bool run_to_barrier(void)
{
    current_turn = -1;
    for (int turn; (turn = next_turn()) < thread_count;) {
        current_turn = turn;
        warp_ran++;
        xg_sim_set_current(turns[turn]);
        xg_fiber_resume(fibers[turns[turn]]);
        if (xg_sim_failure())
            break;
    }
    return !xg_sim_failure();
}

static void begin_cluster(const xg_sim_options *options, xg_index3 first_block)
{
    xg_sim_begin_cluster(first_block);
    memset(states, READY, (size_t)thread_count);
    memset(at_barrier, 0, sizeof at_barrier);
    warp_waiting = warp_ran = waiting = 0;
    run_ahead = paused = false;
    if (options->order == XG_SIM_SHUFFLE)
        xg_sim_set_turns(turns, thread_count, XG_SIM_SHUFFLE,
                         options->seed + (uint64_t)xg_sim_block());
    if (traced)
        xg_trace_block_begins((thread_count + WARP - 1) / WARP);
}

xgemm_status xg_sim_run_cluster(const xg_sim_options *options, xg_index3 first_block,
                                xg_error *error)
{
    begin_cluster(options, first_block);
    for (;;) {
        paused = false;
        if (!run_to_barrier())
            return xg_fail(error, xg_sim_failure_status(), "%s", xg_sim_failure());
        if (xg_sim_exited() == thread_count)
            break;
        if (!release_blocks() && !release_waiting() && !paused)
            return hangs(error);
    }
    xg_sim_reset_models();
    return XGEMM_OK;
}

xgemm_status xg_sim_prepare(const xg_sim_options *options, void (*entry_point)(const void *),
                            xg_error *error)
{
    kernel = entry_point;
    traced = options->trace != NULL;
    cluster_blocks = xg_sim_cluster_blocks();
    block_threads = xg_sim_block_threads();
    thread_count = xg_sim_all_threads();
    xg_sim_set_turns(turns, thread_count, options->order, 0);
    for (int thread = 0; thread < thread_count; thread++) {
        if (!fibers[thread])
            fibers[thread] = xg_fiber_new(thread_body);
        if (!fibers[thread])
            return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY,
                           "no memory for the simulator's %d thread stacks", thread_count);
    }
    return XGEMM_OK;
}

void xg_sim_drop_threads(void)
{
    for (int thread = 0; thread < THREADS_MAX; thread++) {
        xg_fiber_free(fibers[thread]);
        fibers[thread] = NULL;
    }
    xg_sim_reset_models();
}

void xg_sim_free_kept(void)
{
    xg_sim_drop_threads();
    xg_sim_unload_models();
}
