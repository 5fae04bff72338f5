/* SPDX-License-Identifier: BSD-3-Clause */
/* A call of cuBLAS or cublasLt as a product of libxgemm's, computed or passed on. */
#ifndef XGEMM_SHIM_SERVE_H
#define XGEMM_SHIM_SERVE_H

#include <xgemm.h>

#include <stdbool.h>

#include "cublas.h"
#include "real.h"

#define EXPORT __attribute__((visibility("default")))

typedef struct {
    const char *function; /* its name */
    void *handle;         /* cuBLAS's or cublasLt's */
    void *stream;
    xgemm_math math;       /* the least accurate one that the call allows */
    const char *refusal;   /* why it is passed on before anything else is looked at; else NULL */
    xgemm_product product; /* its scalars are the caller's */
    const void *source;    /* what the product is added to, where it is not in C already, and its */
    int64_t source_ld, source_stride; /* layout; else NULL */
} call;

/*
 * Computes a call, if that is right and faster; true: *status is what the caller is to return.
 * False: the library below has to, and nothing has happened.
 */
bool serve(const call *c, int *status);

/*
 * The same for a product of cuBLAS, whose handle has the stream and the modes: "product" lacks
 * XGEMM_DEVICE_SCALARS, and "compute" is a cublasComputeType_t.
 */
bool serve_cublas(const char *function, void *handle, int compute, const xgemm_product *product,
                  int *status);

/* Whether cublasSetSmCountTarget() left the handle all multiprocessors; false, too, where it is not
 * known. */
bool takes_all_multiprocessors(void *handle);

/* What a cublasComputeType_t allows, with a cublasMath_t, for a type; false: it is not known. */
bool math_allowed(xgemm_type type, int compute, int mode, xgemm_math *math);

/* By a cudaDataType_t and a cublasOperation_t; 0: libxgemm has no such one. */
xgemm_type type_of(int cuda);
xgemm_transpose transpose_of(int operation);

/*
 * What an entry point's parameters say, by their usual names; the fields that not all have follow.
 */
#define PRODUCT(of_a, of_b, of_c, ...)                                                             \
    {                                                                                              \
        .struct_size = sizeof(xgemm_product), .order = XGEMM_COL_MAJOR,                            \
        .transa = transpose_of(transa), .transb = transpose_of(transb), .m = m, .n = n, .k = k,    \
        .type_a = of_a, .type_b = of_b, .type_c = of_c, .alpha = alpha, .beta = beta,              \
        .a = (const void *)a, .lda = lda, .b = (const void *)b, .ldb = ldb,                        \
        .c = (void *)(uintptr_t)c, .ldc = ldc, __VA_ARGS__                                         \
    }
#define STRIDES                                                                                    \
    .stride_a = stride_a, .stride_b = stride_b, .stride_c = stride_c, .batch_count = batch_count
#define ARRAYS .batch_count = batch_count, .flags = XGEMM_POINTER_ARRAYS

/* In a function that returns cuBLAS's status: calls the real one, of that type, by its variable. */
#define PASS_ON(type, variable, ...)                                                               \
    do {                                                                                           \
        type *const function = REAL(type, &(variable));                                            \
        if (!function)                                                                             \
            return CUBLAS_NOT_INITIALIZED;                                                         \
        real_depth++;                                                                              \
        const int passed_on = function(__VA_ARGS__);                                               \
        real_depth--;                                                                              \
        return passed_on;                                                                          \
    } while (0)

#endif
