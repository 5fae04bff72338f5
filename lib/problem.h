/* SPDX-License-Identifier: BSD-3-Clause */
/* A problem: what to compute, in the canonical form of kernels/args.h. */
#ifndef XGEMM_LIB_PROBLEM_H
#define XGEMM_LIB_PROBLEM_H

#include "error.h"
#include "kernels/args.h"

/* The arguments of xgemm_sgemm() as they came. */
typedef struct {
    xgemm_order order;
    xgemm_transpose transa, transb;
    int64_t m, n, k;
    float alpha, beta;
    const float *a, *b;
    float *c;
    int64_t lda, ldb, ldc;
} xg_call;

/* Refuses what the interface does not allow; the sentence says what and why. */
xgemm_status xg_call_check(const xg_call *call, xg_error *error);

/* The canonical form of a call that was checked. */
xg_args xg_problem_of(const xg_call *call);

#endif
