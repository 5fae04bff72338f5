/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of a product's functions as they came, and their checks. */
#ifndef XGEMM_LIB_CALL_H
#define XGEMM_LIB_CALL_H

#include "problem.h"

typedef struct {
    xgemm_order order;
    xgemm_transpose transa, transb;
    int64_t m, n, k;
    xg_type type; /* of the matrices and the scalars */
    xg_scalar alpha, beta;
    const void *a, *b;
    void *c;
    int64_t lda, ldb, ldc;
    int64_t batch_count; /* 1 for a single product */
    bool pointer_arrays; /* a, b and c are arrays of pointers */
    int64_t stride_a, stride_b, stride_c;
} xg_call;

/* The arguments of xgemm_sgemm() and its batched forms; of one product the strides are 0. */
xg_call xg_call_f32(xgemm_order order, xgemm_transpose transa, xgemm_transpose transb, int64_t m,
                    int64_t n, int64_t k, float alpha, const float *a, int64_t lda,
                    int64_t stride_a, const float *b, int64_t ldb, int64_t stride_b, float beta,
                    float *c, int64_t ldc, int64_t stride_c, int64_t batch_count);

/* Refuses what the interface does not allow; the sentence says what and why. */
xgemm_status xg_call_check(const xg_call *call, xg_error *error);

/* Whether C is to be written at all. */
bool xg_call_writes(const xg_call *call);

/* Refuses NULL and unaligned pointers in the arrays of a checked call, which the host can read. */
xgemm_status xg_call_check_pointers(const xg_call *call, xg_error *error);

/* Product number i of a call with pointer arrays, which the host can read. */
xg_call xg_call_of_batch(const xg_call *call, int64_t i);

/* The canonical form of a checked call. */
xg_problem xg_call_problem(const xg_call *call);

#endif
