/* SPDX-License-Identifier: BSD-3-Clause */
/* $XGEMM_LOG: a line for each product, of what ran and of what should have. */
#ifndef XGEMM_LIB_API_LOG_H
#define XGEMM_LIB_API_LOG_H

#include "problem/call.h"

enum { XG_NO_LOG = -1 };

/* What a product ran, and what it would have run with enough memory for a workspace. */
typedef struct {
    const char *kernel; /* NULL: nothing was multiplied */
    size_t workspace_bytes;
    double microseconds; /* predicted; 0: not */
    const char *wanted;  /* NULL: just this */
    size_t wanted_bytes;
} xg_ran;

/* A call that ended. */
typedef struct {
    const char *function;
    const xg_call *call;
    int device; /* its ordinal */
    xgemm_math math;
    xgemm_reproducible reproducible;
    int64_t groups; /* 0: they are not ragged */
    xgemm_status status;
    const char *error; /* the sentence of a failure */
    const xg_ran *ran; /* of a success */
} xg_log_entry;

/* Opens what the environment names: a descriptor; XG_NO_LOG if it names nothing. */
xgemm_status xg_log_open(int *log, xg_error *error);

void xg_log_close(int log);

void xg_log_call(int log, const xg_log_entry *entry);

#endif
