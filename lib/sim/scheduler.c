/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler.h"

#include "cuda_shim.h"
#include "fiber.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 1024, WARP = 32 };

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

typedef enum { READY, AT_BARRIER, EXITED, ABANDONED } thread_state;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const xg_launch *launch;
static const xg_sim_options *options;
static void (*kernel)(const void *);
static xg_fiber *fibers[THREADS_MAX]; /* kept from launch to launch */
static thread_state states[THREADS_MAX];
static int turns[THREADS_MAX]; /* the order in which threads run, warp by warp */
static int turn_now, thread_count;
int xg_sim_current;
static xg_index3 places[THREADS_MAX]; /* threadIdx of each */
static char failure[sizeof((xg_error *)0)->text];

static void set_current(int thread)
{
    xg_sim_current = thread;
    xg_sim_threadIdx = places[thread];
    states[thread] = READY;
}

/*
 * A thread waits or has ended: the next one that has not, or the scheduler when
 * there is none. A watched launch stops at the scheduler after every thread.
 */
static void yield(void)
{
    if (!options->trace)
        while (++turn_now < thread_count) {
            const int thread = turns[turn_now];
            if (states[thread] != EXITED) {
                set_current(thread);
                xg_fiber_hand_over(fibers[thread]);
                return;
            }
        }
    xg_fiber_pause();
}

static void thread_body(void)
{
    kernel(launch->arguments);
    states[xg_sim_current] = EXITED;
    yield();
}

void xg_sim_syncthreads(void)
{
    states[xg_sim_current] = AT_BARRIER;
    yield();
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
    vsnprintf(failure, sizeof failure, format, arguments);
    va_end(arguments);
    states[xg_sim_current] = ABANDONED;
    xg_fiber_pause();
    abort(); /* an abandoned thread is never resumed */
}

static void resume(int thread)
{
    set_current(thread);
    xg_fiber_resume(fibers[thread]);
}

static void set_places(int threads)
{
    const unsigned x = launch->block[0], y = launch->block[1];
    for (int thread = 0; thread < threads; thread++) {
        const unsigned t = (unsigned)thread;
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

static xgemm_status barrier_not_reached(int waiting, int threads, xg_error *error)
{
    return xg_fail(error, XGEMM_ERROR_LAUNCH,
                   "kernel %s, block (%u, %u, %u): %d of %d threads wait at __syncthreads() and "
                   "the others have left the kernel",
                   launch->program->symbol + strlen("xg_"), xg_sim_blockIdx.x, xg_sim_blockIdx.y,
                   xg_sim_blockIdx.z, waiting, threads);
}

/* Every thread until it waits or ends; false when one was abandoned. */
static bool run_to_barrier(int threads)
{
    int alive = 0;
    /* Without a trace the first that runs hands over to the next, and so on to the last. */
    for (int turn = 0; turn < threads; turn++) {
        const int thread = turns[turn];
        if (!options->trace && alive > 0)
            return true;
        turn_now = turn;
        if (states[thread] != EXITED) {
            resume(thread);
            alive++;
        }
        if (states[thread] == ABANDONED)
            return false;
        const bool last = turn + 1 == threads || turns[turn + 1] / WARP != thread / WARP;
        if (last && options->trace && alive > 0)
            xg_trace_warp_stops(options->trace, alive);
        if (last && options->trace)
            alive = 0;
    }
    return true;
}

/* From barrier to barrier until every thread has left the kernel. */
static xgemm_status run_block(int threads, xg_error *error)
{
    for (int thread = 0; thread < threads; thread++)
        states[thread] = READY;
    if (__start_xg_shared_plain)
        memset(__start_xg_shared_plain, 0xff,
               (size_t)(__stop_xg_shared_plain - __start_xg_shared_plain));
    if (options->order == XG_SIM_SHUFFLE)
        set_turns(threads, options->seed + (uint64_t)xg_sim_block());
    if (options->trace)
        xg_trace_block_begins(options->trace);
    for (;;) {
        int waiting = 0;
        if (!run_to_barrier(threads))
            return xg_fail(error, XGEMM_ERROR_LAUNCH, "%s", failure);
        for (int thread = 0; thread < threads; thread++)
            waiting += states[thread] == AT_BARRIER;
        if (waiting == 0)
            return XGEMM_OK;
        if (waiting < threads)
            return barrier_not_reached(waiting, threads, error);
        if (options->trace)
            xg_trace_barrier_passes(options->trace);
    }
}

/* After a failed launch some fibers hang inside the kernel: they cannot be used again. */
static void drop_fibers(void)
{
    for (int thread = 0; thread < THREADS_MAX; thread++) {
        xg_fiber_free(fibers[thread]);
        fibers[thread] = NULL;
    }
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

/* Whether block number index of all is in the sample: the first, the last, and as many between. */
static bool in_sample(int64_t index, int64_t all)
{
    const int64_t most = options->most_blocks;
    if (most <= 0 || most >= all)
        return true;
    if (most == 1)
        return index == 0;
    /* The blocks i * (all - 1) / (most - 1), rounded down. */
    const int64_t i = (index * (most - 1) + all - 2) / (all - 1);
    return i < most && i * (all - 1) / (most - 1) == index;
}

static xgemm_status run_grid(int threads, xg_error *error)
{
    xgemm_status status = prepare_fibers(threads, error);
    const uint32_t *grid = launch->grid;
    const int64_t blocks = (int64_t)grid[0] * grid[1] * grid[2];
    thread_count = threads;
    set_places(threads);
    set_turns(threads, 0);
    for (unsigned z = 0; z < grid[2] && !status; z++)
        for (unsigned y = 0; y < grid[1] && !status; y++)
            for (unsigned x = 0; x < grid[0] && !status; x++) {
                xg_sim_blockIdx = (xg_index3){x, y, z};
                if (in_sample(xg_sim_block(), blocks))
                    status = run_block(threads, error);
            }
    if (status)
        drop_fibers();
    return status;
}

static xgemm_status check_launch(const xg_launch *what, const xg_sim_options *how, xg_error *error)
{
    const uint64_t threads = (uint64_t)what->block[0] * what->block[1] * what->block[2];
    if (threads == 0 || threads > THREADS_MAX)
        return xg_fail(error, XGEMM_ERROR_LAUNCH,
                       "kernel %s: a block of %llu threads; the most is %d", what->program->symbol,
                       (unsigned long long)threads, THREADS_MAX);
    if (how->trace && (!what->program->traced || !xg_trace_available()))
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "this build of libxgemm has no traced kernels: its compiler was not able");
    return XGEMM_OK;
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
    xg_sim_blockDim = (xg_index3){what->block[0], what->block[1], what->block[2]};
    xg_sim_gridDim = (xg_index3){what->grid[0], what->grid[1], what->grid[2]};
    if (how->trace && !xg_trace_begin(how->trace, what))
        status = xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "no memory for the simulator's trace");
    else
        status = run_grid((int)(what->block[0] * what->block[1] * what->block[2]), error);
    if (how->trace)
        xg_trace_end(how->trace);
    pthread_mutex_unlock(&lock);
    return status;
}
