/* SPDX-License-Identifier: BSD-3-Clause */
/* How the hooks note what a thread did; trace_count.c counts it when its warp stops. */
#ifndef XGEMM_SIM_TRACE_REQUESTS_H
#define XGEMM_SIM_TRACE_REQUESTS_H

#include "trace_state.h"

/* Notes that the running thread of its warp came by, with the word that it accessed. */
HOT void take_part(xg_trace *trace, code_site *code, int merged, uint32_t word)
{
    const int lane = xg_sim_thread() % WARP, index = code->next[lane]++;
    if (index == code->room)
        code->requests =
            xg_sim_with_room(code->requests, index, &code->room, sizeof *code->requests, "trace");
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
