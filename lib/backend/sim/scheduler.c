/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler.h"

#include "async.h"
#include "cuda_shim.h"
#include "fiber.h"
#include "order.h"
#include "shared.h"
#include "specialised.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = XG_SIM_THREADS_MAX, WARP = XG_SIM_WARP };

/*
 * The same objects as the kernels' constants, under names that can be written;
 * only these are used here, as the compiler takes the others never to change.
 */
#define WRITABLE(name) xg_index3 xg_sim_##name __asm__(#name) __attribute__((visibility("hidden")))
WRITABLE(threadIdx);
WRITABLE(blockIdx);
WRITABLE(blockDim);
WRITABLE(gridDim);

/* The kernels' shared memory; absent where the build has none in the section. */
extern char __start_xg_shared_plain[] __attribute__((weak, visibility("hidden")));
extern char __stop_xg_shared_plain[] __attribute__((weak, visibility("hidden")));

/* WAITING: for a condition, which is looked at when it would be the thread's turn. */
typedef enum { READY, AT_BARRIER, AT_WARP_BARRIER, WAITING, EXITED } thread_state;

/* Where a thread waits, and at a warp's barrier for whom. */
typedef struct {
    const xg_sim_place *place;
    uint32_t mask;
    bool orders; /* at a warp's barrier: also the accesses to memory */
    bool forced; /* of a condition: its turn came since nothing else could go on */
    const xg_sim_condition *condition;
} waiting_place;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const xg_launch *launch;
static const xg_sim_options *options;
static void (*kernel)(const void *);
static xg_fiber *fibers[THREADS_MAX]; /* kept from launch to launch */
static uint8_t states[THREADS_MAX];   /* thread_state */
static int turns[THREADS_MAX];        /* the order in which threads run, warp by warp */
static int turn_now, thread_count;
static int cluster_blocks, block_threads;  /* that run together; of each */
static int rank_now;                       /* of the running thread's block */
static int at_barrier[XG_SIM_CLUSTER_MAX]; /* threads of each block there */
static int alive[XG_SIM_CLUSTER_MAX];      /* threads of each block that have not left */
static int exited;                         /* threads of all blocks that have */
static unsigned cluster_x;                 /* blockIdx.x of the first block */
static int
    warp_waiting;    /* threads at their warp's barrier; without conditions, the current warp's */
static int waiting;  /* threads that wait for a condition */
static int warp_ran; /* threads of the current warp that ran since it last stopped */
static bool specialised;
static bool run_ahead; /* a cluster's block passed its barrier: it goes on before others begin */
static waiting_place waits[THREADS_MAX];
static bool failed;
int xg_sim_current;
static xg_index3 places[THREADS_MAX]; /* threadIdx of each */
static char failure[sizeof((xg_error *)0)->text];
/* Where the kernels' xg_sim_dynamic points, in the same way as the indices above. */
char *xg_sim_dynamic_now __asm__("xg_sim_dynamic") __attribute__((visibility("hidden")));

static void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void fail_with(const char *format, va_list arguments)
{
    vsnprintf(failure, sizeof failure, format, arguments);
    failed = true;
}

static void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail_with(format, arguments);
    va_end(arguments);
}

static void set_current(int thread)
{
    xg_sim_current = thread;
    xg_sim_threadIdx = places[thread];
    if (cluster_blocks > 1) {
        rank_now = thread / block_threads;
        xg_sim_blockIdx.x = cluster_x + (unsigned)rank_now;
        xg_sim_dynamic_now = xg_sim_pieces[rank_now];
    }
}

/* The first of the slots of turns that hold the same warp as this one. */
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
        at_condition += states[first + lane] == WAITING;
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
        set_current(stuck);
        fail("%s: %s:%d waits for threads of its warp (mask 0x%08x) that do not come",
             xg_sim_where(), waits[stuck].place->file, waits[stuck].place->line, waits[stuck].mask);
        return thread_count;
    }
    for (int lane = 0; lane < WARP; lane++)
        if (complete[lane])
            states[first + lane] = READY;
    warp_waiting -= released;
    if (options->trace && released == left && waits[stuck].orders)
        xg_trace_warp_meets(options->trace, first / WARP);
    if (ordered)
        xg_order_meet(first, WARP, ordered);
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
    if (!options->trace && warp_waiting == 0 && waiting == 0 &&
        !run_ahead) { /* most often: nothing happens between warps */
        int turn = turn_now + 1;
        while (turn < thread_count && states[turns[turn]] != READY)
            turn++;
        return turn;
    }
    for (int turn = turn_now + 1; !failed; turn++) {
        const bool end_of_warp =
            turn > 0 && (turn == thread_count || turns[turn] / WARP != turns[turn - 1] / WARP);
        if (end_of_warp && options->trace && warp_ran > 0) {
            xg_trace_warp_stops(options->trace, warp_ran);
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
 * there is none. A watched launch stops at the scheduler after every thread.
 */
static void yield(void)
{
    const int turn = options->trace ? thread_count : next_turn();
    if (turn == thread_count) {
        xg_fiber_pause();
        return;
    }
    turn_now = turn;
    if (turns[turn] == xg_sim_current)
        return; /* what it waited for came meanwhile */
    set_current(turns[turn]);
    xg_fiber_hand_over(fibers[turns[turn]]);
}

static void thread_body(void)
{
    kernel(launch->arguments);
    if (specialised)
        xg_sim_thread_ends(xg_sim_current, alive[rank_now] == 1);
    states[xg_sim_current] = EXITED;
    exited++;
    alive[rank_now]--;
    xg_sim_async_ends();
    yield();
}

/* The blocks all of whose threads are at the barrier pass it; whether there was one. */
static bool release_blocks(void)
{
    bool any = false;
    for (int rank = 0; rank < cluster_blocks; rank++)
        if (at_barrier[rank] == block_threads) {
            memset(states + rank * block_threads, READY, (size_t)block_threads);
            at_barrier[rank] = 0;
            any = true;
            if (options->trace) {
                xg_trace_barrier_passes(options->trace);
                xg_order_meet(rank * block_threads, block_threads, 0);
            }
        }
    return any;
}

void xg_sim_syncthreads(const xg_sim_place *here)
{
    states[xg_sim_current] = AT_BARRIER;
    waits[xg_sim_current].place = here;
    at_barrier[rank_now]++;
    if (cluster_blocks > 1)
        run_ahead = release_blocks();
    yield();
}

void xg_sim_wait(const xg_sim_condition *condition, const xg_sim_place *here)
{
    const int thread = xg_sim_current;
    while (!condition->met(thread)) {
        states[thread] = WAITING;
        waits[thread] = (waiting_place){.place = here, .condition = condition};
        waiting++;
        yield();
        while (waits[thread].forced && !condition->met(thread) && condition->can_force(thread))
            condition->force(thread);
    }
}

void xg_sim_meet(uint32_t mask, bool orders, const xg_sim_place *here)
{
    const int lane = xg_sim_current % WARP;
    if (!(mask >> lane & 1))
        xg_sim_abandon("%s: %s:%d is not in the mask 0x%08x that it waits with", xg_sim_where(),
                       here->file, here->line, mask);
    states[xg_sim_current] = AT_WARP_BARRIER;
    waits[xg_sim_current] = (waiting_place){.place = here, .mask = mask, .orders = orders};
    warp_waiting++;
    yield();
}

void xg_sim_syncwarp(uint32_t mask, const xg_sim_place *here)
{
    xg_sim_meet(mask, true, here);
}

const xg_launch *xg_sim_launched(void)
{
    return launch;
}

int64_t xg_sim_block(void)
{
    return ((int64_t)xg_sim_blockIdx.z * xg_sim_gridDim.y + xg_sim_blockIdx.y) * xg_sim_gridDim.x +
           xg_sim_blockIdx.x;
}

const char *xg_sim_where(void)
{
    static char text[160];
    snprintf(text, sizeof text, "kernel %s, block (%u, %u, %u), thread (%u, %u, %u)",
             launch->program->symbol + strlen("xg_"), xg_sim_blockIdx.x, xg_sim_blockIdx.y,
             xg_sim_blockIdx.z, xg_sim_threadIdx.x, xg_sim_threadIdx.y, xg_sim_threadIdx.z);
    return text;
}

bool xg_sim_on_stack(uintptr_t address)
{
    return xg_fiber_owns(fibers[xg_sim_current], address);
}

void xg_sim_abandon(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail_with(format, arguments);
    va_end(arguments);
    xg_fiber_pause();
    abort(); /* a thread of a failed launch is never resumed */
}

bool xg_sim_is_alive(int thread)
{
    return thread < thread_count && states[thread] != EXITED;
}

bool xg_sim_is_late(void)
{
    return options->late;
}

bool xg_sim_is_watched(void)
{
    return options->trace != NULL;
}

bool xg_sim_is_sample(void)
{
    return options->most_blocks > 0;
}

int xg_sim_cluster_blocks(void)
{
    return cluster_blocks;
}

int xg_sim_rank(void)
{
    return rank_now;
}

int xg_sim_block_threads(void)
{
    return block_threads;
}

bool xg_sim_block_is_alive(int rank)
{
    return alive[rank] > 0;
}

int xg_sim_exited(void)
{
    return exited;
}

void xg_sim_specialise(void)
{
    if (!specialised && options->trace) {
        if (!xg_order_begin(thread_count))
            xg_sim_abandon("%s: no memory for the simulator's trace", xg_sim_where());
        xg_trace_keeps_order(options->trace);
    }
    specialised = true;
}

int xg_sim_all_threads(void)
{
    return thread_count;
}

int64_t xg_sim_dynamic_bytes(void)
{
    return launch->shared_bytes;
}

static void set_places(int threads)
{
    const unsigned x = launch->block[0], y = launch->block[1];
    for (int thread = 0; thread < threads; thread++) {
        const unsigned t = (unsigned)(thread % block_threads);
        places[thread] = (xg_index3){t % x, t / x % y, t / x / y};
    }
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Warps in some order, and within each its threads in some order. */
static void set_turns(int threads, uint64_t seed)
{
    const int warps = (threads + WARP - 1) / WARP;
    int slot = 0;
    int order[THREADS_MAX / WARP];
    for (int i = 0; i < warps; i++)
        order[i] = options->order == XG_SIM_REVERSE ? warps - 1 - i : i;
    for (int i = warps - 1; options->order == XG_SIM_SHUFFLE && i > 0; i--) {
        const int j = (int)(next_random(&seed) % (uint64_t)(i + 1)), swapped = order[i];
        order[i] = order[j];
        order[j] = swapped;
    }
    for (int i = 0; i < warps; i++) {
        const int first = order[i] * WARP;
        const int lanes = threads - first < WARP ? threads - first : WARP;
        for (int lane = 0; lane < lanes; lane++)
            turns[slot + lane] =
                first + (options->order == XG_SIM_REVERSE ? lanes - 1 - lane : lane);
        for (int lane = lanes - 1; options->order == XG_SIM_SHUFFLE && lane > 0; lane--) {
            const int j = (int)(next_random(&seed) % (uint64_t)(lane + 1));
            const int swapped = turns[slot + lane];
            turns[slot + lane] = turns[slot + j];
            turns[slot + j] = swapped;
        }
        slot += lanes;
    }
}

static int thread_in_state(int first, int end, thread_state state)
{
    int thread = first;
    while (thread < end && states[thread] != state)
        thread++;
    return thread;
}

static xgemm_status barrier_not_reached(int rank, xg_error *error)
{
    const int begin = rank * block_threads, end = begin + block_threads;
    const int first = thread_in_state(begin, end, AT_BARRIER);
    const xg_index3 gone = places[thread_in_state(begin, end, EXITED)];
    set_current(first);
    return xg_fail(error, XGEMM_ERROR_LAUNCH,
                   "%s: %s:%d is one of %d of %d threads that wait at __syncthreads(); the others, "
                   "thread (%u, %u, %u) first, have left the kernel",
                   xg_sim_where(), waits[first].place->file, waits[first].place->line,
                   at_barrier[rank], block_threads, gone.x, gone.y, gone.z);
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
        if (at_barrier[rank] > 0 && at_barrier[rank] == alive[rank])
            return barrier_not_reached(rank, error);
    int thread = thread_to_describe();
    if (thread < thread_count)
        waits[thread].condition->describe(thread, what, sizeof what);
    else if ((thread = thread_in_state(0, thread_count, AT_WARP_BARRIER)) == thread_count)
        thread = thread_in_state(0, thread_count, AT_BARRIER);
    set_current(thread);
    return xg_fail(error, XGEMM_ERROR_LAUNCH, "%s: %s:%d %s", xg_sim_where(),
                   waits[thread].place->file, waits[thread].place->line, what);
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

/* Every thread until it waits for the block or ends; false when the launch failed. */
static bool run_to_barrier(void)
{
    turn_now = -1;
    for (int turn; (turn = next_turn()) < thread_count;) {
        turn_now = turn;
        warp_ran++;
        set_current(turns[turn]);
        xg_fiber_resume(fibers[turns[turn]]);
        if (failed)
            break;
    }
    return !failed;
}

/* The shared memory of the blocks before holds nothing that these may use. */
static void poison_shared(void)
{
    if (__start_xg_shared_plain)
        memset(__start_xg_shared_plain, 0xff,
               (size_t)(__stop_xg_shared_plain - __start_xg_shared_plain));
    xg_sim_shared_begin(cluster_blocks, launch->shared_bytes);
}

/* Blocks of a cluster share their static shared memory here, as they would not on a card. */
static bool static_memory_is_untouched(void)
{
    const char *at = __start_xg_shared_plain;
    while (at != __stop_xg_shared_plain && *at == (char)0xff)
        at++;
    return at == __stop_xg_shared_plain;
}

static void begin_cluster(void)
{
    memset(states, READY, (size_t)thread_count);
    memset(at_barrier, 0, sizeof at_barrier);
    warp_waiting = warp_ran = waiting = exited = rank_now = 0;
    for (int rank = 0; rank < cluster_blocks; rank++)
        alive[rank] = block_threads;
    failed = specialised = run_ahead = false;
    cluster_x = xg_sim_blockIdx.x;
    xg_sim_dynamic_now = xg_sim_pieces[0];
    poison_shared();
    if (options->order == XG_SIM_SHUFFLE)
        set_turns(thread_count, options->seed + (uint64_t)xg_sim_block());
    if (options->trace)
        xg_trace_block_begins(options->trace, (thread_count + WARP - 1) / WARP);
}

/* The blocks that run together, from barrier to barrier until every thread has left the kernel. */
static xgemm_status run_cluster(xg_error *error)
{
    begin_cluster();
    for (;;) {
        if (!run_to_barrier())
            return xg_fail(error, XGEMM_ERROR_LAUNCH, "%s", failure);
        if (exited == thread_count)
            break;
        if (!release_blocks() && !release_waiting())
            return hangs(error);
    }
    if (specialised)
        xg_sim_cluster_ends();
    if (cluster_blocks > 1 && !static_memory_is_untouched())
        return xg_fail(error, XGEMM_ERROR_LAUNCH,
                       "kernel %s: it has static shared memory; a kernel with clusters has dynamic "
                       "shared memory alone (XG_DYNAMIC_SHARED)",
                       launch->program->symbol + strlen("xg_"));
    return XGEMM_OK;
}

/* After a failed launch some fibers hang inside the kernel: they cannot be used again. */
static void drop_fibers(void)
{
    for (int thread = 0; thread < THREADS_MAX; thread++) {
        xg_fiber_free(fibers[thread]);
        fibers[thread] = NULL;
    }
    xg_sim_async_forget();
    xg_sim_mma_forget();
    xg_sim_cluster_ends();
}

static xgemm_status prepare_fibers(int threads, xg_error *error)
{
    for (int thread = 0; thread < threads; thread++) {
        if (!fibers[thread])
            fibers[thread] = xg_fiber_new(thread_body);
        if (!fibers[thread])
            return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY,
                           "no memory for the simulator's %d thread stacks", threads);
    }
    return XGEMM_OK;
}

/*
 * Whether cluster (block, where there are none) number index of all is in the sample: the first,
 * the last, and as many between.
 */
static bool in_sample(int64_t index, int64_t all)
{
    const int64_t most = (options->most_blocks + cluster_blocks - 1) / cluster_blocks;
    if (most <= 0 || most >= all)
        return true;
    if (most == 1)
        return index == 0;
    /* The clusters i * (all - 1) / (most - 1), rounded down. */
    const int64_t i = (index * (most - 1) + all - 2) / (all - 1);
    return i < most && i * (all - 1) / (most - 1) == index;
}

static xgemm_status run_grid(xg_error *error)
{
    xgemm_status status = prepare_fibers(thread_count, error);
    const uint32_t *grid = launch->grid;
    const int64_t clusters = (int64_t)grid[0] * grid[1] * grid[2] / cluster_blocks;
    set_places(thread_count);
    set_turns(thread_count, 0);
    for (unsigned z = 0; z < grid[2] && !status; z++)
        for (unsigned y = 0; y < grid[1] && !status; y++)
            for (unsigned x = 0; x < grid[0] && !status; x += (unsigned)cluster_blocks) {
                xg_sim_blockIdx = (xg_index3){x, y, z};
                if (in_sample(xg_sim_block() / cluster_blocks, clusters))
                    status = run_cluster(error);
            }
    if (status)
        drop_fibers();
    return status;
}

/* The blocks that run together. */
static uint32_t blocks_of(const xg_launch *what)
{
    return what->cluster > 1 ? what->cluster : 1;
}

static xgemm_status check_cluster(const xg_launch *what, uint64_t threads, xg_error *error)
{
    const char *name = what->program->symbol;
    const uint32_t blocks = blocks_of(what);
    if (blocks > XG_SIM_CLUSTER_MAX || blocks * threads > THREADS_MAX)
        return xg_fail(error, XGEMM_ERROR_LAUNCH,
                       "kernel %s: a cluster of %u blocks of %llu threads; the simulator runs at "
                       "most %d blocks and %d threads together",
                       name, blocks, (unsigned long long)threads, XG_SIM_CLUSTER_MAX, THREADS_MAX);
    if (blocks > 1 && threads % WARP != 0)
        return xg_fail(error, XGEMM_ERROR_LAUNCH,
                       "kernel %s: blocks of %llu threads in a cluster; the simulator runs blocks "
                       "of whole warps there",
                       name, (unsigned long long)threads);
    if (what->grid[0] % blocks != 0)
        return xg_fail(error, XGEMM_ERROR_LAUNCH,
                       "kernel %s: a grid of %u blocks along x; with clusters it must be a "
                       "multiple of their %u blocks",
                       name, what->grid[0], blocks);
    return XGEMM_OK;
}

static xgemm_status check_launch(const xg_launch *what, const xg_sim_options *how, xg_error *error)
{
    const uint64_t threads = (uint64_t)what->block[0] * what->block[1] * what->block[2];
    if (threads == 0 || threads > XG_SIM_BLOCK_MAX)
        return xg_fail(error, XGEMM_ERROR_LAUNCH,
                       "kernel %s: a block of %llu threads; the most is %d", what->program->symbol,
                       (unsigned long long)threads, XG_SIM_BLOCK_MAX);
    if (what->shared_bytes > XG_SIM_DYNAMIC_MAX)
        return xg_fail(error, XGEMM_ERROR_LAUNCH,
                       "kernel %s: %u bytes of dynamic shared memory; the most is %d",
                       what->program->symbol, what->shared_bytes, XG_SIM_DYNAMIC_MAX);
    if (how->trace && (!what->program->traced || !xg_trace_available()))
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "this build of libxgemm has no traced kernels: its compiler was not able");
    return check_cluster(what, threads, error);
}

xgemm_status xg_sim_launch(const xg_launch *what, const xg_sim_options *how, xg_error *error)
{
    xgemm_status status = check_launch(what, how, error);
    if (status)
        return status;
    pthread_mutex_lock(&lock);
    launch = what;
    options = how;
    kernel = how->trace ? what->program->traced : what->program->simulated;
    cluster_blocks = (int)blocks_of(what);
    block_threads = (int)(what->block[0] * what->block[1] * what->block[2]);
    thread_count = cluster_blocks * block_threads;
    xg_sim_blockDim = (xg_index3){what->block[0], what->block[1], what->block[2]};
    xg_sim_gridDim = (xg_index3){what->grid[0], what->grid[1], what->grid[2]};
    if (how->trace && !xg_trace_begin(how->trace, what))
        status = xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "no memory for the simulator's trace");
    else
        status = run_grid(error);
    if (how->trace)
        xg_trace_end(how->trace);
    pthread_mutex_unlock(&lock);
    return status;
}
