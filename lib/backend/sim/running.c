/* SPDX-License-Identifier: BSD-3-Clause */
#include "running.h"

#include "fiber.h"
#include "shared_memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As xg_sim_threadIdx. */
#define WRITABLE(name)                                                                             \
    xg_index3 xg_sim_##name __asm__("xg_sim_" #name) __attribute__((visibility("hidden")))
xg_index3 xg_sim_threadIdx;
WRITABLE(blockIdx);
WRITABLE(blockDim);
WRITABLE(gridDim);

int xg_sim_current, xg_sim_current_rank;
xg_index3 xg_sim_thread_indices[XG_SIM_THREADS_MAX]; /* threadIdx of each */
bool xg_sim_has_cluster;
xg_indices *xg_sim_seen_indices;

static const xg_launch *launch;
static const xg_sim_options *options;
static int cluster_blocks, block_threads, all_threads;
static unsigned first_block_x;        /* blockIdx.x of the cluster's first block */
static bool left[XG_SIM_THREADS_MAX]; /* the kernel */
static int alive[XG_SIM_CLUSTER_MAX]; /* threads of each block */
static int exited;                    /* threads of all blocks */
static bool failed;
static xgemm_status failure_status;
static char failure[sizeof((xg_error *)0)->text];

void xg_sim_begin_launch(const xg_launch *what, const xg_sim_options *how, int blocks)
{
    const uint32_t *block = what->block, *grid = what->grid;
    launch = what;
    options = how;
    cluster_blocks = blocks;
    block_threads = (int)(block[0] * block[1] * block[2]);
    xg_sim_has_cluster = cluster_blocks > 1;
    all_threads = cluster_blocks * block_threads;
    xg_sim_blockDim = (xg_index3){block[0], block[1], block[2]};
    xg_sim_gridDim = (xg_index3){grid[0], grid[1], grid[2]};
    if (xg_sim_seen_indices) {
        memcpy(xg_sim_seen_indices->block_dim, &xg_sim_blockDim, sizeof xg_sim_blockDim);
        memcpy(xg_sim_seen_indices->grid_dim, &xg_sim_gridDim, sizeof xg_sim_gridDim);
    }
    for (int thread = 0; thread < all_threads; thread++) {
        const unsigned t = (unsigned)(thread % block_threads);
        xg_sim_thread_indices[thread] =
            (xg_index3){t % block[0], t / block[0] % block[1], t / block[0] / block[1]};
    }
}

void xg_sim_show_indices(xg_indices *seen)
{
    xg_sim_seen_indices = seen;
}

static void set_block_index(xg_index3 block)
{
    xg_sim_blockIdx = block;
    if (xg_sim_seen_indices)
        memcpy(xg_sim_seen_indices->block_index, &xg_sim_blockIdx, sizeof xg_sim_blockIdx);
}

void xg_sim_begin_cluster(xg_index3 first_block)
{
    set_block_index(first_block);
    first_block_x = first_block.x;
    xg_sim_current_rank = exited = 0;
    failed = false;
    memset(left, 0, (size_t)all_threads * sizeof *left);
    for (int i = 0; i < cluster_blocks; i++)
        alive[i] = block_threads;
    xg_sim_shared_begin(cluster_blocks, launch->shared_bytes);
}

void xg_sim_set_current_block(int thread)
{
    xg_sim_current_rank = thread / block_threads;
    set_block_index((xg_index3){first_block_x + (unsigned)xg_sim_current_rank, xg_sim_blockIdx.y,
                                xg_sim_blockIdx.z});
    xg_sim_shared_select(xg_sim_current_rank);
}

void xg_sim_thread_left(void)
{
    left[xg_sim_current] = true;
    alive[xg_sim_current_rank]--;
    exited++;
}

const xg_launch *xg_sim_launched(void)
{
    return launch;
}

bool xg_sim_is_late(void)
{
    return options->late;
}

bool xg_sim_is_of_halves(void)
{
    return options->of_halves;
}

bool xg_sim_is_sample(void)
{
    return options->most_blocks > 0;
}

xg_trace *xg_sim_trace(void)
{
    return options->trace;
}

int64_t xg_sim_dynamic_bytes(void)
{
    return launch->shared_bytes;
}

int xg_sim_cluster_blocks(void)
{
    return cluster_blocks;
}

int xg_sim_block_threads(void)
{
    return block_threads;
}

int xg_sim_all_threads(void)
{
    return all_threads;
}

int64_t xg_sim_block(void)
{
    return ((int64_t)xg_sim_blockIdx.z * xg_sim_gridDim.y + xg_sim_blockIdx.y) * xg_sim_gridDim.x +
           xg_sim_blockIdx.x;
}

bool xg_sim_is_alive(int thread)
{
    return thread < all_threads && !left[thread];
}

bool xg_sim_block_is_alive(int of)
{
    return alive[of] > 0;
}

int xg_sim_block_alive(int of)
{
    return alive[of];
}

int xg_sim_exited(void)
{
    return exited;
}

const char *xg_sim_where(void)
{
    static char text[160];
    snprintf(text, sizeof text, "kernel %s, block (%u, %u, %u), thread (%u, %u, %u)",
             launch->program->symbol + strlen("xg_"), xg_sim_blockIdx.x, xg_sim_blockIdx.y,
             xg_sim_blockIdx.z, xg_sim_threadIdx.x, xg_sim_threadIdx.y, xg_sim_threadIdx.z);
    return text;
}

static void set_failure(const char *format, va_list arguments)
{
    vsnprintf(failure, sizeof failure, format, arguments);
    failed = true;
    failure_status = XGEMM_ERROR_LAUNCH;
}

void xg_sim_set_failure(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set_failure(format, arguments);
    va_end(arguments);
}

const char *xg_sim_failure(void)
{
    return failed ? failure : NULL;
}

xgemm_status xg_sim_failure_status(void)
{
    return failed ? failure_status : XGEMM_OK;
}

/* A thread of a failed launch is never resumed. */
_Noreturn static void stop(void)
{
    xg_fiber_pause();
    abort();
}

void xg_sim_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set_failure(format, arguments);
    va_end(arguments);
    stop();
}

void xg_sim_fail_at(const xg_sim_location *here, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    xg_sim_fail("%s: %s:%d %s", xg_sim_where(), here->file, here->line, text);
}

void xg_sim_no_memory(const char *what)
{
    xg_sim_set_failure("%s: no memory for the simulator's %s", xg_sim_where(), what);
    failure_status = XGEMM_ERROR_OUT_OF_MEMORY;
    stop();
}

void *xg_sim_with_room(void *array, int count, int *room, size_t size, const char *what)
{
    if (count < *room)
        return array;
    const int larger = *room ? 2 * *room : 64;
    void *const moved = realloc(array, (size_t)larger * size);
    if (!moved)
        xg_sim_no_memory(what);
    *room = larger;
    return moved;
}
