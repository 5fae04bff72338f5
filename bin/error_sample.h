/* SPDX-License-Identifier: BSD-3-Clause */
/* The error of what a call computes, from some elements of C against float64. */
#ifndef XGEMM_BIN_ERROR_SAMPLE_H
#define XGEMM_BIN_ERROR_SAMPLE_H

#include "measure.h"

/*
 * Runs the call once more, on the first set, and compares random elements of C, 4096 at most and
 * fewer where k is long, with reference.h's: *worst is the largest
 * |C - C64| / (|alpha||A||B| + |beta||C| + |bias|), of complex numbers of each part, where C64 is
 * within C's type. False on failure, the sentence in message.
 */
bool error_sample(xgemm_handle *handle, const rotation *sets, const workload *work, enqueue call,
                  void *context, uint64_t seed, double *worst, char *message, size_t message_size);

#endif
