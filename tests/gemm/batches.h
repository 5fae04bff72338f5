/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches of products for the tests, strided or by pointer arrays, in guarded memory. */
#ifndef XGEMM_TESTS_BATCHES_H
#define XGEMM_TESTS_BATCHES_H

#include "support.h"

enum { COUNT_MAX = 8 };

/* What to compute, and how the matrices lie. */
typedef struct {
    xgemm_order order;
    xgemm_transpose transa, transb;
    int64_t m, n, k, count;
    float alpha, beta;
    int64_t gap;                             /* leading dimensions beyond what is needed */
    int64_t between_a, between_b, between_c; /* floats between two matrices */
    bool shared_a, shared_b;                 /* stride 0 */
    int shift;                               /* floats past an aligned address */
    bool pointer_arrays;
} batch_spec;

/* One operand of all products. */
typedef struct {
    int64_t rows, columns, ld, stride;
    size_t floats;
    float *before, *after, *memory;
    void *pointers; /* on the device; NULL for strided batches */
} operand;

/* In guarded memory: what lies between and around the matrices is NaN, and is looked at. */
typedef struct {
    batch_spec s;
    xgemm_handle *handle;
    operand a, b, c;
    int order[COUNT_MAX]; /* of pointer arrays: the matrix of product i */
} batch;

/* Memory on the handle's device that holds what is there. */
void put_on_device(xgemm_handle *handle, void **memory, const void *from, size_t bytes);

/* A batch whose elements are drawn; the others, and what must not be read, are NaN. */
batch *batch_new(xgemm_handle *handle, const batch_spec *s, float (*draw)(generator *),
                 uint64_t seed);
void batch_free(batch *b);

/* The call; and the same, which must succeed, with what is in memory then. */
xgemm_status batch_call(const batch *b);
void batch_run(batch *b);

/* Runs it: each result against float64, and all else unchanged. And so of random elements. */
void batch_check_results(batch *b);
void batch_check(xgemm_handle *handle, const batch_spec *s, uint64_t seed);

/* Order and transposes number 0 to LAYOUTS - 1. */
void batch_set_layout(batch_spec *s, int layout);

#endif
