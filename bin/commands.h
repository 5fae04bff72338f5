/* SPDX-License-Identifier: BSD-3-Clause */
/* The utility's commands, one file each. */
#ifndef XGEMM_BIN_COMMANDS_H
#define XGEMM_BIN_COMMANDS_H

#include "options.h"

extern const command command_multiply, command_bench, command_verify, command_kernels,
    command_devices, command_explain, command_occupancy, command_probe, command_plan, command_run;

/* What main() found of signals that it has set: the program that run starts gets that. */
extern void (*sigxfsz_before)(int), (*sigchld_before)(int);

#endif
