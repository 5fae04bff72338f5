/* SPDX-License-Identifier: BSD-3-Clause */
/* The trace of a user's own kernel: made, told of blocks and barriers, read, and freed. */
#include "source_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Its words are numbered from a multiple of the banks, after those of the memories before. */
static bool add_memory(memory *m, const xg_source_array *array, uint32_t *word)
{
    *m = (memory){.array = array,
                  .base = (uintptr_t)array->base,
                  .bytes = (uint64_t)array->bytes,
                  .cell_bits = 2,
                  .first_word = *word,
                  .is_shared = array->space == XG_SHARED_MEMORY,
                  .is_constant = array->space == XG_CONSTANT_MEMORY};
    *word += (uint32_t)(m->bytes / LINE_BYTES + 2) * (LINE_BYTES / 4);
    m->cells = m->is_constant ? NULL : calloc((size_t)m->bytes / 4 + 2, sizeof *m->cells);
    return m->is_constant || m->cells;
}

static struct source_memories *memories_of(const xg_source *of)
{
    struct source_memories *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    const size_t sites = (size_t)of->site_count + 1, arrays = (size_t)of->array_count + 1;
    s->of = of;
    s->last_site = -1;
    s->memories = calloc(arrays, sizeof *s->memories);
    s->last_at = calloc(sites, sizeof *s->last_at);
    s->visits = calloc(sites, sizeof *s->visits);
    s->parts = calloc(sites, 1);
    bool all = s->memories && s->last_at && s->parts && s->visits;
    for (size_t i = 0; all && i < sites; i++)
        s->last_at[i].merged = -1;
    uint32_t word = 0;
    for (int i = 0; all && i < of->array_count; i++)
        all = add_memory(&s->memories[i], &of->arrays[i], &word);
    if (all)
        return s;
    xg_source_free(s);
    return NULL;
}

void xg_source_free(struct source_memories *s)
{
    for (int i = 0; s && s->memories && i < s->of->array_count; i++)
        free(s->memories[i].cells);
    if (s) {
        free(s->memories);
        free(s->last_at);
        free(s->parts);
        free(s->visits);
    }
    free(s);
}

xg_trace *xg_trace_new_of_source(const xg_source *of)
{
    const size_t total = (size_t)of->site_count + 1;
    xg_trace *trace = calloc(1, sizeof *trace);
    if (!trace)
        return NULL;
    trace->code_total = of->site_count;
    trace->code = calloc(total, sizeof *trace->code);
    trace->touched = calloc(total, sizeof *trace->touched);
    trace->source = memories_of(of);
    if (trace->code && trace->touched && trace->source)
        return trace;
    xg_trace_free(trace);
    return NULL;
}

const xg_source_fault *xg_trace_faults(const xg_trace *trace, int *count)
{
    *count = trace->source->fault_count;
    return trace->source->faults;
}

void xg_trace_add_fault(xg_trace *trace, const char *text)
{
    const bool waits = strstr(text, " waits ") || strstr(text, " wait ");
    xg_source_fault fault = {
        .kind = waits ? XG_FAULT_DIVERGENT_BARRIER : XG_FAULT_LAUNCH, .site = -1, .other_site = -1};
    snprintf(fault.text, sizeof fault.text, "%s", text);
    xg_source_found(trace->source, &fault);
}

void xg_trace_touched_bytes(const xg_trace *trace, int64_t *read, int64_t *written)
{
    const struct source_memories *s = trace->source;
    *read = *written = 0;
    for (int i = 0; i < s->of->array_count; i++) {
        const memory *m = &s->memories[i];
        const uint64_t cells = m->cells && !m->is_shared ? m->bytes >> m->cell_bits : 0;
        for (uint64_t c = 0; c < cells; c++) {
            *read += m->cells[c].read_phase ? 1 << m->cell_bits : 0;
            *written += m->cells[c].write_phase ? 1 << m->cell_bits : 0;
        }
    }
}

bool xg_trace_is_used(const xg_trace *trace, int array)
{
    return trace->source->memories[array].is_used;
}

int64_t xg_trace_steps(const xg_trace *trace, int site, int64_t *lanes)
{
    *lanes = trace->code[site].step_lanes;
    return trace->code[site].steps;
}

int xg_trace_last_site(void)
{
    return xg_trace_current && xg_trace_current->source ? xg_trace_current->source->last_site : -1;
}

void xg_source_block_begins(struct source_memories *s)
{
    if (s->pending.is_open)
        xg_source_settle(s);
    s->block_atomic = false;
    s->stops++;
    for (int i = 0; i < xg_sim_block_threads(); i++)
        s->paths[i].depth = s->paths[i].calls = 0, s->paths[i].key = 0;
    for (int i = 0; i < s->of->array_count; i++) {
        memory *m = &s->memories[i];
        if (m->is_shared) {
            memset((void *)m->base, 0xff, (size_t)m->bytes);
            memset(m->cells, 0, (((size_t)m->bytes >> m->cell_bits) + 1) * sizeof *m->cells);
        }
    }
}

/* The threads of a warp that pass a barrier of the block must wait at the same one. */
void xg_source_barrier_passes(struct source_memories *s)
{
    for (int thread = 1; thread < xg_sim_block_threads(); thread++) {
        const xg_source_location *at = s->barrier_of[thread], *before = s->barrier_of[thread - 1];
        if (thread % WARP && at && before && at->line != before->line) {
            const xg_index3 t = xg_sim_thread_indices[thread];
            xg_source_fault fault = {.kind = XG_FAULT_DIVERGENT_BARRIER,
                                     .line = at->line,
                                     .other_line = before->line,
                                     .site = -1,
                                     .other_site = -1};
            snprintf(fault.text, sizeof fault.text,
                     "threads of one warp wait at different barriers: thread (%u, %u, %u) at "
                     "__syncthreads() of line %d, its neighbour at that of line %d",
                     t.x, t.y, t.z, at->line, before->line);
            xg_source_found(s, &fault);
            return;
        }
    }
}
