/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler.h"

#include "cuda_shim.h"
#include "fiber.h"

#include <pthread.h>

enum { THREADS_MAX = 1024 };

/* The same objects as the kernels' constants, under names that can be written. */
#define WRITABLE(name) xg_index3 xg_sim_##name __asm__(#name) __attribute__((visibility("hidden")))
WRITABLE(threadIdx);
WRITABLE(blockIdx);
WRITABLE(blockDim);
WRITABLE(gridDim);

typedef enum { READY, AT_BARRIER, EXITED } thread_state;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const xg_launch *launch;
static xg_fiber *fibers[THREADS_MAX]; /* kept from launch to launch */
static thread_state states[THREADS_MAX];
static int current;

static void thread_body(void)
{
    launch->program->simulated(launch->arguments);
    states[current] = EXITED;
}

void xg_sim_syncthreads(void)
{
    states[current] = AT_BARRIER;
    xg_fiber_pause();
}

static void resume(int thread)
{
    const unsigned x = launch->block[0], y = launch->block[1];
    const unsigned t = (unsigned)thread;
    current = thread;
    xg_sim_threadIdx.x = t % x;
    xg_sim_threadIdx.y = t / x % y;
    xg_sim_threadIdx.z = t / x / y;
    states[thread] = READY;
    xg_fiber_resume(fibers[thread]);
}

static xgemm_status barrier_not_reached(int waiting, int threads, xg_error *error)
{
    return xg_fail(error, XGEMM_ERROR_LAUNCH,
                   "kernel %s, block (%u, %u, %u): %d of %d threads wait at __syncthreads() and "
                   "the others have left the kernel",
                   launch->program->symbol, blockIdx.x, blockIdx.y, blockIdx.z, waiting, threads);
}

/* From barrier to barrier until every thread has left the kernel. */
static xgemm_status run_block(int threads, xg_error *error)
{
    for (int thread = 0; thread < threads; thread++)
        states[thread] = READY;
    for (;;) {
        int waiting = 0;
        for (int thread = 0; thread < threads; thread++)
            if (states[thread] != EXITED)
                resume(thread);
        for (int thread = 0; thread < threads; thread++)
            waiting += states[thread] == AT_BARRIER;
        if (waiting == 0)
            return XGEMM_OK;
        if (waiting < threads)
            return barrier_not_reached(waiting, threads, error);
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

static xgemm_status run_grid(int threads, xg_error *error)
{
    xgemm_status status = prepare_fibers(threads, error);
    const uint32_t *grid = launch->grid;
    for (unsigned z = 0; z < grid[2] && !status; z++)
        for (unsigned y = 0; y < grid[1] && !status; y++)
            for (unsigned x = 0; x < grid[0] && !status; x++) {
                xg_sim_blockIdx = (xg_index3){x, y, z};
                status = run_block(threads, error);
            }
    if (status)
        drop_fibers();
    return status;
}

xgemm_status xg_sim_launch(const xg_launch *what, xg_error *error)
{
    const uint64_t threads = (uint64_t)what->block[0] * what->block[1] * what->block[2];
    if (threads == 0 || threads > THREADS_MAX)
        return xg_fail(error, XGEMM_ERROR_LAUNCH,
                       "kernel %s: a block of %llu threads; the most is %d", what->program->symbol,
                       (unsigned long long)threads, THREADS_MAX);
    pthread_mutex_lock(&lock);
    launch = what;
    xg_sim_blockDim = (xg_index3){what->block[0], what->block[1], what->block[2]};
    xg_sim_gridDim = (xg_index3){what->grid[0], what->grid[1], what->grid[2]};
    const xgemm_status status = run_grid((int)threads, error);
    pthread_mutex_unlock(&lock);
    return status;
}
