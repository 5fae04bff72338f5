/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The libraries below: functions of the cuBLAS, cublasLt and driver that the process has loaded.
 * Nothing is loaded on its behalf.
 */
#ifndef XGEMM_SHIM_REAL_H
#define XGEMM_SHIM_REAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum { REAL_CUBLAS, REAL_CUBLASLT, REAL_DRIVER } real_library;

/* A function that is looked up at its first use. */
typedef struct {
    real_library library;
    const char *name;
    _Atomic(void *) address;
} real_function;

/* Its address; NULL: the process has no such function. Any thread may ask. */
void *real_address(real_function *function);

/* A pointer of type "type *" to it. */
#define REAL(type, function) ((type *)real_address(function))

/*
 * How many calls of this thread have been passed on and not returned: what the library below calls
 * of itself is passed on, too.
 */
extern _Thread_local int real_depth;

#endif
