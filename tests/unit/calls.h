/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of xgemm_sgemm() of which one argument may be wrong, and memory for them. */
#ifndef XGEMM_TESTS_CALLS_H
#define XGEMM_TESTS_CALLS_H

#include "support.h"

/* Pointers that are NULL, or are no address of a float. */
enum { A_NULL = 1, B_NULL = 2, C_NULL = 4, A_ODD = 8, B_ODD = 16, C_ODD = 32 };

typedef struct {
    xgemm_order order;
    xgemm_transpose transa, transb;
    int64_t m, n, k, lda, ldb, ldc;
    float alpha, beta;
    unsigned pointers;
} call;

/* Memory in which any call with sizes up to SIDE works, in any layout. */
enum { SIDE = 16, FLOATS = SIDE * SIDE };

typedef struct {
    xgemm_handle *handle;
    float *a, *b, *c;
} memory;

/* Fails the test when it cannot be had. */
memory memory_new(int device);
void memory_free(memory *m);
bool c_is_unchanged(const memory *m);

/* m, n, k = 3, 4, 5 and leading dimensions of SIDE. */
call good_call(int layout);

xgemm_status perform(const memory *m, const call *c);

/* With a sentence that has the part, and C as it was. */
void assert_call_refused(const memory *m, const call *c, xgemm_status wanted, const char *part);
void assert_call_works(const memory *m, const call *c);

#endif
