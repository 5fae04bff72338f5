/* SPDX-License-Identifier: BSD-3-Clause */
/* Hooks of a user's own kernel: which memory an access is in, its check and its count. */
#include "source_memory.h"

#include "fiber.h"
#include "trace_events.h"
#include "scheduler.h"
#include "trace_requests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- An access ---- */

HOT memory *memory_at(struct source_memories *s, uintptr_t address, int site)
{
    memory *m = &s->memories[s->memory_of[site]];
    if (address - m->base < m->bytes)
        return m;
    for (int i = 0; i < s->of->array_count; i++) {
        m = &s->memories[i];
        if (address - m->base < m->bytes) {
            s->memory_of[site] = i;
            s->merged_of[site] = -1;
            return m;
        }
    }
    return NULL;
}

/* The site of the report: a line's accesses of one kind and size to one array. */
static int find_merged(xg_trace *trace, memory *m, int bytes, int access, int site)
{
    const xg_source_site *at = &trace->source->of->sites[site];
    const xg_trace_site wanted = {.file = at->file,
                                  .line = at->line,
                                  .source = at->text,
                                  .array = m->array->name,
                                  .is_shared = m->is_shared,
                                  .is_constant = m->is_constant,
                                  .is_store = access != XG_HOOK_READ,
                                  .is_atomic = access == XG_HOOK_ATOMIC,
                                  .bytes = bytes};
    m->is_used = true;
    for (int i = 0; i < trace->site_count; i++) {
        const xg_trace_site *other = &trace->sites[i];
        if (other->line == wanted.line && other->array == wanted.array && other->bytes == bytes &&
            other->is_store == wanted.is_store && other->is_atomic == wanted.is_atomic &&
            strcmp(other->file, wanted.file) == 0)
            return i;
    }
    trace->sites = xg_sim_with_room(trace->sites, trace->site_count, &trace->site_room,
                                    sizeof *trace->sites, "trace");
    trace->sites[trace->site_count] = wanted;
    return trace->site_count++;
}

static void not_in_memory(struct source_memories *s, uintptr_t address, int bytes, int access,
                          int site)
{
    const uintptr_t image = (uintptr_t)s->of->image;
    if (xg_fiber_owns(address))
        return; /* a variable of the thread's own */
    if (access == XG_HOOK_READ && address - image < (uintptr_t)s->of->image_bytes)
        return; /* a constant of the code */
    xg_source_outside(s, address, bytes, access, site);
}

static void in_constant_memory(const memory *m, uintptr_t address, int access, int site)
{
    if (access != XG_HOOK_READ) {
        const xg_source_fault fault =
            xg_source_fault_of(XG_FAULT_CONSTANT, m, address, access, site);
        xg_source_stops(&fault);
    }
}

/* How many requests of a site are kept until its warp stops. */
enum { REQUESTS_MOST = 1 << 14 };

/* A request that nobody has taken part in; where there is no room the warp stops first. */
static int new_request(xg_trace *trace, code_site *code, uint64_t key)
{
    if (code->count == code->room && code->room >= REQUESTS_MOST)
        xg_sim_pause();
    code->requests =
        xg_sim_with_room(code->requests, code->count, &code->room, sizeof *code->requests, "trace");
    if (code->count == 0)
        trace->touched[trace->touched_count++] = (int)(code - trace->code);
    code->requests[code->count].lanes = 0;
    code->requests[code->count].key = key;
    return code->count++;
}

/* Most often the one after its last; else any other, or a new one. */
HOT int find_request(xg_trace *trace, code_site *code, uint64_t key, int next)
{
    if (next < code->count && code->requests[next].key == key)
        return next;
    for (int i = next + 1; i < code->count; i++)
        if (code->requests[i].key == key)
            return i;
    for (int i = 0; i < next && i < code->count; i++)
        if (code->requests[i].key == key)
            return i;
    return new_request(trace, code, key);
}

/* Notes that the running thread came by, in the request of its iteration. */
HOT void take_part_in_iteration(xg_trace *trace, int site, int merged, uint32_t word)
{
    struct source_memories *s = trace->source;
    const int thread = xg_sim_thread(), lane = thread % WARP;
    code_site *code = &trace->code[site];
    visit *last = &s->visits[site][lane];
    const uint64_t key = s->paths[thread].key;
    if (last->key == key && last->stop == s->stops)
        last->again++;
    else
        *last = (visit){key, s->stops, 0};
    const int at = find_request(trace, code, xg_path_mix(key, last->again), code->next[lane]);
    request *r = &code->requests[at];
    if (r->lanes == 0)
        r->merged = merged;
    if (at >= code->next[lane])
        code->next[lane] = at + 1;
    r->lanes |= 1u << lane;
    r->word[lane] = word;
}

HOT void access_at(uintptr_t address, int bytes, int access, int site)
{
    xg_trace *trace = xg_trace_current;
    struct source_memories *s = trace->source;
    s->last_site = site;
    if (__builtin_expect(s->pending.is_open, 0))
        xg_source_settle(s);
    memory *m = memory_at(s, address, site);
    if (!m) {
        not_in_memory(s, address, bytes, access, site);
        return;
    }
    const uintptr_t offset = address - m->base;
    if (offset + (unsigned)bytes > m->bytes)
        xg_source_outside(s, address, bytes, access, site);
    if (address % (unsigned)bytes) {
        const xg_source_fault fault =
            xg_source_fault_of(XG_FAULT_MISALIGNED, m, address, access, site);
        xg_source_stops(&fault);
    }
    if (m->cells)
        xg_source_check(s, m, address, bytes, access, site);
    else
        in_constant_memory(m, address, access, site);
    s->block_atomic |= access == XG_HOOK_ATOMIC && !m->is_shared;
    if (s->merged_of[site] < 0)
        s->merged_of[site] = find_merged(trace, m, bytes, access, site);
    const uintptr_t origin = m->base / LINE_BYTES * LINE_BYTES;
    take_part_in_iteration(trace, site, s->merged_of[site], (uint32_t)((address - origin) / 4));
}

#define ACCESS_HOOK(name, bytes, kind)                                                             \
    static void name##bytes(const void *address, int site)                                         \
    {                                                                                              \
        access_at((uintptr_t)address, bytes, kind, site);                                          \
    }
#define ACCESS_HOOKS(bytes)                                                                        \
    ACCESS_HOOK(read, bytes, XG_HOOK_READ)                                                         \
    ACCESS_HOOK(write, bytes, XG_HOOK_WRITE)
ACCESS_HOOKS(1)
ACCESS_HOOKS(2)
ACCESS_HOOKS(4)
ACCESS_HOOKS(8)
ACCESS_HOOKS(16)

static void access_any(const void *address, int bytes, int access, int site)
{
    access_at((uintptr_t)address, bytes, access, site);
}

/* A struct that is copied whole: in the largest parts that its address is aligned to. */
static void access_range(const void *address, size_t bytes, int access, int site)
{
    uintptr_t at = (uintptr_t)address;
    while (bytes > 0) {
        size_t part = 16;
        while (part > bytes || at % part)
            part /= 2;
        access_at(at, (int)part, access, site);
        at += part;
        bytes -= part;
    }
}

static void block_begins(int site)
{
    struct source_memories *s = xg_trace_current->source;
    s->last_site = site;
    xg_path_enters(&s->paths[xg_sim_thread()], &s->of->sites[site], site);
    pass_block(xg_trace_current, site);
}

/* ---- What else a kernel asks of the simulator ---- */

static void syncthreads(const xg_source_location *here)
{
    struct source_memories *s = xg_trace_current->source;
    const int thread = xg_sim_thread();
    s->barriers[thread] = *here;
    s->barrier_of[thread] = &s->barriers[thread];
    xg_sim_syncthreads((const xg_sim_location *)here);
}

static void syncwarp(uint32_t mask, const xg_source_location *here)
{
    xg_sim_syncwarp(mask, (const xg_sim_location *)here);
}

static void shuffle(uint32_t mask, void *value, unsigned bytes, int from,
                    const xg_source_location *here)
{
    xg_sim_shuffle(mask, value, bytes, from, (const xg_sim_location *)here);
}

static uint32_t ballot(uint32_t mask, int vote, const xg_source_location *here)
{
    return xg_sim_ballot(mask, vote, (const xg_sim_location *)here);
}

static uint32_t reduce(uint32_t mask, uint32_t value, int add, const xg_source_location *here)
{
    return xg_sim_reduce(mask, value, add, (const xg_sim_location *)here);
}

static void fence(void)
{
    xg_trace_current->source->any_fence = true;
}

static void fail(const xg_source_location *here, const char *what)
{
    xg_sim_fail_at((const xg_sim_location *)here, "%s", what);
}

const xg_hooks *xg_sim_hooks(void)
{
    static const xg_hooks hooks = {.version = XG_HOOKS_VERSION,
                                   .read = {read1, read2, read4, read8, read16},
                                   .write = {write1, write2, write4, write8, write16},
                                   .access = access_any,
                                   .range = access_range,
                                   .block = block_begins,
                                   .syncthreads = syncthreads,
                                   .syncwarp = syncwarp,
                                   .shuffle = shuffle,
                                   .ballot = ballot,
                                   .reduce = reduce,
                                   .fence = fence,
                                   .copy_async = xg_sim_copy_async,
                                   .copy_commit = xg_sim_copy_commit,
                                   .copy_wait = xg_sim_copy_wait,
                                   .fail = fail,
                                   .thread_index = &xg_sim_threadIdx.x,
                                   .block_index = &blockIdx.x,
                                   .block_dim = &blockDim.x,
                                   .grid_dim = &gridDim.x};
    return &hooks;
}
