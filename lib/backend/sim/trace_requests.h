/* SPDX-License-Identifier: BSD-3-Clause */
/* How the hooks note what a thread did; trace_count.c counts it when its warp stops. */
#ifndef XGEMM_SIM_TRACE_REQUESTS_H
#define XGEMM_SIM_TRACE_REQUESTS_H

#include "scheduler.h"
#include "trace_state.h"

/* How many requests of a site are kept until the warp's next stop, where it need not stop. */
enum { REQUESTS_MOST = 1 << 14 };

/*
 * Room for one more request. A kernel of the user's own may loop for long between two barriers: its
 * threads then pause, so that what the warp did up to there is counted.
 */
static inline int make_room(xg_trace *trace, code_site *code, int lane)
{
    if (trace->source && code->room >= REQUESTS_MOST) {
        xg_sim_pause();
    } else {
        code->requests = xg_sim_with_room(code->requests, code->next[lane], &code->room,
                                          sizeof *code->requests, "trace");
    }
    return code->next[lane];
}

/* Notes that the running thread of its warp came by, with the word that it accessed. */
HOT void take_part(xg_trace *trace, code_site *code, int merged, uint32_t word)
{
    const int lane = xg_sim_thread() % WARP;
    int index = code->next[lane];
    if (index == code->room)
        index = make_room(trace, code, lane);
    code->next[lane]++;
    if (code->count == 0)
        trace->touched[trace->touched_count++] = (int)(code - trace->code);
    if (index == code->count) {
        code->count++;
        code->requests[index].lanes = 0;
        code->requests[index].merged = merged;
    }
    code->requests[index].lanes |= 1u << lane;
    code->requests[index].word[lane] = word;
}

/* Of a basic block only counts are kept: how often each thread came by. */
HOT void pass_block(xg_trace *trace, int site)
{
    code_site *code = &trace->code[site];
    if (code->count == 0) {
        code->is_block = true;
        code->count = 1;
        trace->touched[trace->touched_count++] = site;
    }
    code->next[xg_sim_thread() % WARP]++;
}

#endif
