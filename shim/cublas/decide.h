/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a call is served: planned once for each kind of call, then remembered. */
#ifndef XGEMM_SHIM_DECIDE_H
#define XGEMM_SHIM_DECIDE_H

#include "serve.h"
#include "shim/counters.h"
#include "states.h"

/* What the plan of a call depends on; unused bytes are 0. */
typedef struct {
    const char *function;
    int64_t m, n, k, lda, ldb, ldc, stride_a, stride_b, stride_c, batch;
    unsigned char type_a, type_b, type_c, type_bias, transa, transb, math, activation;
    unsigned char align_a, align_b, align_c, has_bias, bias_per_row, flags, overwrites, copies,
        is_used;
} decision_key;

typedef struct decision {
    decision_key key;
    bool is_served, for_launches; /* the second: not while a graph is captured */
    counters_kind *kind;          /* NULL: not counted */
} decision;

/* The decision about a call; the state's lock is held. NULL: there is no memory for it. */
const decision *decide(state *s, const call *c);

/* Counts a call that is passed on without a decision. */
void count_passed_on(const call *c, const char *why);

#endif
