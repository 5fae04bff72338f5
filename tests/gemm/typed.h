/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of every element type, checked against sums of long doubles. */
#ifndef XGEMM_TESTS_TYPED_H
#define XGEMM_TESTS_TYPED_H

#include "tests/support.h"

/* A product to be tested; what a kernel must not read is filled with NaN. */
typedef struct {
    xgemm_type type, type_c;
    xgemm_order order;
    xgemm_transpose transa, transb;
    int m, n, k, count;
    int gap; /* of leading dimensions; of strides, too */
    double alpha[2], beta[2];
    bool device_scalars, pointer_arrays, shared_b;
    xgemm_activation activation;
    xgemm_type type_bias; /* 0: no bias */
    bool bias_per_row;
    double special; /* an element of A, unless 0 */
} typed_spec;

/* One that is right in all fields: small, in row order, alpha 1 and beta 0. */
typed_spec typed_spec_of(xgemm_type type, int m, int n, int k);

/* Runs it on the handle and compares each element, gaps and guards; fails the test where wrong. */
void typed_check(xgemm_handle *handle, const typed_spec *s, uint64_t seed);

/* The same, of which C's bytes come back for the caller to free. */
void *typed_result(xgemm_handle *handle, const typed_spec *s, uint64_t seed, size_t *bytes);

size_t typed_bytes(xgemm_type type);
bool typed_is_complex(xgemm_type type);
const char *typed_name(xgemm_type type);

/* Real number i of memory; one that is stored is exact. */
void typed_put(xgemm_type type, void *memory, size_t i, double x);
double typed_get(xgemm_type type, const void *memory, size_t i);

#endif
