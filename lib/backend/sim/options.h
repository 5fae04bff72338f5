/* SPDX-License-Identifier: BSD-3-Clause */
/* How a launch is simulated. */
#ifndef XGEMM_SIM_OPTIONS_H
#define XGEMM_SIM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct xg_trace xg_trace;

/* In which order the warps of a block, and the threads of a warp, take their turns. */
typedef enum { XG_SIM_FORWARD, XG_SIM_REVERSE, XG_SIM_SHUFFLE } xg_sim_order;

typedef struct {
    xg_sim_order order;
    uint64_t seed;       /* of the shuffle */
    bool late;           /* asynchronous operations complete as late as waits allow, else at once */
    xg_trace *trace;     /* NULL: accesses are neither checked nor counted */
    int64_t most_blocks; /* 0: all; else a sample spread over the grid */
    /*
     * The trace is of a kernel of 16-bit operands. It multiplies rows that are not there and drops
     * them, so that shared memory may be read that nothing wrote; and two threads may store the
     * halves of a word.
     */
    bool of_halves;
} xg_sim_options;

#endif
