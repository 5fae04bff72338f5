/* SPDX-License-Identifier: BSD-3-Clause */
/* Every access of a traced kernel: where it is, whether it may be, and a count of it. */
#include "fiber.h"
#include "trace_races.h"
#include "trace_requests.h"
#include "trace_state.h"
#include "trace_tables.h"

#include <string.h>

/* The site of the report, by source line and array. */
static int merged_site(xg_trace *trace, int site, const xg_trace_site *wanted)
{
    xg_trace_site entry = *wanted;
    entry.file = xg_trace_file_of(site, &entry.line);
    entry.source = xg_trace_text_of(site);
    for (int i = 0; i < trace->site_count; i++) {
        const xg_trace_site *other = &trace->sites[i];
        if (other->line == entry.line && other->bytes == entry.bytes &&
            other->is_store == entry.is_store && other->is_atomic == entry.is_atomic &&
            strcmp(other->array, entry.array) == 0 && strcmp(other->file, entry.file) == 0)
            return i;
    }
    trace->sites = xg_sim_with_room(trace->sites, trace->site_count, &trace->site_room,
                                    sizeof *trace->sites, "trace");
    trace->sites[trace->site_count] = entry;
    return trace->site_count++;
}

/* Between the arrays, or past the dynamic memory that the launch has. */
_Noreturn static void outside_shared(size_t word, int site)
{
    if (word >= dynamic_start())
        xg_trace_fail("accesses dynamic shared memory past the launch's end:", "dynamic",
                      (int64_t)((word - dynamic_start()) % (XG_SIM_DYNAMIC_STRIDE / 4)), site);
    xg_trace_fail("accesses shared memory between its arrays:", "shared", (int64_t)word, site);
}

/*
 * The halves of a word may be two threads', which are not told apart: writes of halves are allowed
 * beside each other, as atomics are.
 */
HOT int kind_in_word(int bytes, int kind)
{
    return bytes == 2 && kind == XG_SIM_WRITE && xg_sim_is_of_halves() ? XG_SIM_ATOMIC : kind;
}

HOT void shared_access(xg_trace *trace, size_t first, int bytes, int kind, int site)
{
    const size_t end = first + (size_t)(bytes + 3) / 4;
    code_site *code = &trace->code[site];
    int64_t element;
    const char *name = code->merged >= 0 ? trace->sites[code->merged].array : NULL;

    if (first >= dynamic_start() &&
        (first < dynamic_start_of(xg_sim_rank()) ||
         4 * (int64_t)(end - dynamic_start_of(xg_sim_rank())) > xg_sim_dynamic_bytes() + 3))
        outside_shared(end - 1, site);
    if (!name) {
        name = xg_trace_shared_array(first, &element);
        if (!name)
            outside_shared(first, site);
        const xg_trace_site wanted = {.array = name,
                                      .is_shared = true,
                                      .is_store = kind != XG_SIM_READ,
                                      .is_atomic = kind == XG_SIM_ATOMIC,
                                      .bytes = bytes};
        code->merged = merged_site(trace, site, &wanted);
    }
    for (size_t word = first; word < end; word++) {
        word_state *state = &trace->shared[word];
        if ((kind == XG_SIM_READ || kind == XG_SIM_ATOMIC) && !state->write_phase &&
            !xg_sim_is_of_halves()) {
            name = xg_trace_shared_array(word, &element);
            xg_trace_fail("reads what nothing wrote:", name ? name : "shared", element, site);
        }
        check_word(state, kind_in_word(bytes, kind), false, name, (int64_t)word, site);
    }
    take_part(trace, code, code->merged, (uint32_t)first);
}

/* Of units from a region's beginning. Where lines have no gaps an access may be of two of them. */
HOT bool inside(const xg_region *region, int unit, int64_t first, int units)
{
    const bool has_gaps = region->rows > 1 && region->stride_bytes > region->row_bytes;
    return first >= 0 && first + units <= region_units(region, unit) &&
           (!has_gaps || first % (region->stride_bytes / unit) + units <= region->row_bytes / unit);
}

/*
 * Of a region of several matrices, uses the one that has all of the bytes; else, with a gap before
 * its next line, the first that the address is in. It is mostly the one of the last access.
 */
static void find_matrix(xg_trace *trace, int index, uintptr_t address, int bytes)
{
    const xg_region *region = &trace->launch->regions[index];
    const int unit = trace->unit[index], units = (bytes + unit - 1) / unit;
    const int64_t all = region_units(region, unit);
    int64_t near = -1;
    for (int64_t i = -1; i < region->matrices; i++) {
        if (i >= 0)
            xg_trace_use_matrix(trace, index, i);
        const uintptr_t from = address - (uintptr_t)trace->bases[index];
        if (from >= (uintptr_t)(all * unit))
            continue;
        if (inside(region, unit, (int64_t)(from / (uintptr_t)unit), units))
            return;
        if (near < 0 && i >= 0)
            near = i;
    }
    xg_trace_use_matrix(trace, index, near < 0 ? 0 : near);
}

/* The region in which an address lies, gaps included; -1: none. */
HOT int region_of(xg_trace *trace, uintptr_t address, int bytes)
{
    for (int i = 0; i < XG_REGIONS_MAX; i++) {
        const xg_region *region = &trace->launch->regions[i];
        if (region->rows > 0 && region->matrices > 1)
            find_matrix(trace, i, address, bytes);
        if (address - (uintptr_t)trace->bases[i] <
            (uintptr_t)(region_units(region, trace->unit[i]) * trace->unit[i]))
            return i;
    }
    return -1;
}

/* Whether a block reads a pointer of a list: its own or, of several matrices, any. */
HOT bool is_in_list(const xg_trace *trace, uintptr_t address, int bytes)
{
    for (int i = 0; i < XG_REGIONS_MAX; i++) {
        const xg_region *region = &trace->launch->regions[i];
        const float *const *list = region->is_pointer_array ? region->base : NULL;
        const uintptr_t from = address - (uintptr_t)list;
        const bool own =
            region->matrices > 0
                ? from % sizeof *list == 0 && from < (uintptr_t)region->matrices * sizeof *list
                : from == (uintptr_t)trace->batch * sizeof *list;
        if (list && own && bytes == (int)sizeof *list)
            return true;
    }
    return false;
}

/* An access that is right: for the report. */
HOT void count_access(xg_trace *trace, const xg_trace_site *wanted, uintptr_t address,
                      uintptr_t base, int site)
{
    code_site *code = &trace->code[site];
    if (code->merged < 0)
        code->merged = merged_site(trace, site, wanted);
    const uintptr_t origin = base / LINE_BYTES * LINE_BYTES;
    take_part(trace, code, code->merged, (uint32_t)((address - origin) / 4));
}

/* The kernels' tables, which the linker puts side by side; a program may have no kernel with one.
 */
extern const char __start_xg_tables[] __attribute__((weak, visibility("hidden")));
extern const char __stop_xg_tables[] __attribute__((weak, visibility("hidden")));

HOT bool is_in_table(uintptr_t address, int bytes)
{
    return address >= (uintptr_t)__start_xg_tables &&
           address + (uintptr_t)bytes <= (uintptr_t)__stop_xg_tables;
}

HOT void global_access(xg_trace *trace, uintptr_t address, int bytes, int kind, int site)
{
    const bool is_store = kind != XG_SIM_READ;
    const int index = region_of(trace, address, bytes);
    if (index < 0 && xg_fiber_owns(address))
        return; /* a variable of the thread's own */
    if (index < 0 && !is_store && is_in_table(address, bytes))
        return; /* constant memory's, which is no traffic */
    if (index < 0 && !is_store && is_in_list(trace, address, bytes)) {
        const xg_trace_site wanted = {.array = "pointers", .bytes = bytes};
        count_access(trace, &wanted, address, address, site);
        return;
    }
    if (index < 0)
        xg_trace_fail_outside(is_store, bytes, site);
    const xg_region *region = &trace->launch->regions[index];
    const int unit = trace->unit[index], units = (bytes + unit - 1) / unit;
    const int64_t element = (int64_t)(address - (uintptr_t)trace->bases[index]) / unit;
    if (!inside(region, unit, element, units))
        xg_trace_fail(is_store ? "writes past the end of a line:" : "reads past the end of a line:",
                      region->name, element, site);
    if (is_store && !trace->states[index])
        xg_trace_fail("writes an array that is only read:", region->name, element, site);
    for (int i = 0; trace->states[index] && i < units; i++)
        check_word(&trace->states[index][element + i], kind, true, region->name, element + i, site);
    const xg_trace_site wanted = {.array = region->name,
                                  .is_store = is_store,
                                  .is_atomic = kind == XG_SIM_ATOMIC,
                                  .bytes = bytes};
    count_access(trace, &wanted, address, (uintptr_t)trace->bases[index], site);
}

/* What TMA reads, or writes: one request of as many sectors as there are. */
static void bulk_access(xg_trace *trace, uintptr_t address, int bytes, bool is_store, int site)
{
    const int index = region_of(trace, address, bytes);
    const xg_region *region = &trace->launch->regions[index < 0 ? 0 : index];
    if (index < 0)
        xg_trace_fail_outside(is_store, bytes, site);
    const int unit = trace->unit[index];
    const int64_t element = (int64_t)(address - (uintptr_t)trace->bases[index]) / unit;
    if (!inside(region, unit, element, bytes / unit))
        xg_trace_fail(is_store ? "writes past the end of a line:" : "reads past the end of a line:",
                      region->name, element, site);
    if (is_store && !trace->states[index])
        xg_trace_fail("writes an array that is only read:", region->name, element, site);
    for (int i = 0; trace->states[index] && i < bytes / unit; i++)
        check_word(&trace->states[index][element + i], is_store ? XG_SIM_WRITE : XG_SIM_READ, true,
                   region->name, element + i, site);
    const xg_trace_site wanted = {.array = region->name, .is_store = is_store, .bytes = bytes};
    const int merged = merged_site(trace, site, &wanted); /* may move the sites */
    xg_trace_site *entry = &trace->sites[merged];
    const uintptr_t last = address + (uintptr_t)bytes - 1;
    const int sectors = (int)(last / SECTOR_BYTES - address / SECTOR_BYTES + 1);
    entry->requests++;
    entry->lanes++;
    entry->sectors += sectors;
    entry->ideal_sectors += (bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
    entry->cache_lines += (int64_t)(last / LINE_BYTES - address / LINE_BYTES + 1);
    entry->most_sectors = sectors > entry->most_sectors ? sectors : entry->most_sectors;
}

HOT void access_of(const void *pointer, int bytes, int kind, int site)
{
    size_t word;
    if (!xg_trace_current)
        return;
    if (shared_word((uintptr_t)pointer, &word))
        shared_access(xg_trace_current, word, bytes, kind, site);
    else
        global_access(xg_trace_current, (uintptr_t)pointer, bytes, kind, site);
}

/* Of the shim's own: atomics and asynchronous copies. */
void xg_trace_access(const void *address, const void *site, int bytes, int kind)
{
    if (xg_trace_current && (kind == XG_SIM_BULK_READ || kind == XG_SIM_BULK_WRITE))
        bulk_access(xg_trace_current, (uintptr_t)address, bytes, kind == XG_SIM_BULK_WRITE,
                    xg_trace_number_of(site));
    else
        access_of(address, bytes, kind, xg_trace_number_of(site));
}

/* The hooks, under the names that trace-sites.awk gives them. */
#define HOOK __attribute__((visibility("hidden"))) void
#define ACCESS_HOOK(name, bytes, kind)                                                             \
    HOOK name(void *address, const void *site);                                                    \
    void name(void *address, const void *site)                                                     \
    {                                                                                              \
        access_of(address, bytes, kind, xg_trace_number_of(site));                                 \
    }
#define ACCESS_HOOKS(bytes)                                                                        \
    ACCESS_HOOK(xg_trace_read##bytes, bytes, XG_SIM_READ)                                          \
    ACCESS_HOOK(xg_trace_write##bytes, bytes, XG_SIM_WRITE)                                        \
    ACCESS_HOOK(xg_trace_unaligned_read##bytes, bytes, XG_SIM_READ)                                \
    ACCESS_HOOK(xg_trace_unaligned_write##bytes, bytes, XG_SIM_WRITE)
ACCESS_HOOKS(1)
ACCESS_HOOKS(2)
ACCESS_HOOKS(4)
ACCESS_HOOKS(8)
ACCESS_HOOKS(16)

HOOK xg_trace_block(const void *unused, const void *site);
HOOK xg_trace_init(void);

void xg_trace_block(const void *unused, const void *site)
{
    (void)unused;
    if (xg_trace_current)
        pass_block(xg_trace_current, xg_trace_number_of(site));
}

/* The sanitizer's start-up, which nothing calls. */
void xg_trace_init(void)
{
}
