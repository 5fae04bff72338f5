/* SPDX-License-Identifier: BSD-3-Clause */
/* In which order threads run: warp by warp, the warps, and the threads of one, by xg_sim_order. */
#ifndef XGEMM_SIM_TURNS_H
#define XGEMM_SIM_TURNS_H

#include "options.h"

/* Fills turns[0 ... threads - 1] with thread numbers in order; "seed" is for XG_SIM_SHUFFLE. */
void xg_sim_set_turns(int *turns, int threads, xg_sim_order order, uint64_t seed);

#endif
