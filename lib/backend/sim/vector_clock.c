/* SPDX-License-Identifier: BSD-3-Clause */
#include "vector_clock.h"

#include "running.h"

#include <stdlib.h>
#include <string.h>

/* clocks[t * threads + o]: up to this epoch of o all happened before t's; t's own is the current.
 */
static uint32_t *clocks;
static int threads;
static uint32_t joined[XG_SIM_THREADS_MAX];

bool xg_clocks_begin(int count)
{
    xg_clocks_end();
    clocks = calloc((size_t)count * (size_t)count, sizeof *clocks);
    threads = clocks ? count : 0;
    for (int thread = 0; thread < threads; thread++)
        clocks[(size_t)thread * (size_t)threads + (size_t)thread] = 1;
    return clocks != NULL;
}

void xg_clocks_end(void)
{
    free(clocks);
    clocks = NULL;
    threads = 0;
}

bool xg_clocks_are_kept(void)
{
    return clocks != NULL;
}

static uint32_t *clock_of(int thread)
{
    return clocks + (size_t)thread * (size_t)threads;
}

uint32_t xg_clock_epoch(int thread)
{
    return clocks ? clock_of(thread)[thread] : 0;
}

bool xg_clock_happens_before(int other, uint32_t epoch, int thread)
{
    return other == thread || clock_of(thread)[other] >= epoch;
}

static void join(uint32_t *to, const uint32_t *from)
{
    for (int i = 0; i < threads; i++)
        to[i] = from[i] > to[i] ? from[i] : to[i];
}

static bool allocate(xg_clock *clock)
{
    if (!*clock)
        *clock = calloc(XG_SIM_THREADS_MAX, sizeof **clock);
    return *clock != NULL;
}

bool xg_clock_release(int thread, xg_clock *to)
{
    if (!clocks)
        return true;
    if (!allocate(to))
        return false;
    join(*to, clock_of(thread));
    clock_of(thread)[thread]++;
    return true;
}

bool xg_clock_release_epoch(int thread, uint32_t epoch, xg_clock *to)
{
    if (!clocks)
        return true;
    if (!allocate(to))
        return false;
    if ((*to)[thread] < epoch)
        (*to)[thread] = epoch;
    if (clock_of(thread)[thread] == epoch)
        clock_of(thread)[thread]++;
    return true;
}

bool xg_clock_copy(xg_clock from, xg_clock *to)
{
    if (!clocks || !from)
        return true;
    if (!allocate(to))
        return false;
    memcpy(*to, from, (size_t)threads * sizeof *from);
    return true;
}

void xg_clock_acquire(int thread, xg_clock from)
{
    if (clocks && from)
        join(clock_of(thread), from);
}

void xg_clock_synchronize(int first, int count, uint32_t mask)
{
    if (!clocks)
        return;
    memset(joined, 0, (size_t)threads * sizeof *joined);
    for (int i = 0; i < count; i++)
        if (!mask || mask >> i & 1)
            join(joined, clock_of(first + i));
    for (int i = 0; i < count; i++)
        if (!mask || mask >> i & 1) {
            memcpy(clock_of(first + i), joined, (size_t)threads * sizeof *joined);
            clock_of(first + i)[first + i]++;
        }
}
