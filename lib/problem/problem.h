/* SPDX-License-Identifier: BSD-3-Clause */
/* A problem: what to compute, in the canonical form of kernels/args.h. */
#ifndef XGEMM_LIB_PROBLEM_H
#define XGEMM_LIB_PROBLEM_H

#include "base/error.h"
#include "families/common/args.h"

#include <stdbool.h>

/* The arguments of xgemm_sgemm() and its batched forms as they came. */
typedef struct {
    xgemm_order order;
    xgemm_transpose transa, transb;
    int64_t m, n, k;
    float alpha, beta;
    const float *a, *b;
    float *c;
    int64_t lda, ldb, ldc;
    int64_t products; /* 1, or batch_count */
    bool lists;       /* a, b and c are lists of pointers */
    int64_t stride_a, stride_b, stride_c;
} xg_call;

/* The call of public functions' arguments; a single product has products = 1 and strides 0. */
xg_call xg_call_of(xgemm_order order, xgemm_transpose transa, xgemm_transpose transb, int64_t m,
                   int64_t n, int64_t k, float alpha, const float *a, int64_t lda, int64_t stride_a,
                   const float *b, int64_t ldb, int64_t stride_b, float beta, float *c, int64_t ldc,
                   int64_t stride_c, int64_t products);

/* Refuses what the interface does not allow; the sentence says what and why. */
xgemm_status xg_call_check(const xg_call *call, xg_error *error);

/* Whether anything is to be done. */
bool xg_call_writes(const xg_call *call);

/* Refuses NULL and unaligned pointers in the lists of a call that was checked; they are read. */
xgemm_status xg_lists_check(const xg_call *call, xg_error *error);

/* Product number i of a call with lists, which are read. */
xg_call xg_call_of_lists(const xg_call *call, int64_t i);

/* The canonical form of a call that was checked. */
xg_args xg_problem_of(const xg_call *call);

#endif
