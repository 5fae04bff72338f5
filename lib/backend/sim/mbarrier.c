/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The eight bytes in shared memory hold a mark and the number of a record here, so that a barrier
 * that is not there, or that something overwrote, is found when it is used.
 */
#include "mbarrier.h"

#include "model.h"
#include "running.h"
#include "scheduler.h"
#include "sm90_shim.h"
#include "vector_clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int rank;
    unsigned address;
    unsigned count, pending; /* arrivals of a phase; those that have not come */
    int64_t bytes;           /* expected and not complete; below 0: complete and not expected */
    unsigned phase;          /* that has not completed */
    int initialiser;         /* thread */
    bool fenced;             /* the cluster and the copies see it */
    xg_clock released;       /* by arrivals and copies so far, */
    xg_clock of_completed;   /* and up to the last phase that completed */
} mbarrier;

/* What each waiting thread waits for. */
typedef struct {
    int index;
    unsigned parity;
} awaited_phase;

enum { BARRIER_BYTES = 8, COUNT_MOST = (1 << 20) - 1 };
static const uint32_t mark = 0xb1a5ed0fu;

static mbarrier *barriers;
static int barrier_count, barrier_room;
static awaited_phase awaited[XG_SIM_THREADS_MAX];

static char *word_of(int rank, unsigned address, const char *does, const xg_sim_location *here)
{
    if (address % BARRIER_BYTES != 0)
        xg_sim_fail_at(here, "%s at 0x%x, which is no multiple of %d", does, address,
                       BARRIER_BYTES);
    return xg_sim_memory(rank, address, BARRIER_BYTES, does, here);
}

/* The record that a word in shared memory belongs to; -1: none. */
static int index_at(const char *word, int rank, unsigned address)
{
    uint32_t halves[2];
    memcpy(halves, word, sizeof halves);
    const bool is_one = halves[1] == mark && halves[0] < (uint32_t)barrier_count &&
                        barriers[halves[0]].rank == rank && barriers[halves[0]].address == address;
    return is_one ? (int)halves[0] : -1;
}

static int find(int rank, unsigned address, const char *does, const xg_sim_location *here)
{
    const char *word = word_of(rank, address, does, here);
    const int index = index_at(word, rank, address);
    if (index < 0)
        xg_sim_fail_at(here,
                       "%s at 0x%x of block %d, where none was initialised or it was overwritten",
                       does, address, rank);
    const mbarrier *b = &barriers[index];
    if (!b->fenced && rank != xg_sim_rank())
        xg_sim_fail_at(here,
                       "%s at 0x%x of block %d, which sees it only after xg_mbarrier_init_fence()",
                       does, address, rank);
    return index;
}

void xg_sim_mbarrier_init(unsigned address, unsigned count, const xg_sim_location *here)
{
    const int rank = xg_sim_rank();
    char *word = word_of(rank, address, "initialises a barrier", here);
    xg_sim_use_clocks();
    if (count == 0 || count > COUNT_MOST)
        xg_sim_fail_at(here, "initialises a barrier with %u arrivals; it takes 1 to %d", count,
                       COUNT_MOST);
    if (index_at(word, rank, address) >= 0)
        xg_sim_fail_at(here, "initialises the barrier at 0x%x a second time", address);
    barriers =
        xg_sim_with_room(barriers, barrier_count, &barrier_room, sizeof *barriers, "barriers");
    const uint32_t halves[2] = {(uint32_t)barrier_count, mark};
    memcpy(word, halves, sizeof halves);
    barriers[barrier_count++] = (mbarrier){.rank = rank,
                                           .address = address,
                                           .count = count,
                                           .pending = count,
                                           .initialiser = xg_sim_thread()};
}

void xg_sim_mbarrier_init_fence(void)
{
    for (int i = 0; i < barrier_count; i++)
        barriers[i].fenced |= barriers[i].initialiser == xg_sim_thread();
}

static void complete_phase(mbarrier *b)
{
    if (b->pending == 0 && b->bytes == 0) {
        b->phase++;
        b->pending = b->count;
        if (!xg_clock_copy(b->released, &b->of_completed))
            xg_sim_no_memory("barriers");
    }
}

static void arrive(int index, const xg_sim_location *here)
{
    mbarrier *b = &barriers[index];
    if (b->pending == 0)
        xg_sim_fail_at(here,
                       "arrives at the barrier at 0x%x, which has had its %u arrivals in phase %u "
                       "and waits for %lld bytes",
                       b->address, b->count, b->phase, (long long)b->bytes);
    b->pending--;
    if (!xg_clock_release(xg_sim_thread(), &b->released))
        xg_sim_no_memory("barriers");
    complete_phase(b);
}

void xg_sim_mbarrier_arrive(unsigned address, unsigned bytes, const xg_sim_location *here)
{
    const int index = find(xg_sim_rank(), address, "arrives at a barrier", here);
    if (bytes > COUNT_MOST)
        xg_sim_fail_at(here, "expects %u bytes; the most is %d", bytes, COUNT_MOST);
    barriers[index].bytes += bytes;
    arrive(index, here);
}

void xg_sim_mbarrier_arrive_at(unsigned address, unsigned rank, const xg_sim_location *here)
{
    arrive(find((int)rank, address, "arrives at a barrier", here), here);
}

void xg_sim_mbarrier_check(int rank, unsigned address, bool by_copy, const char *does,
                           const xg_sim_location *here)
{
    const int index = find(rank, address, does, here);
    if (by_copy && !barriers[index].fenced)
        xg_sim_fail_at(here, "%s at 0x%x, which copies see only after xg_mbarrier_init_fence()",
                       does, address);
}

void xg_sim_mbarrier_complete(int rank, unsigned address, unsigned bytes, int issuer,
                              uint32_t epoch, const xg_sim_location *here)
{
    mbarrier *b = &barriers[find(rank, address, "completes a copy at a barrier", here)];
    b->bytes -= bytes;
    if (b->bytes < -COUNT_MOST)
        xg_sim_fail_at(here, "brings %lld bytes to the barrier at 0x%x that nobody expected",
                       (long long)-b->bytes, address);
    if (!xg_clock_release_epoch(issuer, epoch, &b->released))
        xg_sim_no_memory("barriers");
    complete_phase(b);
}

/* The phase of a parity has completed when the current one is of the other. */
static bool has_completed(int thread)
{
    return (barriers[awaited[thread].index].phase & 1) != awaited[thread].parity;
}

static bool can_force(int thread)
{
    const mbarrier *b = &barriers[awaited[thread].index];
    return xg_sim_is_in_flight(b->rank, b->address);
}

static void force(int thread)
{
    const mbarrier *b = &barriers[awaited[thread].index];
    xg_sim_complete_oldest(b->rank, b->address);
}

static void describe(int thread, char *text, size_t size)
{
    const mbarrier *b = &barriers[awaited[thread].index];
    snprintf(text, size,
             "waits without end at the barrier at 0x%x for parity %u: its phase %u lacks %u of %u "
             "arrivals and %lld bytes",
             b->address, awaited[thread].parity, b->phase, b->pending, b->count,
             (long long)b->bytes);
}

/* The thread awaits that phase from now on. */
static void await(unsigned address, unsigned parity, const char *does, const xg_sim_location *here)
{
    const int index = find(xg_sim_rank(), address, does, here);
    if (parity > 1)
        xg_sim_fail_at(here, "%s for parity %u; it is 0 or 1", does, parity);
    awaited[xg_sim_thread()] = (awaited_phase){index, parity};
}

void xg_sim_mbarrier_wait(unsigned address, unsigned parity, const xg_sim_location *here)
{
    static const xg_sim_condition condition = {has_completed, can_force, force, describe, 1};
    await(address, parity, "waits at a barrier", here);
    xg_sim_wait(&condition, here);
    xg_clock_acquire(xg_sim_thread(), barriers[awaited[xg_sim_thread()].index].of_completed);
}

int xg_sim_mbarrier_passed(unsigned address, unsigned parity, const xg_sim_location *here)
{
    const int thread = xg_sim_thread();
    await(address, parity, "asks a barrier", here);
    if (!has_completed(thread))
        return 0;
    xg_clock_acquire(thread, barriers[awaited[thread].index].of_completed);
    return 1;
}

static void block_ends(int rank)
{
    for (int i = 0; i < barrier_count; i++) {
        const mbarrier *b = &barriers[i];
        if (b->rank == rank && b->bytes > 0)
            xg_sim_fail("%s leaves the kernel as the last of its block, and the barrier at 0x%x "
                        "has not had %lld bytes that were expected",
                        xg_sim_where(), b->address, (long long)b->bytes);
        if (b->rank == rank && b->bytes < 0)
            xg_sim_fail("%s leaves the kernel as the last of its block, and the barrier at 0x%x "
                        "has had %lld bytes that nobody expected",
                        xg_sim_where(), b->address, (long long)-b->bytes);
    }
}

static void reset(void)
{
    for (int i = 0; i < barrier_count; i++) {
        free(barriers[i].released);
        free(barriers[i].of_completed);
    }
    barrier_count = 0;
}

static void unload(void)
{
    free(barriers);
    barriers = NULL;
    barrier_count = barrier_room = 0;
}

const xg_sim_model xg_sim_mbarrier_model = {
    .block_ends = block_ends, .reset = reset, .unload = unload};
