/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TMA: bulk copies, with a tensor map (tiles) or without; and st.async, which stores a word to the
 * shared memory of another block of the cluster. All complete at a barrier: at once (early), or
 * when a thread waits there and nothing else can go on (late). A multicast copy is one for each
 * block, and these complete independently.
 */
#include "mbarrier.h"
#include "model.h"
#include "running.h"
#include "shared_memory.h"
#include "sm90_shim.h"
#include "tile.h"
#include "trace_events.h"
#include "vector_clock.h"

#include <stdlib.h>
#include <string.h>

enum { UNIT = XG_SIM_TILE_UNIT, SWIZZLED_ROW = 128 };

typedef struct {
    int rank; /* of the block that it goes to */
    unsigned to, bytes, barrier;
    const void *from; /* NULL: the word, if any bytes are there */
    unsigned there;   /* bytes; zeros follow */
    bool swizzled;
    unsigned word;
    const xg_sim_location *location;
    int issuer; /* thread, and its epoch then */
    uint32_t epoch;
} copy;

/* In flight, oldest first. */
static copy *copies;
static int copy_count, copy_room;

/* In a row of 128 bytes, chunks of 16 change places by the row's address. */
static unsigned swizzled(unsigned row_address, unsigned at)
{
    return at ^ (row_address / SWIZZLED_ROW % 8 * UNIT);
}

static void complete_swizzled(const copy *c, char *to)
{
    char row[SWIZZLED_ROW] = {0};
    if (c->there > 0)
        memcpy(row, c->from, c->there);
    for (unsigned at = 0; at < SWIZZLED_ROW; at += UNIT)
        memcpy(to + swizzled(c->to, at), row + at, UNIT);
}

static void complete(const copy *c)
{
    void *to = xg_sim_shared_at(c->rank, c->to, c->bytes);
    if (c->swizzled)
        complete_swizzled(c, to);
    else {
        memcpy(to, c->from ? c->from : &c->word, c->there);
        memset((char *)to + c->there, 0, c->bytes - c->there);
    }
    if (xg_sim_is_traced())
        xg_trace_bulk_completes(to, (int)c->bytes);
    xg_sim_mbarrier_complete(c->rank, c->barrier, c->bytes, c->issuer, c->epoch, c->location);
}

static void defer(const copy *c)
{
    copies = xg_sim_with_room(copies, copy_count, &copy_room, sizeof *copies, "copies");
    void *to = xg_sim_shared_at(c->rank, c->to, c->bytes);
    copies[copy_count++] = *c;
    memset(to, 0xff, c->bytes);
}

/* To one block. */
static void issue(copy *c)
{
    c->epoch = xg_clock_epoch(c->issuer);
    xg_sim_memory(c->rank, c->to, c->bytes, "copies to shared memory", c->location);
    xg_sim_mbarrier_check(c->rank, c->barrier, true, "copies with a barrier", c->location);
    if (xg_sim_is_written(c->rank, c->to, c->bytes))
        xg_sim_fail_at(c->location,
                       "copies to where another bulk copy is in flight: %u bytes at 0x%x", c->bytes,
                       c->to);
    if (xg_sim_is_read(c->rank, c->to, c->bytes))
        xg_sim_fail_at(c->location, "copies to what a matrix product still reads: %u bytes at 0x%x",
                       c->bytes, c->to);
    if (xg_sim_is_traced())
        xg_trace_bulk_issued(xg_sim_shared_at(c->rank, c->to, c->bytes), (int)c->bytes,
                             c->location);
    if (xg_sim_is_late())
        defer(c);
    else
        complete(c);
}

/* To the running block, or those of its cluster that the mask names. */
static void issue_to(copy *c, unsigned mask)
{
    if (mask == 0)
        issue(c);
    for (c->rank = mask ? 0 : c->rank; mask >> c->rank != 0; c->rank++)
        if (mask >> c->rank & 1)
            issue(c);
}

void xg_sim_bulk_copy(unsigned to, const void *from, unsigned bytes, unsigned barrier,
                      unsigned mask, const xg_sim_location *here)
{
    xg_sim_use_clocks();
    copy c = {.rank = xg_sim_rank(),
              .to = to,
              .bytes = bytes,
              .there = bytes,
              .barrier = barrier,
              .from = from,
              .location = here,
              .issuer = xg_sim_thread()};
    if (to % UNIT != 0 || (uintptr_t)from % UNIT != 0 || bytes % UNIT != 0 || bytes == 0)
        xg_sim_fail_at(here,
                       "copies %u bytes from %p to 0x%x; all three must be multiples of %d and the "
                       "bytes more than 0",
                       bytes, from, to, UNIT);
    issue_to(&c, mask);
}

/* A tile is copied row by row. */
static const xg_tensor *tiled_of(xg_tensor_map_ref map)
{
    return &xg_sim_launched()->tensors[map];
}

int xg_sim_tile_rows(xg_tensor_map_ref map, int dimensions, const xg_sim_location *here)
{
    const xg_tensor *of = tiled_of(map);
    if (of->box_rows == 0)
        xg_sim_fail_at(here, "copies a tile, and was launched without tensor maps");
    if ((of->matrices > 0 ? 3 : 2) != dimensions)
        xg_sim_fail_at(here, "copies a tile by %d coordinates, and the tensor map has %d",
                       dimensions, of->matrices > 0 ? 3 : 2);
    return of->box_rows;
}

unsigned xg_sim_tile_row_bytes(xg_tensor_map_ref map)
{
    const xg_tensor *of = tiled_of(map);
    return (unsigned)(of->box_columns * of->element_bytes);
}

int64_t xg_sim_tile_matrix_row_bytes(xg_tensor_map_ref map)
{
    const xg_tensor *of = tiled_of(map);
    return of->columns * of->element_bytes;
}

unsigned xg_sim_tile_place(xg_tensor_map_ref map, unsigned row_address, unsigned at)
{
    return tiled_of(map)->swizzled ? swizzled(row_address, at) : at;
}

void *xg_sim_tile_row(xg_tensor_map_ref map, int x, int y, int z, unsigned *bytes)
{
    const xg_tensor *of = tiled_of(map);
    const int64_t left = of->columns - x, tile = of->box_columns;
    const bool inside =
        x >= 0 && left > 0 && y >= 0 && y < of->rows && z >= 0 && (z == 0 || z < of->matrices);
    *bytes = inside ? (unsigned)((left < tile ? left : tile) * of->element_bytes) : 0;
    return inside ? (char *)(uintptr_t)of->base + z * of->matrix_stride_bytes +
                        y * of->stride_bytes + (int64_t)x * of->element_bytes
                  : NULL;
}

void xg_sim_check_tile(xg_tensor_map_ref map, unsigned to, int x, int y, int z,
                       const xg_sim_location *here)
{
    const xg_tensor *of = tiled_of(map);
    const unsigned alignment = of->swizzled ? 8 * SWIZZLED_ROW : SWIZZLED_ROW;
    if (to % alignment != 0)
        xg_sim_fail_at(here, "copies a tile to 0x%x, which is no multiple of %u", to, alignment);
    if (x * of->element_bytes % UNIT != 0)
        xg_sim_fail_at(here, "copies a tile from x %d, which is no multiple of %d", x,
                       UNIT / of->element_bytes);
    if (x < 0 || y < 0 || z < 0)
        xg_sim_fail_at(here, "copies a tile from before the matrix: x %d, y %d, z %d", x, y, z);
    if (of->swizzled && of->box_columns * of->element_bytes != SWIZZLED_ROW)
        xg_sim_fail_at(here, "copies a tile of rows of %d bytes, and swizzles 128",
                       of->box_columns * of->element_bytes);
}

void xg_sim_tile_copy(unsigned to, xg_tensor_map_ref map, int x, int y, int z, unsigned barrier,
                      unsigned mask, const xg_sim_location *here)
{
    const xg_tensor *of = tiled_of(map);
    const unsigned row_bytes = xg_sim_tile_row_bytes(map);
    xg_sim_use_clocks();
    xg_sim_check_tile(map, to, x, y, z, here);
    for (int i = 0; i < of->box_rows; i++) {
        copy c = {.rank = xg_sim_rank(),
                  .to = to + (unsigned)i * row_bytes,
                  .bytes = row_bytes,
                  .swizzled = of->swizzled,
                  .barrier = barrier,
                  .location = here,
                  .issuer = xg_sim_thread()};
        c.from = xg_sim_tile_row(map, x, y + i, z, &c.there);
        issue_to(&c, mask);
    }
}

void xg_sim_cluster_store(unsigned address, unsigned rank, unsigned value, unsigned barrier,
                          const xg_sim_location *here)
{
    copy c = {.rank = (int)rank,
              .to = address,
              .bytes = sizeof value,
              .there = sizeof value,
              .barrier = barrier,
              .word = value,
              .location = here,
              .issuer = xg_sim_thread()};
    xg_sim_use_clocks();
    if (xg_sim_cluster_blocks() < 2)
        xg_sim_fail_at(here,
                       "stores a word to a block of its cluster, and was launched without one");
    if (address % sizeof value != 0)
        xg_sim_fail_at(here, "stores a word at 0x%x, which is no multiple of 4", address);
    issue(&c);
}

unsigned xg_sim_multicast_mask(unsigned mask, const xg_sim_location *here)
{
    if (mask == 0 || mask >> xg_sim_cluster_blocks() != 0)
        xg_sim_fail_at(here, "copies to the blocks 0x%x of a cluster of %d", mask,
                       xg_sim_cluster_blocks());
    return mask;
}

static int oldest(int rank, unsigned barrier)
{
    int i = 0;
    while (i < copy_count && (copies[i].rank != rank || copies[i].barrier != barrier))
        i++;
    return i;
}

static bool is_in_flight(int rank, unsigned barrier)
{
    return oldest(rank, barrier) < copy_count;
}

static void complete_oldest(int rank, unsigned barrier)
{
    const int i = oldest(rank, barrier);
    const copy c = copies[i];
    copy_count--;
    memmove(copies + i, copies + i + 1, (size_t)(copy_count - i) * sizeof *copies);
    complete(&c);
}

static bool writes(int rank, unsigned address, unsigned bytes)
{
    for (int i = 0; i < copy_count; i++)
        if (copies[i].rank == rank && copies[i].to < address + bytes &&
            address < copies[i].to + copies[i].bytes)
            return true;
    return false;
}

static void block_ends(int rank)
{
    for (int i = 0; i < copy_count; i++)
        if (copies[i].rank == rank)
            xg_sim_fail("%s leaves the kernel as the last of its block, and nobody has waited "
                        "for the copy of %s:%d to 0x%x",
                        xg_sim_where(), copies[i].location->file, copies[i].location->line,
                        copies[i].to);
}

static void reset(void)
{
    copy_count = 0;
}

/* Only the trace sees the stores that the fence is for. */
void xg_sim_fence_async(void)
{
    if (xg_sim_is_traced())
        xg_trace_fence();
}

static void unload(void)
{
    free(copies);
    copies = NULL;
    copy_count = copy_room = 0;
}

const xg_sim_model xg_sim_bulk_copy_model = {.block_ends = block_ends,
                                             .reset = reset,
                                             .unload = unload,
                                             .writes = writes,
                                             .is_in_flight = is_in_flight,
                                             .complete_oldest = complete_oldest};
