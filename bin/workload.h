/* SPDX-License-Identifier: BSD-3-Clause */
/* What bench runs: a product, or a batch of them, its operands on the device, and its times. */
#ifndef XGEMM_BIN_WORKLOAD_H
#define XGEMM_BIN_WORKLOAD_H

#include "data_list.h"
#include "options.h"
#include "recorder.h"
#include "shapes.h"

typedef struct {
    shape size;
    xgemm_order order;
    xgemm_transpose transa, transb;
    float alpha, beta;
    int64_t lda, ldb, ldc;
    int64_t batch; /* products; more than 1: the matrices follow one another */
    int64_t stride_a, stride_b, stride_c;
    bool lists; /* a batch of pointers; the strides say where these point */
} workload;

/* One set of operands. */
typedef struct {
    const float *a, *b;
    float *c;
} buffers;

/*
 * Sets of operands, as many as it takes for their bytes to be more than twice
 * the L2 cache, so that in rotation none is still cached when its turn comes.
 */
typedef struct {
    xgemm_handle *handle;
    void *memory;
    size_t count, set_bytes, a_bytes, b_bytes, c_bytes;
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

/* A workload of one product with tight leading dimensions plus pad elements. */
workload workload_of(shape size, xgemm_order order, xgemm_transpose transa, xgemm_transpose transb,
                     float alpha, float beta, int64_t pad);

/* Makes it a batch, with "between" elements from the end of a matrix to the next. */
void workload_repeat(workload *work, int64_t batch, int64_t between);

/* The operations of all its products. */
double workload_flops(const workload *work);

/* The bytes of one set; a double, since it may be larger than any memory. */
double workload_bytes(const workload *work);

/*
 * Allocates the sets and fills them with random values; A and B with the kinds of data, unless
 * these are NULL, and no two sets alike where the kind is random. False on failure, the sentence
 * in message, which says also when there is not enough memory.
 */
bool rotation_open(rotation *sets, xgemm_handle *handle, const workload *work,
                   const data_pair *data, uint64_t seed, char *message, size_t message_size);

/* Product number index of A, or of B, in host memory that starts with product 0. */
data_operand workload_operand(const workload *work, bool is_b, float *memory, int64_t index);
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
