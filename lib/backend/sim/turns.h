/* SPDX-License-Identifier: BSD-3-Clause */
/* The order in which threads take their turns: warp after warp, and each warp's threads together.
 */
#ifndef XGEMM_SIM_TURNS_H
#define XGEMM_SIM_TURNS_H

#include "options.h"

/* Fills in turns[0 ... threads - 1] with the threads in that order. */
void xg_sim_set_turns(int *turns, int threads, xg_sim_order order, uint64_t seed);

#endif
