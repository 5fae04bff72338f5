/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cublas{S,D,C,Z}gemm_v2, ...gemmStridedBatched and ...gemmBatched, and their forms with 64-bit
 * integers. Gemm3m, which is less accurate by intent, is not taken.
 */
#include "serve.h"

#define GEMM(name, type, compute, integer)                                                         \
    typedef int name##_function(void *, int, int, integer, integer, integer, const void *,         \
                                const void *, integer, const void *, integer, const void *,        \
                                void *, integer);                                                  \
    EXPORT name##_function name;                                                                   \
    int name(void *handle, int transa, int transb, integer m, integer n, integer k,                \
             const void *alpha, const void *a, integer lda, const void *b, integer ldb,            \
             const void *beta, void *c, integer ldc)                                               \
    {                                                                                              \
        static real_function real = {REAL_CUBLAS, #name, NULL};                                    \
        const xgemm_product product = PRODUCT(type, type, type, .batch_count = 1);                 \
        int status;                                                                                \
        if (serve_cublas(#name, handle, compute, &product, &status))                               \
            return status;                                                                         \
        PASS_ON(name##_function, real, handle, transa, transb, m, n, k, alpha, a, lda, b, ldb,     \
                beta, c, ldc);                                                                     \
    }

#define STRIDED(name, type, compute, integer, stride)                                              \
    typedef int name##_function(void *, int, int, integer, integer, integer, const void *,         \
                                const void *, integer, stride, const void *, integer, stride,      \
                                const void *, void *, integer, stride, integer);                   \
    EXPORT name##_function name;                                                                   \
    int name(void *handle, int transa, int transb, integer m, integer n, integer k,                \
             const void *alpha, const void *a, integer lda, stride stride_a, const void *b,        \
             integer ldb, stride stride_b, const void *beta, void *c, integer ldc,                 \
             stride stride_c, integer batch_count)                                                 \
    {                                                                                              \
        static real_function real = {REAL_CUBLAS, #name, NULL};                                    \
        const xgemm_product product = PRODUCT(type, type, type, STRIDES);                          \
        int status;                                                                                \
        if (serve_cublas(#name, handle, compute, &product, &status))                               \
            return status;                                                                         \
        PASS_ON(name##_function, real, handle, transa, transb, m, n, k, alpha, a, lda, stride_a,   \
                b, ldb, stride_b, beta, c, ldc, stride_c, batch_count);                            \
    }

/* The arrays are device memory, as libxgemm's are. */
#define BATCHED(name, type, compute, integer)                                                      \
    typedef int name##_function(void *, int, int, integer, integer, integer, const void *,         \
                                const void *const *, integer, const void *const *, integer,        \
                                const void *, void *const *, integer, integer);                    \
    EXPORT name##_function name;                                                                   \
    int name(void *handle, int transa, int transb, integer m, integer n, integer k,                \
             const void *alpha, const void *const *a, integer lda, const void *const *b,           \
             integer ldb, const void *beta, void *const *c, integer ldc, integer batch_count)      \
    {                                                                                              \
        static real_function real = {REAL_CUBLAS, #name, NULL};                                    \
        const xgemm_product product = PRODUCT(type, type, type, ARRAYS);                           \
        int status;                                                                                \
        if (serve_cublas(#name, handle, compute, &product, &status))                               \
            return status;                                                                         \
        PASS_ON(name##_function, real, handle, transa, transb, m, n, k, alpha, a, lda, b, ldb,     \
                beta, c, ldc, batch_count);                                                        \
    }

#define TYPE(letter, type, compute)                                                                \
    GEMM(cublas##letter##gemm_v2, type, compute, int)                                              \
    GEMM(cublas##letter##gemm_v2_64, type, compute, int64_t)                                       \
    STRIDED(cublas##letter##gemmStridedBatched, type, compute, int, long long)                     \
    STRIDED(cublas##letter##gemmStridedBatched_64, type, compute, int64_t, long long)              \
    BATCHED(cublas##letter##gemmBatched, type, compute, int)                                       \
    BATCHED(cublas##letter##gemmBatched_64, type, compute, int64_t)

TYPE(S, XGEMM_F32, CUBLAS_32F)
TYPE(D, XGEMM_F64, CUBLAS_64F)
TYPE(C, XGEMM_C32, CUBLAS_32F)
TYPE(Z, XGEMM_C64, CUBLAS_64F)
