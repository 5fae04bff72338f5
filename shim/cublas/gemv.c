/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cublas{S,D}gemv_v2 and their forms with 64-bit integers: y = alpha op(A) x + beta y. Vectors have
 * any distance between elements, which the leading dimension of a matrix of one row is; so the
 * product is y^T = x^T op(A)^T.
 */
#include "serve.h"

/* The matrix is m by n as it lies; a vector that runs backwards has no leading dimension. */
static xgemm_product product_of(xgemm_type type, int trans, int64_t m, int64_t n, const void *alpha,
                                const void *a, int64_t lda, const void *x, int64_t step_x,
                                const void *beta, void *y, int64_t step_y)
{
    const bool is_plain = trans == CUBLAS_N;
    xgemm_product p = {.struct_size = sizeof p, .order = XGEMM_COL_MAJOR};
    p.transa = XGEMM_NO_TRANS;
    p.transb = is_plain ? XGEMM_TRANS : transpose_of(trans) ? XGEMM_NO_TRANS : (xgemm_transpose)0;
    p.m = 1, p.n = is_plain ? m : n, p.k = is_plain ? n : m;
    p.type_a = p.type_b = p.type_c = type;
    p.alpha = alpha, p.beta = beta;
    p.a = x, p.lda = step_x;
    p.b = a, p.ldb = lda;
    p.c = y, p.ldc = step_y;
    p.batch_count = 1;
    return p;
}

#define GEMV(name, type, compute, integer)                                                         \
    typedef int name##_function(void *, int, integer, integer, const void *, const void *,         \
                                integer, const void *, integer, const void *, void *, integer);    \
    EXPORT name##_function name;                                                                   \
    int name(void *handle, int trans, integer m, integer n, const void *alpha, const void *a,      \
             integer lda, const void *x, integer step_x, const void *beta, void *y,                \
             integer step_y)                                                                       \
    {                                                                                              \
        static real_function real = {REAL_CUBLAS, #name, NULL};                                    \
        const xgemm_product product =                                                              \
            product_of(type, trans, m, n, alpha, a, lda, x, step_x, beta, y, step_y);              \
        int status;                                                                                \
        if (serve_vector(#name, handle, compute, &product, &status))                               \
            return status;                                                                         \
        PASS_ON(name##_function, real, handle, trans, m, n, alpha, a, lda, x, step_x, beta, y,     \
                step_y);                                                                           \
    }

GEMV(cublasSgemv_v2, XGEMM_F32, CUBLAS_32F, int)
GEMV(cublasSgemv_v2_64, XGEMM_F32, CUBLAS_32F, int64_t)
GEMV(cublasDgemv_v2, XGEMM_F64, CUBLAS_64F, int)
GEMV(cublasDgemv_v2_64, XGEMM_F64, CUBLAS_64F, int64_t)
