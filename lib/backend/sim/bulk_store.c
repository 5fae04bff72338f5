/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TMA's stores of tiles, from shared memory to a matrix. A store happens when it is issued (early),
 * or when its thread waits for its reads (late): a kernel that writes to a tile before it has
 * waited is right in the one order and wrong in the other.
 */
#include "model.h"
#include "running.h"
#include "shared_memory.h"
#include "sm90_shim.h"
#include "tile.h"
#include "trace_events.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    xg_tensor_map_ref map;
    int x, y, z, rank;
    unsigned from;
    int64_t group;
    const xg_sim_location *location;
} store;

/* The stores of a thread that it has not waited for, oldest first. */
typedef struct {
    store *stores;
    int first, count, room;
    int64_t groups; /* committed */
} queue;

static queue queues[XG_SIM_THREADS_MAX];

/* Row i of the tile, in which chunks of 16 bytes change places where the tensor map swizzles. */
static void make_row(const store *s, int i)
{
    const unsigned row_bytes = xg_sim_tile_row_bytes(s->map);
    const unsigned address = s->from + (unsigned)i * row_bytes;
    const char *const row = xg_sim_shared_at(s->rank, address, row_bytes);
    unsigned bytes;
    char *const to = xg_sim_tile_row(s->map, s->x, s->y + i, s->z, &bytes);
    for (unsigned at = 0; at < bytes; at += XG_SIM_TILE_UNIT) {
        const unsigned left = bytes - at;
        memcpy(to + at, row + xg_sim_tile_place(s->map, address, at),
               left < XG_SIM_TILE_UNIT ? left : XG_SIM_TILE_UNIT);
    }
}

static void make(const store *s)
{
    const int rows = xg_sim_tile_rows(s->map, 3, s->location);
    for (int i = 0; i < rows; i++)
        make_row(s, i);
}

void xg_sim_tile_store(unsigned from, xg_tensor_map_ref map, int x, int y, int z,
                       const xg_sim_location *here)
{
    queue *const q = &queues[xg_sim_thread()];
    const store s = {map, x, y, z, xg_sim_rank(), from, q->groups, here};
    const unsigned bytes = (unsigned)xg_sim_tile_rows(map, 3, here) * xg_sim_tile_row_bytes(map);
    xg_sim_use_models();
    xg_sim_check_tile(map, from, x, y, z, here);
    if (xg_sim_tile_matrix_row_bytes(map) % XG_SIM_TILE_UNIT)
        xg_sim_fail_at(
            here, "stores a tile to rows of %lld bytes, and TMA writes by %d also at their end",
            (long long)xg_sim_tile_matrix_row_bytes(map), XG_SIM_TILE_UNIT);
    const void *const memory =
        xg_sim_memory(s.rank, from, bytes, "stores from shared memory", here);
    if (xg_sim_is_traced())
        xg_trace_model_reads(memory, (int)bytes, XG_TRACE_TMA, here);
    if (!xg_sim_is_late())
        make(&s);
    q->stores = xg_sim_with_room(q->stores, q->count, &q->room, sizeof *q->stores, "stores");
    q->stores[q->count++] = s;
}

void xg_sim_bulk_commit(void)
{
    queues[xg_sim_thread()].groups++;
}

void xg_sim_bulk_wait_read(int groups_left)
{
    queue *const q = &queues[xg_sim_thread()];
    for (; q->first < q->count && q->stores[q->first].group < q->groups - groups_left; q->first++)
        if (xg_sim_is_late())
            make(&q->stores[q->first]);
    if (q->first == q->count)
        q->first = q->count = 0;
}

/* Shared memory is another block's when this one has ended. */
static void thread_ends(int thread)
{
    queue *const q = &queues[thread];
    if (q->first < q->count)
        xg_sim_fail_at(q->stores[q->first].location,
                       "stores a tile, and its thread leaves the kernel without waiting until "
                       "shared memory has been read");
    q->groups = 0;
}

static void reset(void)
{
    for (int thread = 0; thread < xg_sim_all_threads(); thread++) {
        queues[thread].first = queues[thread].count = 0;
        queues[thread].groups = 0;
    }
}

static void unload(void)
{
    for (int thread = 0; thread < XG_SIM_THREADS_MAX; thread++)
        free(queues[thread].stores);
    memset(queues, 0, sizeof queues);
}

const xg_sim_model xg_sim_bulk_store_model = {
    .thread_ends = thread_ends, .reset = reset, .unload = unload};
