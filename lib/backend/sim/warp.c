/* SPDX-License-Identifier: BSD-3-Clause */
/* Warp-level primitives (shuffle, vote, reduce), and atomics. */
#include "cuda_shim.h"
#include "running.h"
#include "scheduler.h"

#include <string.h>

enum { VALUE_MOST = 16 };

/* What each thread of a warp hands in; overwritten only when all have read what they want. */
static unsigned char brought[XG_SIM_THREADS_MAX][VALUE_MOST];

void xg_sim_shuffle(uint32_t mask, void *value, unsigned bytes, int from,
                    const xg_sim_location *here)
{
    const int thread = xg_sim_thread(), first = thread / XG_SIM_WARP * XG_SIM_WARP;
    if (bytes > VALUE_MOST)
        xg_sim_fail_at(here, "shuffles %u bytes; the most is %d", bytes, VALUE_MOST);
    memcpy(brought[thread], value, bytes);
    xg_sim_sync_lanes(mask, false, here);
    if (from >= 0 && from < XG_SIM_WARP) { /* past the warp's end a thread keeps its own */
        if (!(mask >> from & 1) || !xg_sim_is_alive(first + from))
            xg_sim_fail_at(here, "takes the value of lane %d, which brings none", from);
        memcpy(value, brought[first + from], bytes);
    }
    xg_sim_sync_lanes(mask, false, here);
}

uint32_t xg_sim_ballot(uint32_t mask, int vote, const xg_sim_location *here)
{
    const int thread = xg_sim_thread(), first = thread / XG_SIM_WARP * XG_SIM_WARP;
    uint32_t votes = 0;
    brought[thread][0] = (unsigned char)(vote != 0);
    xg_sim_sync_lanes(mask, false, here);
    for (int lane = 0; lane < XG_SIM_WARP; lane++)
        if (mask >> lane & 1 && xg_sim_is_alive(first + lane))
            votes |= (uint32_t)brought[first + lane][0] << lane;
    xg_sim_sync_lanes(mask, false, here);
    return votes;
}

/* The sum or the largest of the named threads' values, unsigned. */
uint32_t xg_sim_reduce(uint32_t mask, uint32_t value, int add, const xg_sim_location *here)
{
    const int thread = xg_sim_thread(), first = thread / XG_SIM_WARP * XG_SIM_WARP;
    uint32_t all = 0, one;
    memcpy(brought[thread], &value, sizeof value);
    xg_sim_sync_lanes(mask, false, here);
    for (int lane = 0; lane < XG_SIM_WARP; lane++)
        if (mask >> lane & 1 && xg_sim_is_alive(first + lane)) {
            memcpy(&one, brought[first + lane], sizeof one);
            all = add ? all + one : one > all ? one : all;
        }
    xg_sim_sync_lanes(mask, false, here);
    return all;
}

#define OPERATION(name, suffix, type, result)                                                      \
    type xg_sim_##name##_##suffix(type *at, type value)                                            \
    {                                                                                              \
        const type old = *at;                                                                      \
        *at = (result);                                                                            \
        return old;                                                                                \
    }
#define OPERATIONS(suffix, type)                                                                   \
    OPERATION(add, suffix, type, old + value)                                                      \
    OPERATION(min, suffix, type, value < old ? value : old)                                        \
    OPERATION(max, suffix, type, value > old ? value : old)                                        \
    OPERATION(exchange, suffix, type, value)                                                       \
    type xg_sim_swap_##suffix(type *at, type expected, type value)                                 \
    {                                                                                              \
        const type old = *at;                                                                      \
        *at = memcmp(&old, &expected, sizeof old) == 0 ? value : old;                              \
        return old;                                                                                \
    }
XG_SIM_ATOMIC_TYPES(OPERATIONS)
