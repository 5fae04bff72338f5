/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace_events.h"

#include "trace_races.h"
#include "source_memory.h"
#include "trace_state.h"
#include "trace_tables.h"

#include <stdlib.h>
#include <string.h>

xg_trace *xg_trace_current;

/* ---- By the scheduler ---- */

/*
 * Of all matrices of a batch. Those of a pointer array have states of their own where all blocks
 * may use them, and else one after the other the same.
 */
static int64_t all_units(const xg_launch *what, const xg_region *region, int unit)
{
    const int64_t units = region_units(region, unit);
    const int64_t count = region->matrices > 0 ? region->matrices : (int64_t)what->grid[2];
    if (units > 0 && region->is_pointer_array)
        return units * (region->matrices > 0 ? count : 1);
    return units > 0 ? units + (count - 1) * (region->batch_stride_bytes / unit) : units;
}

/* The regions of the blocks whose z is that; of a region of several matrices, the first one. */
static void begin_batch(xg_trace *trace, int64_t batch)
{
    trace->batch = batch;
    for (int i = 0; i < XG_REGIONS_MAX; i++) {
        const xg_region *region = &trace->launch->regions[i];
        const int64_t offset = region->is_pointer_array ? 0 : batch * region->batch_stride_bytes;
        if (region->rows <= 0)
            continue;
        if (region->matrices > 0) {
            xg_trace_use_matrix(trace, i, 0);
            continue;
        }
        trace->bases[i] = region->is_pointer_array ? ((const char *const *)region->base)[batch]
                                                   : (const char *)region->base + offset;
        trace->states[i] = trace->global[i] ? trace->global[i] + offset / trace->unit[i] : NULL;
        if (region->is_pointer_array && trace->global[i])
            memset(trace->global[i], 0,
                   (size_t)region_units(region, trace->unit[i]) * sizeof *trace->global[i]);
    }
}

void xg_trace_use_matrix(xg_trace *trace, int index, int64_t matrix)
{
    const xg_region *region = &trace->launch->regions[index];
    const int unit = trace->unit[index];
    const int64_t offset = matrix * region->batch_stride_bytes;
    const int64_t first =
        region->is_pointer_array ? matrix * region_units(region, unit) : offset / unit;
    trace->bases[index] = region->is_pointer_array ? ((const char *const *)region->base)[matrix]
                                                   : (const char *)region->base + offset;
    trace->states[index] = trace->global[index] ? trace->global[index] + first : NULL;
}

bool xg_trace_begin(xg_trace *trace, const xg_launch *what)
{
    xg_trace_current = trace;
    trace->launch = what;
    trace->phase = 0;
    trace->batch = -1;
    for (int i = 0; i < XG_REGIONS_MAX; i++) {
        trace->unit[i] = what->regions[i].of_halves || xg_sim_is_of_halves() ? 2 : 4;
        const int64_t units = all_units(what, &what->regions[i], trace->unit[i]);
        /* Only what is written can race. */
        const bool written = units > 0 && (i == XG_REGION_C || i == XG_REGION_WORKSPACE);
        trace->global[i] = written ? calloc((size_t)units, sizeof *trace->global[i]) : NULL;
        if (written && !trace->global[i])
            return false;
    }
    return true;
}

void xg_trace_end(void)
{
    xg_trace *trace = xg_trace_current;
    if (trace->source && trace->source->pending.is_open)
        xg_source_settle(trace->source);
    xg_trace_current = NULL;
    for (int i = 0; i < XG_REGIONS_MAX; i++) {
        free(trace->global[i]);
        trace->global[i] = NULL;
    }
    for (int i = 0; i < trace->touched_count; i++) {
        code_site *code = &trace->code[trace->touched[i]];
        code->count = 0;
        memset(code->next, 0, sizeof code->next);
    }
    trace->touched_count = 0;
}

void xg_trace_block_begins(int warps)
{
    xg_trace *trace = xg_trace_current;
    const size_t used = ((size_t)xg_sim_dynamic_bytes() + 3) / 4;
    const uint32_t *grid = trace->launch->grid;
    const int64_t batch = xg_sim_block() / ((int64_t)grid[0] * grid[1]);
    if (batch != trace->batch && !trace->source)
        begin_batch(trace, batch);
    trace->totals.blocks += xg_sim_cluster_blocks();
    trace->totals.warps += warps;
    trace->phase = (block_of(trace->phase) + 1) << PHASE_BITS;
    memset(trace->warp_phase, 0, sizeof trace->warp_phase);
    memset(trace->fences, 0, sizeof trace->fences);
    trace->clocks_since = 0;
    trace->counter_awaited = false;
    if (trace->source) {
        xg_source_block_begins(trace->source);
        return;
    }
    memset(trace->shared, 0, static_words() * sizeof *trace->shared);
    for (int rank = 0; rank < xg_sim_cluster_blocks(); rank++)
        memset(trace->shared + dynamic_start_of(rank), 0, used * sizeof *trace->shared);
}

void xg_trace_barrier_passes(void)
{
    xg_trace_current->totals.barriers++;
    xg_trace_current->phase++;
    if (xg_trace_current->source)
        xg_source_barrier_passes(xg_trace_current->source);
}

void xg_trace_warp_syncs(int warp)
{
    xg_trace_current->warp_phase[warp]++;
}

/* ---- By models ---- */

void xg_trace_uses_clocks(void)
{
    xg_trace_current->clocks_since = ++xg_trace_current->phase;
}

void xg_trace_counter_awaited(void)
{
    xg_trace_current->counter_awaited = true;
}

/* From now on another thread may use what was copied, after a barrier. */
void xg_trace_copy_completes(const void *to, int bytes)
{
    size_t first;
    if (xg_trace_current->source)
        xg_source_copy_completes(xg_trace_current->source, to, bytes);
    if (xg_trace_current->source || !shared_word((uintptr_t)to, &first))
        return;
    for (size_t word = first; word < first + (size_t)(bytes + 3) / 4; word++) {
        word_state *state = &xg_trace_current->shared[word];
        state->in_flight = false;
        state->write_phase = xg_trace_current->phase;
        state->write_epoch = epoch_of(xg_sim_thread());
    }
}

/* A write, of a copy that is then in flight or of the thread itself. */
static void note_writes(const void *to, int bytes, int kind, const xg_sim_location *here)
{
    const int thread = xg_sim_thread();
    const bool is_copy = kind == XG_SIM_ASYNC_WRITE;
    size_t first;
    if (!shared_word((uintptr_t)to, &first))
        return;
    for (size_t word = first; word < first + (size_t)bytes / 4; word++) {
        word_state *state = &xg_trace_current->shared[word];
        if (races_with_write(state, thread))
            xg_trace_fail_at_word(word, xg_trace_while_written[kind], here);
        if (races_with_read(state, thread))
            xg_trace_fail_at_word(word, xg_trace_while_read[kind], here);
        *state = (word_state){.write_phase = xg_trace_current->phase,
                              .writer = (int16_t)thread,
                              .write_epoch = epoch_of(thread),
                              .write_fence = xg_trace_current->fences[thread],
                              .in_flight = is_copy,
                              .by_async_proxy = is_copy};
    }
}

void xg_trace_bulk_issued(const void *to, int bytes, const xg_sim_location *here)
{
    note_writes(to, bytes, XG_SIM_ASYNC_WRITE, here);
}

void xg_trace_model_writes(const void *to, int bytes, const xg_sim_location *here)
{
    note_writes(to, bytes, XG_SIM_WRITE, here);
}

void xg_trace_bulk_completes(const void *to, int bytes)
{
    size_t first;
    if (shared_word((uintptr_t)to, &first))
        for (size_t word = first; word < first + (size_t)bytes / 4; word++)
            xg_trace_current->shared[word].in_flight = false;
}

void xg_trace_fence(void)
{
    xg_trace_current->fences[xg_sim_thread()]++;
}

/* The write must happen before; and for the async proxy a fence must follow a thread's store. */
static const char *wrong_read(const word_state *state, xg_trace_reader by)
{
    static const char *const nothing[] = {
        "reads what nothing wrote:", "multiplies what nothing wrote:",
        "stores what nothing wrote:"};
    static const char *const racing[] = {
        "reads what another thread writes without a barrier between:",
        "multiplies what another thread writes without a barrier between:",
        "stores what another thread writes without a barrier between:"};
    static const char *const unfenced[] = {
        NULL, "multiplies what a thread wrote without xg_fence_proxy_async() after it:",
        "stores what a thread wrote without xg_fence_proxy_async() after it:"};
    if (!state->write_phase && xg_sim_is_of_halves())
        return NULL;
    if (!state->write_phase)
        return nothing[by];
    if (races_with_write(state, xg_sim_thread()))
        return racing[by];
    if (by != XG_TRACE_THREAD && !state->by_async_proxy &&
        state->write_fence == xg_trace_current->fences[state->writer])
        return unfenced[by];
    return NULL;
}

void xg_trace_model_reads(const void *from, int bytes, xg_trace_reader by,
                          const xg_sim_location *here)
{
    size_t first;
    if (!shared_word((uintptr_t)from, &first))
        return;
    for (size_t word = first; word < first + (size_t)bytes / 4; word++) {
        word_state *state = &xg_trace_current->shared[word];
        const char *wrong = wrong_read(state, by);
        if (wrong)
            xg_trace_fail_at_word(word, wrong, here);
        if (by == XG_TRACE_THREAD) {
            state->reader = (int16_t)xg_sim_thread();
            state->read_phase = xg_trace_current->phase;
            state->read_epoch = epoch_of(xg_sim_thread());
        }
    }
}
