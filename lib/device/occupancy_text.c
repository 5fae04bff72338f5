/* SPDX-License-Identifier: BSD-3-Clause */
/* An occupancy as text, and the nearest change that raises it. */
#include "occupancy.h"

#include "base/numbers.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    char *text;
    size_t size, used;
} writer;

static void add(writer *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(writer *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (to->used < to->size) {
        const int length = vsnprintf(to->text + to->used, to->size - to->used, format, arguments);
        to->used += length > 0 ? (size_t)length : 0;
    }
    va_end(arguments);
}

/* The most registers, below what it has, at which as many blocks fit; 0: none. */
static int fewer_registers(const xgemm_device *d, const xg_configuration *c, int blocks)
{
    int64_t allocated;
    int registers = c->registers - 1;
    while (registers > 0 && xg_blocks_by_registers(d, c->threads, registers, &allocated) < blocks)
        registers--;
    return registers;
}

/* The most shared memory at which as many blocks fit; negative: none. */
static int64_t less_shared(const xgemm_device *d, int blocks)
{
    const int64_t allocated = d->shared_per_sm / blocks / d->shared_granule * d->shared_granule;
    return allocated - d->shared_reserved;
}

/* Takes from what limits until one more block fits; false where that is not enough. */
static bool reduce(const xgemm_device *d, const xg_configuration *c,
                   const xgemm_occupancy_info *now, xg_configuration *changed)
{
    if (now->limiters & ~(unsigned)(XGEMM_LIMITED_BY_REGISTERS | XGEMM_LIMITED_BY_SHARED))
        return false;
    *changed = *c;
    if (now->limiters & XGEMM_LIMITED_BY_REGISTERS)
        changed->registers = fewer_registers(d, c, now->blocks + 1);
    if (now->limiters & XGEMM_LIMITED_BY_SHARED)
        changed->shared = less_shared(d, now->blocks + 1);
    return (changed->registers > 0 || c->registers == 0) && changed->shared >= 0;
}

/* The nearest number of whole warps that has more of them resident; of two as near, the better. */
static bool resize(const xgemm_device *d, const xg_configuration *c,
                   const xgemm_occupancy_info *now, xg_configuration *changed)
{
    int found = 0, nearest = 0, most = 0;
    for (int threads = XG_WARP; threads <= d->threads_per_block; threads += XG_WARP) {
        xg_configuration tried = *c;
        xgemm_occupancy_info info = {0};
        tried.threads = threads;
        xg_occupancy_compute(d, &tried, &info);
        const int distance = abs(threads - c->threads);
        if (info.warps <= now->warps ||
            (found && (distance > nearest || (distance == nearest && info.warps <= most))))
            continue;
        found = threads;
        nearest = distance;
        most = info.warps;
    }
    *changed = *c;
    changed->threads = found;
    return found > 0;
}

static const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

static void add_configuration(writer *to, const xg_configuration *c)
{
    add(to, "%d thread%s", c->threads, plural(c->threads));
    if (c->registers > 0)
        add(to, " at %d register%s each", c->registers, plural(c->registers));
    if (c->shared > 0)
        add(to, " %s %" PRId64 " byte%s of shared memory", c->registers > 0 ? "and" : "with",
            c->shared, plural(c->shared));
}

static void add_limiters(writer *to, unsigned limiters)
{
    static const struct {
        unsigned bit;
        const char *name;
    } names[] = {
        {XGEMM_LIMITED_BY_WARPS, "warps"},
        {XGEMM_LIMITED_BY_BLOCKS, "slots for blocks"},
        {XGEMM_LIMITED_BY_REGISTERS, "registers"},
        {XGEMM_LIMITED_BY_SHARED, "shared memory"},
    };
    const char *before = "";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (limiters & names[i].bit) {
            add(to, "%s%s", before, names[i].name);
            before = " and ";
        }
}

static int warps_of(int threads)
{
    return (threads + XG_WARP - 1) / XG_WARP;
}

/* A launch is checked with as many warps in each partition. */
static int counted_registers(const xgemm_device *d, const xg_configuration *c,
                             const xgemm_occupancy_info *info)
{
    const int warps = warps_of(c->threads);
    return info->registers_allocated / warps *
           ((warps + d->warp_granule - 1) / d->warp_granule * d->warp_granule);
}

static void add_blocks(writer *to, const xgemm_device *d, const xg_configuration *c,
                       const xgemm_occupancy_info *info)
{
    if (info->blocks > 0) {
        add(to, ": %d block%s a multiprocessor, limited by ", info->blocks, plural(info->blocks));
        add_limiters(to, info->limiters);
    } else if (info->limiters & XGEMM_LIMITED_BY_REGISTERS) {
        add(to, ": cannot run, a block has at most %d registers and a launch counts %d for this",
            d->registers_per_block, counted_registers(d, c, info));
    } else {
        add(to, ": cannot run, limited by ");
        add_limiters(to, info->limiters);
    }
}

static void add_change(writer *to, const xgemm_device *d, const xg_configuration *c,
                       const xgemm_occupancy_info *now)
{
    xg_configuration changed;
    xgemm_occupancy_info then = {0};
    if (now->warps == d->warps_per_sm) {
        add(to, "; no warp is left over");
    } else if (reduce(d, c, now, &changed)) {
        xg_occupancy_compute(d, &changed, &then);
        const bool registers = changed.registers != c->registers;
        if (registers)
            add(to, "; at %d register%s", changed.registers, plural(changed.registers));
        if (changed.shared != c->shared)
            add(to, "%s %" PRId64 " bytes of shared memory", registers ? " and" : "; at",
                changed.shared);
        add(to, ", %d", then.blocks);
    } else if (resize(d, c, now, &changed)) {
        xg_occupancy_compute(d, &changed, &then);
        add(to, "; with %d threads, %d of %d warps", changed.threads, then.blocks,
            changed.threads / XG_WARP);
    } else {
        add(to, "; no one change gains more");
    }
}

static void add_occupancy(writer *to, const xgemm_device *d, const xg_configuration *c,
                          const xgemm_occupancy_info *info)
{
    const int idle = (XG_WARP - c->threads % XG_WARP) % XG_WARP;
    add(to, ". ");
    if (idle > 0)
        add(to, "A block is %d warp%s, %d thread%s of the last idle: ", warps_of(c->threads),
            plural(warps_of(c->threads)), idle, plural(idle));
    add(to, "%d of %d warps (%.4g %%), %d of %d threads (%.4g %%).", info->warps, d->warps_per_sm,
        100.0 * info->warp_occupancy, info->threads, d->threads_per_sm,
        100.0 * info->thread_occupancy);
    if (info->clusters > 0)
        add(to, " In clusters of %d blocks, at most %d on the device.", info->cluster,
            info->clusters);
}

static xgemm_status describe(const xgemm_device *device, const xg_configuration *c, char *text,
                             size_t size, xg_error *error)
{
    xgemm_device all;
    if (!text)
        return xg_fail(error, XGEMM_ERROR_NULL_POINTER, "text is NULL");
    if (size == 0)
        return xg_fail(error, XGEMM_ERROR_INVALID_VALUE, "size is 0; the text needs at least 1");
    *text = '\0';
    xgemm_status status = xg_device_complete(device, &all, error);
    if (!status)
        status = xg_occupancy_check(&all, c, error);
    if (status)
        return status;

    writer to = {text, size, 0};
    xgemm_occupancy_info info = {0};
    xg_occupancy_compute(&all, c, &info);
    add_configuration(&to, c);
    add_blocks(&to, &all, c, &info);
    add_change(&to, &all, c, &info);
    add_occupancy(&to, &all, c, &info);
    return XGEMM_OK;
}

xgemm_status xgemm_occupancy_text(const xgemm_device *device, int threads, int registers,
                                  int64_t shared, int cluster, char *text, size_t size)
{
    const xg_configuration c = {threads, registers, shared, cluster};
    const locale_t before = xg_numbers_begin();
    const xgemm_status status = describe(device, &c, text, size, xg_thread_error());
    xg_numbers_end(before);
    if (status)
        xg_error_prefix(xg_thread_error(), __func__);
    return status;
}
