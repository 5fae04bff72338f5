/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of a product's functions as they came, and their checks. */
#ifndef XGEMM_LIB_CALL_H
#define XGEMM_LIB_CALL_H

#include "problem.h"

/*
 * A call is the public struct: as it came, complete, or as a function of one type fills it in. The
 * host's alpha and beta live as long as the call.
 */
typedef xgemm_product xg_call;

/* The arguments of a function of one type and its batched forms; of one product strides are 0. */
xg_call xg_call_of(xg_type type, xgemm_order order, xgemm_transpose transa, xgemm_transpose transb,
                   int64_t m, int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda,
                   int64_t stride_a, const void *b, int64_t ldb, int64_t stride_b, const void *beta,
                   void *c, int64_t ldc, int64_t stride_c, int64_t batch_count);

/* A caller's struct, of which an older program has less; what it lacks is 0. */
xgemm_status xg_call_of_product(const xgemm_product *product, xg_call *call, xg_error *error);

/* Refuses what the interface does not allow; the sentence says what and why. */
xgemm_status xg_call_check(const xg_call *call, xg_error *error);

/* The same with ragged groups, whose stride_b is from one B to the next. */
xgemm_status xg_call_check_groups(const xg_call *call, const int64_t *offsets, int64_t groups,
                                  xg_error *error);

/* Whether C is to be written at all. */
bool xg_call_writes(const xg_call *call);

/* Refuses NULL and unaligned pointers in the arrays of a checked call, which the host can read. */
xgemm_status xg_call_check_pointers(const xg_call *call, xg_error *error);

/* Product number i of a call with pointer arrays, which the host can read. */
xg_call xg_call_of_batch(const xg_call *call, int64_t i);

/* The canonical form of a checked call. */
xg_problem xg_call_problem(const xg_call *call);

/* The same with ragged groups, of which there is one at least. */
xg_problem xg_call_problem_of_groups(const xg_call *call, const int64_t *offsets, int64_t groups);

#endif
