/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of one type: each fills in a call. */
#include "gemm.h"

/* ---- Single precision ---- */

xgemm_status xgemm_sgemm(xgemm_handle *handle, xgemm_order order, xgemm_transpose transa,
                         xgemm_transpose transb, int64_t m, int64_t n, int64_t k, float alpha,
                         const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
                         float *c, int64_t ldc)
{
    if (!handle)
        return xg_no_handle(__func__);
    const xg_call call = xg_call_of(XG_F32, order, transa, transb, m, n, k, &alpha, a, lda, 0, b,
                                    ldb, 0, &beta, c, ldc, 0, 1);
    return xg_multiply(handle, &call, __func__);
}

xgemm_status xgemm_sgemm_strided_batched(xgemm_handle *handle, xgemm_order order,
                                         xgemm_transpose transa, xgemm_transpose transb, int64_t m,
                                         int64_t n, int64_t k, float alpha, const float *a,
                                         int64_t lda, int64_t stride_a, const float *b, int64_t ldb,
                                         int64_t stride_b, float beta, float *c, int64_t ldc,
                                         int64_t stride_c, int64_t batch_count)
{
    if (!handle)
        return xg_no_handle(__func__);
    const xg_call call =
        xg_call_of(XG_F32, order, transa, transb, m, n, k, &alpha, a, lda, stride_a, b, ldb,
                   stride_b, &beta, c, ldc, stride_c, batch_count);
    return xg_multiply(handle, &call, __func__);
}

xgemm_status xgemm_sgemm_batched(xgemm_handle *handle, xgemm_order order, xgemm_transpose transa,
                                 xgemm_transpose transb, int64_t m, int64_t n, int64_t k,
                                 float alpha, const float *const *a, int64_t lda,
                                 const float *const *b, int64_t ldb, float beta, float *const *c,
                                 int64_t ldc, int64_t batch_count)
{
    if (!handle)
        return xg_no_handle(__func__);
    xg_call call = xg_call_of(XG_F32, order, transa, transb, m, n, k, &alpha, a, lda, 0, b, ldb, 0,
                              &beta, (void *)(uintptr_t)c, ldc, 0, batch_count);
    call.flags = XGEMM_POINTER_ARRAYS;
    return xg_multiply(handle, &call, __func__);
}

/* ---- Double precision ---- */

xgemm_status xgemm_dgemm(xgemm_handle *handle, xgemm_order order, xgemm_transpose transa,
                         xgemm_transpose transb, int64_t m, int64_t n, int64_t k, double alpha,
                         const double *a, int64_t lda, const double *b, int64_t ldb, double beta,
                         double *c, int64_t ldc)
{
    if (!handle)
        return xg_no_handle(__func__);
    const xg_call call = xg_call_of(XG_F64, order, transa, transb, m, n, k, &alpha, a, lda, 0, b,
                                    ldb, 0, &beta, c, ldc, 0, 1);
    return xg_multiply(handle, &call, __func__);
}

xgemm_status xgemm_dgemm_strided_batched(xgemm_handle *handle, xgemm_order order,
                                         xgemm_transpose transa, xgemm_transpose transb, int64_t m,
                                         int64_t n, int64_t k, double alpha, const double *a,
                                         int64_t lda, int64_t stride_a, const double *b,
                                         int64_t ldb, int64_t stride_b, double beta, double *c,
                                         int64_t ldc, int64_t stride_c, int64_t batch_count)
{
    if (!handle)
        return xg_no_handle(__func__);
    const xg_call call =
        xg_call_of(XG_F64, order, transa, transb, m, n, k, &alpha, a, lda, stride_a, b, ldb,
                   stride_b, &beta, c, ldc, stride_c, batch_count);
    return xg_multiply(handle, &call, __func__);
}

xgemm_status xgemm_dgemm_batched(xgemm_handle *handle, xgemm_order order, xgemm_transpose transa,
                                 xgemm_transpose transb, int64_t m, int64_t n, int64_t k,
                                 double alpha, const double *const *a, int64_t lda,
                                 const double *const *b, int64_t ldb, double beta, double *const *c,
                                 int64_t ldc, int64_t batch_count)
{
    if (!handle)
        return xg_no_handle(__func__);
    xg_call call = xg_call_of(XG_F64, order, transa, transb, m, n, k, &alpha, a, lda, 0, b, ldb, 0,
                              &beta, (void *)(uintptr_t)c, ldc, 0, batch_count);
    call.flags = XGEMM_POINTER_ARRAYS;
    return xg_multiply(handle, &call, __func__);
}

/* ---- Single-precision complex numbers ---- */

xgemm_status xgemm_cgemm(xgemm_handle *handle, xgemm_order order, xgemm_transpose transa,
                         xgemm_transpose transb, int64_t m, int64_t n, int64_t k, const void *alpha,
                         const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta,
                         void *c, int64_t ldc)
{
    if (!handle)
        return xg_no_handle(__func__);
    const xg_call call = xg_call_of(XG_C32, order, transa, transb, m, n, k, alpha, a, lda, 0, b,
                                    ldb, 0, beta, c, ldc, 0, 1);
    return xg_multiply(handle, &call, __func__);
}

xgemm_status xgemm_cgemm_strided_batched(xgemm_handle *handle, xgemm_order order,
                                         xgemm_transpose transa, xgemm_transpose transb, int64_t m,
                                         int64_t n, int64_t k, const void *alpha, const void *a,
                                         int64_t lda, int64_t stride_a, const void *b, int64_t ldb,
                                         int64_t stride_b, const void *beta, void *c, int64_t ldc,
                                         int64_t stride_c, int64_t batch_count)
{
    if (!handle)
        return xg_no_handle(__func__);
    const xg_call call = xg_call_of(XG_C32, order, transa, transb, m, n, k, alpha, a, lda, stride_a,
                                    b, ldb, stride_b, beta, c, ldc, stride_c, batch_count);
    return xg_multiply(handle, &call, __func__);
}

xgemm_status xgemm_cgemm_batched(xgemm_handle *handle, xgemm_order order, xgemm_transpose transa,
                                 xgemm_transpose transb, int64_t m, int64_t n, int64_t k,
                                 const void *alpha, const void *const *a, int64_t lda,
                                 const void *const *b, int64_t ldb, const void *beta,
                                 void *const *c, int64_t ldc, int64_t batch_count)
{
    if (!handle)
        return xg_no_handle(__func__);
    xg_call call = xg_call_of(XG_C32, order, transa, transb, m, n, k, alpha, a, lda, 0, b, ldb, 0,
                              beta, (void *)(uintptr_t)c, ldc, 0, batch_count);
    call.flags = XGEMM_POINTER_ARRAYS;
    return xg_multiply(handle, &call, __func__);
}

/* ---- Double-precision complex numbers ---- */

xgemm_status xgemm_zgemm(xgemm_handle *handle, xgemm_order order, xgemm_transpose transa,
                         xgemm_transpose transb, int64_t m, int64_t n, int64_t k, const void *alpha,
                         const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta,
                         void *c, int64_t ldc)
{
    if (!handle)
        return xg_no_handle(__func__);
    const xg_call call = xg_call_of(XG_C64, order, transa, transb, m, n, k, alpha, a, lda, 0, b,
                                    ldb, 0, beta, c, ldc, 0, 1);
    return xg_multiply(handle, &call, __func__);
}

xgemm_status xgemm_zgemm_strided_batched(xgemm_handle *handle, xgemm_order order,
                                         xgemm_transpose transa, xgemm_transpose transb, int64_t m,
                                         int64_t n, int64_t k, const void *alpha, const void *a,
                                         int64_t lda, int64_t stride_a, const void *b, int64_t ldb,
                                         int64_t stride_b, const void *beta, void *c, int64_t ldc,
                                         int64_t stride_c, int64_t batch_count)
{
    if (!handle)
        return xg_no_handle(__func__);
    const xg_call call = xg_call_of(XG_C64, order, transa, transb, m, n, k, alpha, a, lda, stride_a,
                                    b, ldb, stride_b, beta, c, ldc, stride_c, batch_count);
    return xg_multiply(handle, &call, __func__);
}

xgemm_status xgemm_zgemm_batched(xgemm_handle *handle, xgemm_order order, xgemm_transpose transa,
                                 xgemm_transpose transb, int64_t m, int64_t n, int64_t k,
                                 const void *alpha, const void *const *a, int64_t lda,
                                 const void *const *b, int64_t ldb, const void *beta,
                                 void *const *c, int64_t ldc, int64_t batch_count)
{
    if (!handle)
        return xg_no_handle(__func__);
    xg_call call = xg_call_of(XG_C64, order, transa, transb, m, n, k, alpha, a, lda, 0, b, ldb, 0,
                              beta, (void *)(uintptr_t)c, ldc, 0, batch_count);
    call.flags = XGEMM_POINTER_ARRAYS;
    return xg_multiply(handle, &call, __func__);
}
