/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulator's layers, from below; each file includes files of its own layer or those below.
 *   shim.h, cuda_shim.h, sm90_shim.h   what kernels see in place of CUDA
 *   fiber, shared_memory, options.h    stacks that take turns; memory of the blocks
 *   running                            which launch, blocks and thread run; failures
 *   vector_clock                       what happens before what
 *   trace*                             accesses checked and counted
 *   source*, trace_source              the same for a user's own kernels, compiled against cuda/
 *   model                              what the scheduler tells models, and these ask one another
 *   turns, scheduler                   threads of a cluster
 *   async_copy, bulk_copy, bulk_store, cluster, counter, mbarrier, mma, named_barrier, registers,
 * warp, wgmma a model each; fp16 and tensor_core are their arithmetic simulator, backend.c launches
 */
#include "simulator.h"

#include "running.h"
#include "scheduler.h"
#include "shared_memory.h"
#include "trace_events.h"

#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* How many blocks run together. */
static uint32_t blocks_of(const xg_launch *what)
{
    return what->cluster > 1 ? what->cluster : 1;
}

/* The kernel's, without the prefix of its function. */
static const char *name_of(const xg_launch *what)
{
    return what->program->symbol + strlen("xg_");
}

static xgemm_status check_cluster(const xg_launch *what, uint64_t threads, xg_error *error)
{
    const char *name = name_of(what);
    const uint32_t blocks = blocks_of(what);
    if (blocks > XG_SIM_CLUSTER_MAX || blocks * threads > XG_SIM_THREADS_MAX)
        return xg_fail(error, XGEMM_ERROR_LAUNCH,
                       "kernel %s: a cluster of %u blocks of %llu threads; the simulator runs at "
                       "most %d blocks and %d threads together",
                       name, blocks, (unsigned long long)threads, XG_SIM_CLUSTER_MAX,
                       XG_SIM_THREADS_MAX);
    if (blocks > 1 && threads % XG_SIM_WARP != 0)
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
                       "kernel %s: a block of %llu threads; the most is %d", name_of(what),
                       (unsigned long long)threads, XG_SIM_BLOCK_MAX);
    if (what->shared_bytes > XG_SIM_DYNAMIC_MAX)
        return xg_fail(error, XGEMM_ERROR_LAUNCH,
                       "kernel %s: %u bytes of dynamic shared memory; the most is %d",
                       name_of(what), what->shared_bytes, XG_SIM_DYNAMIC_MAX);
    if (how->trace && !what->program->traced)
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "this build of libxgemm has no traced kernels: its compiler was not able");
    return check_cluster(what, threads, error);
}

/* How many clusters (blocks, where there are none) of all run: all, or those of a sample. */
static int64_t clusters_to_run(int64_t all, int64_t most_blocks, uint32_t cluster_blocks)
{
    const int64_t most =
        most_blocks > INT32_MAX ? INT32_MAX : (most_blocks + cluster_blocks - 1) / cluster_blocks;
    return most <= 0 || most >= all ? all : most;
}

/* Number i of those: the first, the last, and the others spread between: i (all - 1) / (run - 1).
 */
static int64_t cluster_to_run(int64_t i, int64_t run, int64_t all)
{
    if (run == all || run == 1)
        return i;
    const int64_t step = (all - 1) / (run - 1), rest = (all - 1) % (run - 1);
    return i * step + i * rest / (run - 1); /* so that it does not overflow */
}

/* Blocks of a cluster share their static shared memory here, as they would not on a card. */
static xgemm_status check_static(const xg_launch *what, xg_error *error)
{
    if (blocks_of(what) == 1 || xg_sim_static_is_untouched())
        return XGEMM_OK;
    return xg_fail(error, XGEMM_ERROR_LAUNCH,
                   "kernel %s: it has static shared memory; a kernel with clusters has dynamic "
                   "shared memory alone (XG_DYNAMIC_SHARED)",
                   name_of(what));
}

static xgemm_status run_grid(const xg_launch *what, const xg_sim_options *how, xg_error *error)
{
    const uint32_t *grid = what->grid, blocks = blocks_of(what), clusters_x = grid[0] / blocks;
    const int64_t all = (int64_t)clusters_x * grid[1] * grid[2];
    const int64_t run = clusters_to_run(all, how->most_blocks, blocks);
    xgemm_status status =
        xg_sim_prepare(how, how->trace ? what->program->traced : what->program->simulated, error);
    for (int64_t i = 0; i < run && !status; i++) {
        const int64_t index = cluster_to_run(i, run, all), row = index / clusters_x;
        const xg_index3 first = {(unsigned)(index % clusters_x) * blocks, (unsigned)(row % grid[1]),
                                 (unsigned)(row / grid[1])};
        status = xg_sim_run_cluster(how, first, error);
        if (!status)
            status = check_static(what, error);
    }
    if (status)
        xg_sim_drop_threads();
    return status;
}

/*
 * The library is unloaded, or the process ends: then another thread may still be in a launch, whose
 * memory stays.
 */
__attribute__((destructor)) static void unload(void)
{
    if (pthread_mutex_trylock(&lock))
        return;
    xg_sim_free_kept();
    pthread_mutex_unlock(&lock);
}

/* A child of fork() has no other threads: a launch of one of them is given up there. */
static void after_fork(void)
{
    if (pthread_mutex_trylock(&lock)) {
        pthread_mutex_init(&lock, NULL);
        xg_sim_drop_threads();
        return;
    }
    pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void at_fork(void)
{
    pthread_atfork(NULL, NULL, after_fork);
}

xgemm_status xg_sim_launch(const xg_launch *what, const xg_sim_options *how, xg_error *error)
{
    xgemm_status status = check_launch(what, how, error);
    if (status)
        return status;
    pthread_mutex_lock(&lock);
    xg_sim_begin_launch(what, how, (int)blocks_of(what));
    if (how->trace && !xg_trace_begin(how->trace, what))
        status = xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "no memory for the simulator's trace");
    else
        status = run_grid(what, how, error);
    if (how->trace)
        xg_trace_end();
    pthread_mutex_unlock(&lock);
    return status;
}
