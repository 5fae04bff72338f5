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
    memory *m = &s->memories[s->last_at[site].memory];
    if (address - m->base < m->bytes)
        return m;
    for (int i = 0; i < s->of->array_count; i++) {
        m = &s->memories[i];
        if (address - m->base < m->bytes) {
            s->last_at[site] = (last_access){.memory = i, .merged = -1};
            return m;
        }
    }
    return NULL;
}

/* The site of the report: a line's accesses of one kind and size to one array, or to several. */
static int site_like(xg_trace *trace, const xg_trace_site *wanted)
{
    for (int i = 0; i < trace->site_count; i++) {
        const xg_trace_site *other = &trace->sites[i];
        if (other->line == wanted->line && other->array == wanted->array &&
            other->bytes == wanted->bytes && other->is_store == wanted->is_store &&
            other->is_atomic == wanted->is_atomic && strcmp(other->joined, wanted->joined) == 0 &&
            strcmp(other->file, wanted->file) == 0)
            return i;
    }
    trace->sites = xg_sim_with_room(trace->sites, trace->site_count, &trace->site_room,
                                    sizeof *trace->sites, "trace");
    trace->sites[trace->site_count] = *wanted;
    return trace->site_count++;
}

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
    return site_like(trace, &wanted);
}

/* The most often asked: what the access before was, of this site to the same memory. */
HOT int merged_at(xg_trace *trace, memory *m, int bytes, int access, int site)
{
    last_access *last = &trace->source->last_at[site];
    if (last->merged < 0 || last->bytes != bytes || last->access != access) {
        last->merged = find_merged(trace, m, bytes, access, site);
        last->bytes = bytes;
        last->access = access;
    }
    return last->merged;
}

/*
 * The site of a request whose threads go to several arrays, which is one request of them all: with
 * their names in order, "a+b".
 */
static int join(xg_trace *trace, int one, int other)
{
    xg_trace_site wanted = {.file = trace->sites[one].file,
                            .line = trace->sites[one].line,
                            .source = trace->sites[one].source,
                            .is_shared = trace->sites[one].is_shared,
                            .is_constant = trace->sites[one].is_constant,
                            .is_store = trace->sites[one].is_store,
                            .is_atomic = trace->sites[one].is_atomic,
                            .bytes = trace->sites[one].bytes};
    const char *name = xg_trace_array_of(&trace->sites[one]);
    const char *more = trace->sites[other].array;
    size_t used = 0;
    trace->sites[one].is_joined = trace->sites[other].is_joined = true;
    for (bool placed = false; *name || !placed;) {
        const size_t length = strcspn(name, "+"), own = strlen(more);
        const int order = strncmp(more, name, length > own ? length : own);
        if (*name && order == 0 && length == own)
            return one;
        const bool now = !placed && (!*name || order < 0);
        used += (size_t)snprintf(wanted.joined + used, sizeof wanted.joined - used, "%s%.*s",
                                 used ? "+" : "", now ? (int)own : (int)length, now ? more : name);
        if (used >= sizeof wanted.joined)
            break;
        placed |= now;
        if (!now)
            name += length + (name[length] == '+');
    }
    return site_like(trace, &wanted);
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

/* ---- Its request ---- */

/*
 * How many requests of a site are kept until its warp stops; how many of them are looked through
 * one by one: of more there is a table by their keys.
 */
enum { REQUESTS_MOST = 1 << 14, REQUESTS_FEW = 64 };

/* Where the table has the request of a key, or where it would be. */
HOT request_slot *slot_of(const xg_trace *trace, const code_site *code, uint64_t key)
{
    const uint64_t last = 2 * (uint64_t)code->room - 1, stop = trace->source->stops;
    uint64_t at = (key ^ key >> 32) & last;
    while (code->slots[at].stop == stop && code->requests[code->slots[at].index].key != key)
        at = (at + 1) & last;
    return &code->slots[at];
}

static void tabulate(const xg_trace *trace, const code_site *code, int index)
{
    *slot_of(trace, code, code->requests[index].key) =
        (request_slot){.stop = trace->source->stops, .index = index};
}

/* There is room for more requests: also in the table. */
static void enlarge_table(const xg_trace *trace, code_site *code)
{
    free(code->slots);
    code->slots = calloc(2 * (size_t)code->room, sizeof *code->slots);
    if (!code->slots)
        xg_sim_no_memory("trace");
    for (int i = 0; i < code->count; i++)
        tabulate(trace, code, i);
}

/* A request that nobody has taken part in. */
static int new_request(xg_trace *trace, code_site *code, uint64_t key)
{
    const int room = code->room;
    code->requests =
        xg_sim_with_room(code->requests, code->count, &code->room, sizeof *code->requests, "trace");
    if (code->room > room && code->room > REQUESTS_FEW)
        enlarge_table(trace, code);
    if (code->count == 0)
        trace->touched[trace->touched_count++] = (int)(code - trace->code);
    code->requests[code->count].lanes = 0;
    code->requests[code->count].key = key;
    if (code->slots)
        tabulate(trace, code, code->count);
    return code->count++;
}

/* -1: there is none. */
static int look_for_request(const xg_trace *trace, const code_site *code, uint64_t key)
{
    if (code->slots) {
        const request_slot *slot = slot_of(trace, code, key);
        return slot->stop == trace->source->stops ? slot->index : -1;
    }
    for (int i = 0; i < code->count; i++)
        if (code->requests[i].key == key)
            return i;
    return -1;
}

/*
 * Most often the one after its last; else any other, or a new one. Where there is no room the warp
 * stops first, after which another thread of it may have made the request.
 */
HOT int find_request(xg_trace *trace, code_site *code, uint64_t key, int next)
{
    if (next < code->count && code->requests[next].key == key)
        return next;
    int found = look_for_request(trace, code, key);
    if (found < 0 && code->count >= REQUESTS_MOST) {
        xg_sim_pause();
        found = look_for_request(trace, code, key);
    }
    return found >= 0 ? found : new_request(trace, code, key);
}

/* What threads must have in common to make one request; "again": how often each came by before. */
HOT uint64_t kind_of_request(const memory *m, int bytes, int access, uint64_t again)
{
    return ((again << 2 | m->array->space) << 2 | (unsigned)access) << 5 | (unsigned)bytes;
}

/* Notes that the running thread came by, in the request of its iteration. */
HOT void take_part_in_iteration(xg_trace *trace, int site, const memory *m, int bytes, int access,
                                int merged, uint32_t word)
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
    const uint64_t whole = xg_path_mix(key, kind_of_request(m, bytes, access, last->again));
    const int at = find_request(trace, code, whole, code->next[lane]);
    request *r = &code->requests[at];
    if (r->lanes == 0)
        r->merged = merged;
    else if (__builtin_expect(r->merged != merged, 0))
        r->merged = join(trace, r->merged, merged);
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
    if (bytes < m->least || m->least == 0)
        m->least = bytes;
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
    const int merged = merged_at(trace, m, bytes, access, site);
    const uintptr_t origin = m->base / LINE_BYTES * LINE_BYTES;
    take_part_in_iteration(trace, site, m, bytes, access, merged,
                           m->first_word + (uint32_t)((address - origin) / 4));
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

/*
 * A struct that is copied whole, as the GPU's compiler has it: loads of the largest parts that its
 * alignment allows, the same for all threads. Of the alignment only bounds are known: the
 * compiler's, the size, and the addresses so far.
 */
static void access_range(const void *address, size_t bytes, size_t aligned, int access, int site)
{
    uint8_t *most = &xg_trace_current->source->parts[site];
    uintptr_t at = (uintptr_t)address;
    size_t part = *most && *most < aligned ? *most : aligned;
    while (at % part)
        part /= 2;
    *most = (uint8_t)part;
    while (bytes % part)
        part /= 2;
    for (const uintptr_t end = at + bytes; at < end; at += part)
        access_at(at, (int)part, access, site);
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

static void tensor(int type, int flops)
{
    xg_trace_current->totals.tensor_flops[type] += flops;
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
                                   .tensor = tensor,
                                   .indices = xg_sim_show_indices};
    return &hooks;
}
