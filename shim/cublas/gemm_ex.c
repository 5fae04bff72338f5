/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cublasGemmEx, cublasGemmStridedBatchedEx, cublasGemmBatchedEx and cublasSgemmEx, whose arguments
 * name the types, and their forms with 64-bit integers.
 */
#include "serve.h"

#define GEMM_EX(name, integer)                                                                     \
    typedef int name##_function(void *, int, int, integer, integer, integer, const void *,         \
                                const void *, int, integer, const void *, int, integer,            \
                                const void *, void *, int, integer, int, int);                     \
    EXPORT name##_function name;                                                                   \
    int name(void *handle, int transa, int transb, integer m, integer n, integer k,                \
             const void *alpha, const void *a, int type_a, integer lda, const void *b, int type_b, \
             integer ldb, const void *beta, void *c, int type_c, integer ldc, int compute,         \
             int algorithm)                                                                        \
    {                                                                                              \
        static real_function real = {REAL_CUBLAS, #name, NULL};                                    \
        const xgemm_product product =                                                              \
            PRODUCT(type_of(type_a), type_of(type_b), type_of(type_c), .batch_count = 1);          \
        int status;                                                                                \
        if (serve_cublas(#name, handle, compute, &product, &status))                               \
            return status;                                                                         \
        PASS_ON(name##_function, real, handle, transa, transb, m, n, k, alpha, a, type_a, lda, b,  \
                type_b, ldb, beta, c, type_c, ldc, compute, algorithm);                            \
    }

#define STRIDED_EX(name, integer, stride)                                                          \
    typedef int name##_function(void *, int, int, integer, integer, integer, const void *,         \
                                const void *, int, integer, stride, const void *, int, integer,    \
                                stride, const void *, void *, int, integer, stride, integer, int,  \
                                int);                                                              \
    EXPORT name##_function name;                                                                   \
    int name(void *handle, int transa, int transb, integer m, integer n, integer k,                \
             const void *alpha, const void *a, int type_a, integer lda, stride stride_a,           \
             const void *b, int type_b, integer ldb, stride stride_b, const void *beta, void *c,   \
             int type_c, integer ldc, stride stride_c, integer batch_count, int compute,           \
             int algorithm)                                                                        \
    {                                                                                              \
        static real_function real = {REAL_CUBLAS, #name, NULL};                                    \
        const xgemm_product product =                                                              \
            PRODUCT(type_of(type_a), type_of(type_b), type_of(type_c), STRIDES);                   \
        int status;                                                                                \
        if (serve_cublas(#name, handle, compute, &product, &status))                               \
            return status;                                                                         \
        PASS_ON(name##_function, real, handle, transa, transb, m, n, k, alpha, a, type_a, lda,     \
                stride_a, b, type_b, ldb, stride_b, beta, c, type_c, ldc, stride_c, batch_count,   \
                compute, algorithm);                                                               \
    }

#define BATCHED_EX(name, integer)                                                                  \
    typedef int name##_function(void *, int, int, integer, integer, integer, const void *,         \
                                const void *const *, int, integer, const void *const *, int,       \
                                integer, const void *, void *const *, int, integer, integer, int,  \
                                int);                                                              \
    EXPORT name##_function name;                                                                   \
    int name(void *handle, int transa, int transb, integer m, integer n, integer k,                \
             const void *alpha, const void *const *a, int type_a, integer lda,                     \
             const void *const *b, int type_b, integer ldb, const void *beta, void *const *c,      \
             int type_c, integer ldc, integer batch_count, int compute, int algorithm)             \
    {                                                                                              \
        static real_function real = {REAL_CUBLAS, #name, NULL};                                    \
        const xgemm_product product =                                                              \
            PRODUCT(type_of(type_a), type_of(type_b), type_of(type_c), ARRAYS);                    \
        int status;                                                                                \
        if (serve_cublas(#name, handle, compute, &product, &status))                               \
            return status;                                                                         \
        PASS_ON(name##_function, real, handle, transa, transb, m, n, k, alpha, a, type_a, lda, b,  \
                type_b, ldb, beta, c, type_c, ldc, batch_count, compute, algorithm);               \
    }

/* The compute type and the scalars are FP32; 0: a type that goes with no such product. */
static xgemm_type type_of_fp32_sums(int cuda)
{
    const xgemm_type type = type_of(cuda);
    return type == XGEMM_F32 || type == XGEMM_F16 || type == XGEMM_BF16 ? type : (xgemm_type)0;
}

#define SGEMM_EX(name, integer)                                                                    \
    typedef int name##_function(void *, int, int, integer, integer, integer, const void *,         \
                                const void *, int, integer, const void *, int, integer,            \
                                const void *, void *, int, integer);                               \
    EXPORT name##_function name;                                                                   \
    int name(void *handle, int transa, int transb, integer m, integer n, integer k,                \
             const void *alpha, const void *a, int type_a, integer lda, const void *b, int type_b, \
             integer ldb, const void *beta, void *c, int type_c, integer ldc)                      \
    {                                                                                              \
        static real_function real = {REAL_CUBLAS, #name, NULL};                                    \
        const xgemm_product product =                                                              \
            PRODUCT(type_of_fp32_sums(type_a), type_of_fp32_sums(type_b),                          \
                    type_of_fp32_sums(type_c), .batch_count = 1);                                  \
        int status;                                                                                \
        if (serve_cublas(#name, handle, CUBLAS_32F, &product, &status))                            \
            return status;                                                                         \
        PASS_ON(name##_function, real, handle, transa, transb, m, n, k, alpha, a, type_a, lda, b,  \
                type_b, ldb, beta, c, type_c, ldc);                                                \
    }

GEMM_EX(cublasGemmEx, int)
GEMM_EX(cublasGemmEx_64, int64_t)
STRIDED_EX(cublasGemmStridedBatchedEx, int, long long)
STRIDED_EX(cublasGemmStridedBatchedEx_64, int64_t, long long)
BATCHED_EX(cublasGemmBatchedEx, int)
BATCHED_EX(cublasGemmBatchedEx_64, int64_t)
SGEMM_EX(cublasSgemmEx, int)
SGEMM_EX(cublasSgemmEx_64, int64_t)
