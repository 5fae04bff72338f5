/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether accesses of a user's own kernel race, and whether something was written before it is
 * read. */
#include "trace_races.h"
#include "source_memory.h"

#include <stdlib.h>
#include <string.h>

/* A cell for each byte, where there was one for each word. */
static void split_cells(memory *m)
{
    const size_t count = (size_t)m->bytes;
    cell *bytes = calloc(count + 4, sizeof *bytes);
    if (!bytes)
        xg_sim_no_memory("trace");
    for (size_t i = 0; i < count; i++)
        bytes[i] = m->cells[i / 4];
    free(m->cells);
    m->cells = bytes;
    m->cell_bits = 0;
}

/* The last write of the cell, or its last read, is another thread's and nothing is between. */
static bool write_races(const cell *c, int thread)
{
    return c->write_phase == xg_trace_current->phase &&
           !happens_before(c->writer, c->write_epoch, thread);
}

static bool read_races(const cell *c, int thread)
{
    return c->read_phase == xg_trace_current->phase &&
           !happens_before(c->reader, c->read_epoch, thread);
}

/*
 * Two blocks are ordered by nothing, but for those that count each other by an atomic after a
 * fence: a block that reads after its own atomic is taken to know that the others are done.
 */
static bool blocks_race(const struct source_memories *s, const cell *c, int access)
{
    const uint64_t block = block_of(xg_trace_current->phase);
    /* 1: what an earlier fault was about */
    const bool written = c->write_phase > 1 && block_of(c->write_phase) != block;
    const bool read = c->read_phase && block_of(c->read_phase) != block;
    if (s->any_fence && s->block_atomic)
        return false;
    if (access == XG_HOOK_READ)
        return written;
    return (written && !(access == XG_HOOK_ATOMIC && c->atomic)) || read;
}

static void note_access(cell *c, int access, int thread, int site)
{
    const uint64_t phase = xg_trace_current->phase;
    const uint32_t epoch = xg_trace_current->warp_phase[thread >> WARP_BITS];
    if (access != XG_HOOK_READ) {
        c->write_phase = phase;
        c->write_epoch = epoch;
        c->write_site = site;
        c->writer = (int16_t)thread;
        c->atomic = access == XG_HOOK_ATOMIC;
        c->in_flight = access == XG_HOOK_ASYNC;
    } else {
        c->reader = (int16_t)(c->read_phase == phase ? with_reader(c->reader, thread) : thread);
        c->read_phase = phase;
        c->read_epoch = epoch;
        c->read_site = site;
    }
}

/* A store over another thread's store is a fault only if it stores something else. */
static void wait_for_value(struct source_memories *s, uintptr_t address, int bytes,
                           const xg_source_fault *fault)
{
    s->pending.is_open = true;
    s->pending.address = address;
    s->pending.bytes = bytes;
    memcpy(s->pending.before, (const void *)address, (size_t)bytes);
    s->pending.fault = *fault;
}

void xg_source_settle(struct source_memories *s)
{
    s->pending.is_open = false;
    if (memcmp(s->pending.before, (const void *)s->pending.address, (size_t)s->pending.bytes) != 0)
        xg_source_found(s, &s->pending.fault);
}

static void check_cell(struct source_memories *s, memory *m, cell *c, uintptr_t address, int access,
                       int site)
{
    const int thread = xg_sim_thread();
    const bool both_atomic = access == XG_HOOK_ATOMIC && c->atomic;
    if ((access == XG_HOOK_READ || access == XG_HOOK_ATOMIC) && !c->write_phase &&
        (m->is_shared || m->array->undefined)) {
        const xg_source_fault fault =
            xg_source_fault_of(XG_FAULT_UNDEFINED, m, address, access, site);
        xg_source_found(s, &fault);
        c->write_phase = 1; /* said once an element */
    }
    if (c->in_flight) {
        const xg_source_fault fault =
            xg_source_fault_of(XG_FAULT_IN_FLIGHT, m, address, access, site);
        xg_source_found(s, &fault);
    } else if (!both_atomic && write_races(c, thread)) {
        const xg_source_fault fault = xg_source_race_of(m, address, access, site, c, true);
        if (access == XG_HOOK_WRITE && !c->atomic)
            wait_for_value(s, address, 1 << m->cell_bits, &fault);
        else
            xg_source_found(s, &fault);
    } else if (access != XG_HOOK_READ && read_races(c, thread)) {
        const xg_source_fault fault = xg_source_race_of(m, address, access, site, c, false);
        xg_source_found(s, &fault);
    } else if (!m->is_shared && blocks_race(s, c, access)) {
        xg_source_fault fault = xg_source_race_of(
            m, address, access, site, c,
            c->write_phase && block_of(c->write_phase) != block_of(xg_trace_current->phase));
        fault.kind = XG_FAULT_BLOCKS_RACE;
        if (access == XG_HOOK_WRITE && c->write_phase && !c->atomic && !c->read_phase)
            wait_for_value(s, address, 1 << m->cell_bits, &fault);
        else
            xg_source_found(s, &fault);
    }
    note_access(c, access, thread, site);
}

void xg_source_check(struct source_memories *s, memory *m, uintptr_t address, int bytes, int access,
                     int site)
{
    const uintptr_t offset = address - m->base;
    if (bytes < 4 && m->cell_bits)
        split_cells(m);
    const size_t last = (offset + (size_t)bytes - 1) >> m->cell_bits;
    for (size_t i = offset >> m->cell_bits; i <= last; i++)
        check_cell(s, m, &m->cells[i], m->base + (i << m->cell_bits), access, site);
}

void xg_source_copy_completes(struct source_memories *s, const void *to, int bytes)
{
    for (int i = 0; i < s->of->array_count; i++) {
        memory *m = &s->memories[i];
        const uintptr_t offset = (uintptr_t)to - m->base;
        if (offset >= m->bytes || !m->cells)
            continue;
        for (size_t c = offset >> m->cell_bits; c << m->cell_bits < offset + (size_t)bytes; c++) {
            m->cells[c].in_flight = false;
            m->cells[c].write_phase = xg_trace_current->phase;
            m->cells[c].write_epoch = xg_trace_current->warp_phase[xg_sim_thread() >> WARP_BITS];
        }
        return;
    }
}
