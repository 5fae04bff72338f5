/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libxgemm, loaded when a product is first to be served: programs that multiply nothing on a GPU
 * never have it, nor the CPU's BLAS that it is linked with, which must not stand in for theirs.
 */
#ifndef XGEMM_SHIM_LIBRARY_H
#define XGEMM_SHIM_LIBRARY_H

#include <xgemm.h>

#include <stdbool.h>

/* Its functions that the drop-ins use, each with the type of its declaration. */
#define LIBRARY_FUNCTIONS(X)                                                                       \
    X(create)                                                                                      \
    X(create_devices)                                                                              \
    X(destroy)                                                                                     \
    X(device_find)                                                                                 \
    X(device_get)                                                                                  \
    X(gemm)                                                                                        \
    X(gemm_plan)                                                                                   \
    X(last_error)                                                                                  \
    X(make_current)                                                                                \
    X(set_math)                                                                                    \
    X(set_stream)

typedef struct {
#define MEMBER(name) __typeof__(xgemm_##name) *name;
    LIBRARY_FUNCTIONS(MEMBER)
#undef MEMBER
} library_functions;

/* What library_load() found; nobody else changes it. */
extern library_functions library;

/*
 * Loads $XGEMM_RUN_LIBRARY, or else libxgemm.so.0 as the dynamic linker finds it; false: it is not
 * there, or too old. One thread at a time.
 */
bool library_load(void);

/* The reason in a log where library_load() failed. */
#define LIBRARY_MISSING "libxgemm.so.0 is not there, or too old"

/*
 * What libxgemm says of the last failure of this thread that left no handle, as a reason in a log:
 * cut to the length that there is, and always in the same place for the same text. One thread at a
 * time.
 */
const char *library_failure(void);

/* Whether times that are predicted for the handle's GPU are from measurements on such a one. */
bool library_is_measured(xgemm_handle *handle, const xgemm_device *gpu);

#endif
