/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the blocks of a launch, one after the other, their threads as fibers. */
#ifndef XGEMM_SIM_SCHEDULER_H
#define XGEMM_SIM_SCHEDULER_H

#include "../backend.h"

/* Any thread may call; launches wait for one another. */
xgemm_status xg_sim_launch(const xg_launch *what, xg_error *error);

#endif
