/* SPDX-License-Identifier: BSD-3-Clause */
/* The results of an earlier run, with which those of this one are compared row by row. */
#ifndef XGEMM_BIN_BASELINE_H
#define XGEMM_BIN_BASELINE_H

#include "results.h"

typedef struct baseline baseline;

/*
 * From what bench --json printed. noise, in percent, is the least difference that counts. NULL on
 * failure, the sentence in message.
 */
baseline *baseline_load(const char *path, double noise, char *message, size_t message_size);

/*
 * Fills in the result's baseline_us and verdict: of the row of the same size, batch, layout, types,
 * epilogue, math mode, data and kernel, "auto:..." being one kernel.
 *
 * The times differ where the medians do by more than the noise, and by more than both runs'
 * own spread below their medians (median - p1): times are spread above it by what else the machine
 * does, and hardly below.
 */
void baseline_compare(baseline *to, bench_result *result);

/* How many rows were slower, and how many of the baseline no result was compared with. */
int baseline_slower(const baseline *of);
int baseline_missing(const baseline *of);

/* How many were compared. */
int baseline_compared(const baseline *of);

/* The device of the results, where the baseline has none of it; else NULL. */
const char *baseline_other_device(const baseline *of);

void baseline_free(baseline *of);

#endif
