/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulator for the rest of the library: runs a launch on the host, and with a trace also
 * checks and counts its accesses to memory. Nothing else of this folder is for others to include.
 */
#ifndef XGEMM_SIM_SIMULATOR_H
#define XGEMM_SIM_SIMULATOR_H

#include "backend/backend.h"
#include "options.h"
#include "source.h"
#include "trace.h"

/* Any thread may call; launches wait for one another. */
xgemm_status xg_sim_launch(const xg_launch *what, const xg_sim_options *options, xg_error *error);

#endif
