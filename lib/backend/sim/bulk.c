/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bulk copies, and words for other blocks' memory: made at once (early), or when a thread waits at
 * their barrier and nothing else can go on (late). A copy to several blocks is one for each, and
 * they come apart from one another.
 */
#include "order.h"
#include "scheduler.h"
#include "shared.h"
#include "sm90_shim.h"
#include "specialised.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    int rank; /* of the block that it goes to */
    unsigned to, bytes, barrier;
    const void *from; /* NULL: the word, if any is there */
    unsigned there;   /* bytes; zeros follow */
    unsigned word;
    const xg_sim_place *place;
    int sender; /* thread, and when it sent it */
    uint32_t moment;
} copy;

enum { UNIT = 16 };

/* On their way, oldest first. */
static copy *copies;
static int copy_count, copy_room;

static void make(const copy *c)
{
    void *to = xg_sim_shared_at(c->rank, c->to, c->bytes);
    memcpy(to, c->from ? c->from : &c->word, c->there);
    memset((char *)to + c->there, 0, c->bytes - c->there);
    if (xg_sim_is_watched())
        xg_trace_bulk_comes(to, (int)c->bytes);
    xg_sim_barrier_bytes_came(c->rank, c->barrier, c->bytes, c->sender, c->moment, c->place);
}

static void put_off(const copy *c)
{
    if (copy_count == copy_room) {
        const int room = copy_room ? 2 * copy_room : 64;
        copy *larger = realloc(copies, (size_t)room * sizeof *larger);
        if (!larger)
            xg_sim_abandon("%s: no memory for the simulator's copies", xg_sim_where());
        copies = larger;
        copy_room = room;
    }
    void *to = xg_sim_shared_at(c->rank, c->to, c->bytes);
    copies[copy_count++] = *c;
    memset(to, 0xff, c->bytes);
}

/* To one block. */
static void issue(copy *c)
{
    c->moment = xg_order_moment(c->sender);
    xg_sim_memory(c->rank, c->to, c->bytes, "copies to shared memory", c->place);
    xg_sim_barrier_check(c->rank, c->barrier, true, "copies with a barrier", c->place);
    if (xg_sim_bulk_covers(c->rank, c->to, c->bytes))
        xg_sim_blame(c->place, "copies to where another bulk copy is on its way: %u bytes at 0x%x",
                     c->bytes, c->to);
    if (xg_sim_wgmma_reads(c->rank, c->to, c->bytes))
        xg_sim_blame(c->place, "copies to what a matrix product still reads: %u bytes at 0x%x",
                     c->bytes, c->to);
    if (xg_sim_is_watched())
        xg_trace_bulk_sent(xg_sim_shared_at(c->rank, c->to, c->bytes), (int)c->bytes, c->place);
    if (xg_sim_is_late())
        put_off(c);
    else
        make(c);
}

void xg_sim_bulk_copy(unsigned to, const void *from, unsigned bytes, unsigned barrier,
                      unsigned mask, const xg_sim_place *here)
{
    xg_sim_specialise();
    copy c = {.rank = xg_sim_rank(),
              .to = to,
              .bytes = bytes,
              .there = bytes,
              .barrier = barrier,
              .from = from,
              .place = here,
              .sender = xg_sim_thread()};
    if (to % UNIT != 0 || (uintptr_t)from % UNIT != 0 || bytes % UNIT != 0 || bytes == 0)
        xg_sim_blame(here,
                     "copies %u bytes from %p to 0x%x; all three must be multiples of %d and the "
                     "bytes more than 0",
                     bytes, from, to, UNIT);
    if (mask == 0)
        issue(&c);
    for (c.rank = 0; mask >> c.rank != 0; c.rank++)
        if (mask >> c.rank & 1)
            issue(&c);
}

/* A tile's bytes come a line at a time. */
static const xg_tiled *tiled_of(xg_map map)
{
    return &xg_sim_launched()->tiled[map];
}

int xg_sim_tile_lines(xg_map map, const xg_sim_place *here)
{
    if (tiled_of(map)->tile_lines == 0)
        xg_sim_blame(here, "copies a tile, and was launched without maps");
    return tiled_of(map)->tile_lines;
}

const void *xg_sim_tile_line(xg_map map, int x, int line, unsigned *bytes)
{
    const xg_tiled *of = tiled_of(map);
    const int64_t left = of->width - x, tile = of->tile_width;
    const bool inside = x >= 0 && left > 0 && line >= 0 && line < of->lines;
    *bytes = inside ? (unsigned)(left < tile ? left : tile) * (unsigned)sizeof(float) : 0;
    return inside ? of->base + line * of->step + x : NULL;
}

void xg_sim_tile_copy(unsigned to, xg_map map, int x, int line, unsigned barrier,
                      const xg_sim_place *here)
{
    enum { TILE = 128, FLOATS = UNIT / sizeof(float) };
    const xg_tiled *of = tiled_of(map);
    xg_sim_specialise();
    if (to % TILE != 0)
        xg_sim_blame(here, "copies a tile to 0x%x, which is no multiple of %d", to, TILE);
    if (x % FLOATS != 0)
        xg_sim_blame(here, "copies a tile from x %d, which is no multiple of %d", x, FLOATS);
    if (x < 0 || line < 0)
        xg_sim_blame(here, "copies a tile from before the matrix: x %d, line %d", x, line);
    for (int i = 0; i < of->tile_lines; i++) {
        copy c = {.rank = xg_sim_rank(),
                  .to = to + (unsigned)(i * of->tile_width) * (unsigned)sizeof(float),
                  .bytes = (unsigned)of->tile_width * (unsigned)sizeof(float),
                  .barrier = barrier,
                  .place = here,
                  .sender = xg_sim_thread()};
        c.from = xg_sim_tile_line(map, x, line + i, &c.there);
        issue(&c);
    }
}

void xg_sim_cluster_store(unsigned address, unsigned rank, unsigned value, unsigned barrier,
                          const xg_sim_place *here)
{
    copy c = {.rank = (int)rank,
              .to = address,
              .bytes = sizeof value,
              .there = sizeof value,
              .barrier = barrier,
              .word = value,
              .place = here,
              .sender = xg_sim_thread()};
    xg_sim_specialise();
    if (xg_sim_cluster_blocks() < 2)
        xg_sim_blame(here, "stores a word to a block of its cluster, and was launched without one");
    if (address % sizeof value != 0)
        xg_sim_blame(here, "stores a word at 0x%x, which is no multiple of 4", address);
    issue(&c);
}

unsigned xg_sim_mask(unsigned mask, const xg_sim_place *here)
{
    if (mask == 0 || mask >> xg_sim_cluster_blocks() != 0)
        xg_sim_blame(here, "copies to the blocks 0x%x of a cluster of %d", mask,
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

bool xg_sim_bulk_awaited(int rank, unsigned barrier)
{
    return oldest(rank, barrier) < copy_count;
}

void xg_sim_bulk_land(int rank, unsigned barrier)
{
    const int i = oldest(rank, barrier);
    const copy c = copies[i];
    copy_count--;
    memmove(copies + i, copies + i + 1, (size_t)(copy_count - i) * sizeof *copies);
    make(&c);
}

bool xg_sim_bulk_covers(int rank, unsigned address, unsigned bytes)
{
    for (int i = 0; i < copy_count; i++)
        if (copies[i].rank == rank && copies[i].to < address + bytes &&
            address < copies[i].to + copies[i].bytes)
            return true;
    return false;
}

void xg_sim_bulk_block_ends(int rank)
{
    for (int i = 0; i < copy_count; i++)
        if (copies[i].rank == rank)
            xg_sim_abandon("%s leaves the kernel as the last of its block, and nobody has waited "
                           "for the copy of %s:%d to 0x%x",
                           xg_sim_where(), copies[i].place->file, copies[i].place->line,
                           copies[i].to);
}

void xg_sim_bulk_forget(void)
{
    copy_count = 0;
}

/* Only the trace sees the stores that the fence is for. */
void xg_sim_fence_async(void)
{
    if (xg_sim_is_watched())
        xg_trace_fence();
}
