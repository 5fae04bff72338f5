/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether accesses to a word race. Accesses of one block are ordered by its barriers and those of
 * its warps; or by vector clocks, once a model uses these. Different blocks are not ordered.
 */
#ifndef XGEMM_SIM_TRACE_RACES_H
#define XGEMM_SIM_TRACE_RACES_H

#include "trace_state.h"
#include "trace_tables.h"
#include "vector_clock.h"

/* What is wrong with an access, by its kind (cuda_shim.h). */
extern const char *const xg_trace_while_written[], *const xg_trace_while_read[],
                                                       *const xg_trace_while_in_flight[];

/* Fails the launch at an element; of a shared array, if it is not one of several blocks. */
_Noreturn void xg_trace_conflict(const char *what, bool across_blocks, const char *array,
                                 int64_t element, int site);

/*
 * Whether an access of this phase, by a thread or by several of a warp, happens before the running
 * thread's in every order: its own, or before its warp's last barrier.
 */
HOT bool happens_before(int other, uint32_t warp_phase, int thread)
{
    const int warp = other >= 0 ? other >> WARP_BITS : -2 - other;
    return other == thread || (other != SEVERAL_WARPS && warp == thread >> WARP_BITS &&
                               warp_phase < xg_trace_current->warp_phase[warp]);
}

/* The readers of a word, one more among them. */
HOT int with_reader(int readers, int thread)
{
    const int whole_warp = -2 - (thread >> WARP_BITS);
    if (readers == whole_warp || readers == SEVERAL_WARPS || readers == thread)
        return readers;
    return readers >= 0 && readers >> WARP_BITS == thread >> WARP_BITS ? whole_warp : SEVERAL_WARPS;
}

/*
 * Whether the last write of a word, or its last read, was by another thread and does not happen
 * before the running one's access. With vector clocks only the last of several readers is known.
 */
HOT bool races_with_write(const word_state *state, int thread)
{
    if (xg_trace_current->clocks_since)
        return state->write_phase >= xg_trace_current->clocks_since &&
               !xg_clock_happens_before(state->writer, state->write_epoch, thread);
    return state->write_phase == xg_trace_current->phase &&
           !happens_before(state->writer, state->write_epoch, thread);
}

HOT bool races_with_read(const word_state *state, int thread)
{
    if (xg_trace_current->clocks_since)
        return state->read_phase >= xg_trace_current->clocks_since &&
               !xg_clock_happens_before(state->reader, state->read_epoch, thread);
    return state->read_phase == xg_trace_current->phase &&
           !happens_before(state->reader, state->read_epoch, thread);
}

/* The running thread's epoch within the phase. */
HOT uint32_t epoch_of(int thread)
{
    return xg_trace_current->clocks_since ? xg_clock_epoch(thread)
                                          : xg_trace_current->warp_phase[thread >> WARP_BITS];
}

/* Notes the running thread's access to a word; fails where it races with another thread's. */
HOT void check_word(word_state *state, int kind, bool across_blocks, const char *array,
                    int64_t element, int site)
{
    const bool is_store = kind != XG_SIM_READ, atomic = kind == XG_SIM_ATOMIC;
    const uint64_t phase = xg_trace_current->phase, block = block_of(phase);
    const int thread = xg_sim_thread();
    const bool written_now = state->write_phase == phase, read_now = state->read_phase == phase;
    const bool both_atomic = atomic && state->atomic;
    const bool begins = !written_now || !races_with_write(state, thread); /* a row of atomics */

    if (state->in_flight)
        xg_trace_conflict(xg_trace_while_in_flight[kind], across_blocks, array, element, site);
    if (!both_atomic && races_with_write(state, thread))
        xg_trace_conflict(xg_trace_while_written[kind], across_blocks, array, element, site);
    if (is_store && races_with_read(state, thread))
        xg_trace_conflict(xg_trace_while_read[kind], across_blocks, array, element, site);
    if (across_blocks && state->write_phase && block_of(state->write_phase) != block &&
        !both_atomic && (is_store || !xg_trace_current->counter_awaited))
        xg_trace_conflict(is_store ? "writes what another block writes:"
                                   : "reads what another block writes:",
                          across_blocks, array, element, site);
    if (across_blocks && is_store && state->read_phase && block_of(state->read_phase) != block)
        xg_trace_conflict("writes what another block reads:", across_blocks, array, element, site);
    if (is_store) {
        state->atomic = atomic && (begins || state->atomic);
        state->in_flight = kind == XG_SIM_ASYNC_WRITE;
        state->write_phase = phase;
        state->write_epoch = epoch_of(thread);
        state->writer = (int16_t)thread;
        state->by_async_proxy = false;
        state->write_fence = xg_trace_current->fences[thread];
    } else {
        const bool add = read_now && !xg_trace_current->clocks_since;
        state->reader = (int16_t)(add ? with_reader(state->reader, thread) : thread);
        state->read_phase = phase;
        state->read_epoch = epoch_of(thread);
    }
}

#endif
