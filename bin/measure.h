/* SPDX-License-Identifier: BSD-3-Clause */
/* The operands of a workload on the device, and the times of what is enqueued on them. */
#ifndef XGEMM_BIN_MEASURE_H
#define XGEMM_BIN_MEASURE_H

#include "recorder.h"
#include "workload.h"

/*
 * Sets of operands, as many as it takes for their bytes to be more than twice
 * the L2 cache, so that in rotation none is still cached when its turn comes.
 */
typedef struct {
    xgemm_handle *handle;
    void *memory;
    size_t count, set_bytes, a_bytes, b_bytes, c_bytes, bias_bytes;
} rotation;

/* How long to measure. */
typedef struct {
    int samples;    /* times taken */
    double warm_ms; /* work before the first sample */
    double rest_ms; /* idle before each sample */
    double time_ms; /* least length of a sample: short calls are repeated */
    double limit_s; /* no new sample after this */
} schedule;

typedef struct {
    double median_us, p1_us, p99_us;
    double host_us; /* of the calling thread, for one call, nothing waited for */
    int samples, repeats;
} timing;

/* Enqueues one product on a set; false when it fails. */
typedef bool (*enqueue)(void *context, const workload *work, const buffers *use);

/*
 * Allocates the sets and fills them with random values; A and B with the kinds of data, unless
 * these are NULL, and no two sets alike where the kind is random. False on failure, the sentence
 * in message, which says also when there is not enough memory.
 */
bool rotation_open(rotation *sets, xgemm_handle *handle, const workload *work,
                   const data_pair *data, uint64_t seed, char *message, size_t message_size);

buffers rotation_at(const rotation *sets, size_t index);
void rotation_close(rotation *sets);

/*
 * Times of a call between two marks on the device, repeated calls divided by
 * their number. With a recorder, the calls of a sample, and no fewer than there
 * are sets, are recorded first and then replayed. False when a call fails.
 */
bool measure(xgemm_handle *handle, const rotation *sets, const workload *work, enqueue call,
             void *context, const schedule *how, recorder *recorded_by, timing *result);

#endif
