/* SPDX-License-Identifier: BSD-3-Clause */
/* What "xgemm run --log" prints of the calls that the drop-ins counted. */
#ifndef XGEMM_BIN_RUN_LOG_H
#define XGEMM_BIN_RUN_LOG_H

#include "options.h"

#include "shim/counters.h"

/* Shared memory for the program's counts, and its name for the environment; NULL: there is none. */
counters *run_log_create(char *name, size_t size);

/*
 * Prints the counts to the open file "to" in the format of the settings: a summary in text, and a
 * line a kind of call, those of the most time first. The status of the command.
 */
int run_log_print(const command *which, const settings *common, const counters *counts, int to);

#endif
