/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * \file    xgemm/gemm.h
 * \brief   Matrix products.
 */
#ifndef XGEMM_H_INTERNAL
#error "include <xgemm.h>, not <xgemm/gemm.h>"
#endif
#ifndef XGEMM_GEMM_H
#define XGEMM_GEMM_H

/** \brief How matrices lie in memory; CBLAS's values. */
typedef enum {
    XGEMM_ROW_MAJOR = 101, /**< Rows are contiguous; a leading dimension is the distance between the
                                beginnings of neighbouring rows, in elements. */
    XGEMM_COL_MAJOR = 102  /**< Columns are contiguous; the same between columns. */
} xgemm_order;

/** \brief What is done with a matrix before it is multiplied; CBLAS's values. */
typedef enum {
    XGEMM_NO_TRANS = 111,  /**< The matrix as it is. */
    XGEMM_TRANS = 112,     /**< Its transpose. */
    XGEMM_CONJ_TRANS = 113 /**< Its conjugate transpose; of real numbers the transpose. */
} xgemm_transpose;

/**
 * \brief   C = alpha * op(A) * op(B) + beta * C, in single precision.
 *
 * \param   handle  The handle.
 * \param   order   Layout of all three matrices.
 * \param   transa  op(A).
 * \param   transb  op(B).
 * \param   m       Rows of op(A) and C; at least 0.
 * \param   n       Columns of op(B) and C; at least 0.
 * \param   k       Columns of op(A), rows of op(B); at least 0.
 * \param   alpha   Factor of the product.
 * \param   a       A: m × k before op when transa is NO_TRANS, else k × m.
 * \param   lda     A's leading dimension, in elements: in row order at least
 *                  A's columns, in column order at least its rows, and at
 *                  least 1; checked even where nothing is read.
 * \param   b       B: k × n when transb is NO_TRANS, else n × k.
 * \param   ldb     B's leading dimension, likewise.
 * \param   beta    Factor of C.
 * \param   c       C: m × n, read (unless beta is 0) and written.
 * \param   ldc     C's leading dimension, likewise.
 *
 * On a CUDA handle a, b and c are device or managed memory; the call returns
 * once the work is enqueued on the handle's stream, may be captured into a
 * graph, and allocates nothing after the first call of its size (nothing at
 * all with a caller's workspace). On the CPU and the simulator they are host
 * memory and C is done when the call returns.
 *
 * As in the reference BLAS: beta = 0 never reads C, so that NaN there is
 * overwritten; with alpha = 0 or k = 0, A and B are never read and C becomes
 * beta * C; with m = 0 or n = 0 nothing happens. Pointers may be NULL exactly
 * where nothing is read or written. Inf and NaN propagate as IEEE 754 says.
 * C must not overlap A or B: the result is then undefined. The same input on
 * the same device gives the same bits every time (on the CPU: with the same
 * BLAS and number of threads). Elements of C between its
 * rows (columns) are never touched. Sizes past 2^31 elements work.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_INVALID_VALUE (also for a pointer that is not
 *          aligned to 4 bytes); XGEMM_ERROR_NULL_POINTER; XGEMM_ERROR_OVERFLOW;
 *          XGEMM_ERROR_NOT_SUPPORTED; XGEMM_ERROR_WORKSPACE;
 *          XGEMM_ERROR_OUT_OF_DEVICE_MEMORY (for the workspace);
 *          XGEMM_ERROR_OUT_OF_MEMORY; XGEMM_ERROR_LAUNCH; XGEMM_ERROR_DRIVER.
 *          After an error in the arguments C is as before.
 */
XGEMM_API xgemm_status xgemm_sgemm(xgemm_handle *handle, xgemm_order order, xgemm_transpose transa,
                                   xgemm_transpose transb, int64_t m, int64_t n, int64_t k,
                                   float alpha, const float *a, int64_t lda, const float *b,
                                   int64_t ldb, float beta, float *c, int64_t ldc);

/**
 * \brief   The same for a batch: C[i] = alpha * op(A[i]) * op(B[i]) + beta * C[i],
 *          all of one size, each matrix a stride after the one before.
 *
 * \param   handle, order, transa, transb, m, n, k, alpha, lda, ldb, beta, ldc
 *                       As for xgemm_sgemm(), the same for all products.
 * \param   a            A[0]; A[i] begins at a + i * stride_a.
 * \param   stride_a     Elements from one A to the next; at least 0, and 0 when
 *                       all products share one A.
 * \param   b, stride_b  B, likewise.
 * \param   c            C[0].
 * \param   stride_c     Elements from one C to the next; at least 0. No element
 *                       may belong to two of the matrices (unless batch_count is
 *                       at most 1): usually it is at least m * ldc in row order,
 *                       n * ldc in column order; less is allowed where matrices
 *                       are column or row blocks of a larger one. A stride with
 *                       which C[1] overlaps C[0] is an error; if others overlap,
 *                       the result is undefined.
 * \param   batch_count  Products; at least 0, and 0 does nothing.
 *
 * All that is said of xgemm_sgemm() holds for every product of the batch: what is
 * not read, where the memory is, when C is done, capture, and the same bits every
 * time (which need not be those of xgemm_sgemm(), whose choice of a kernel may
 * differ). Many small products share a launch, as many as the workspace has room
 * for; a kernel that was named and has no such form runs product after product.
 *
 * \return  As xgemm_sgemm(); XGEMM_ERROR_INVALID_VALUE also for a negative stride
 *          or batch_count and a stride_c that is too small; XGEMM_ERROR_OVERFLOW
 *          also when the bytes from the first matrix to the last do not fit
 *          63 bits.
 */
XGEMM_API xgemm_status xgemm_sgemm_strided_batched(xgemm_handle *handle, xgemm_order order,
                                                   xgemm_transpose transa, xgemm_transpose transb,
                                                   int64_t m, int64_t n, int64_t k, float alpha,
                                                   const float *a, int64_t lda, int64_t stride_a,
                                                   const float *b, int64_t ldb, int64_t stride_b,
                                                   float beta, float *c, int64_t ldc,
                                                   int64_t stride_c, int64_t batch_count);

/**
 * \brief   The same for a batch given by arrays of pointers to the matrices.
 *
 * \param   handle, order, transa, transb, m, n, k, alpha, lda, ldb, beta, ldc
 *                       As for xgemm_sgemm(), the same for all products.
 * \param   a, b, c      Arrays of batch_count pointers to the matrices. On a CUDA
 *                       handle these arrays are device or managed memory themselves,
 *                       and must not change before the work is done. A pointer may
 *                       be in a or b several times; the matrices of c must not
 *                       overlap. NULL is allowed for an array exactly where it is
 *                       for the matrix of xgemm_sgemm().
 * \param   batch_count  Products; at least 0, and 0 does nothing.
 *
 * All that is said of xgemm_sgemm() holds for every product of the batch, and
 * as many products as the workspace has room for share a launch. On a CUDA handle
 * the library does not see the pointers: one that is wrong is an error of the
 * launch. On the CPU and the simulator they are checked.
 *
 * \return  As xgemm_sgemm(); XGEMM_ERROR_INVALID_VALUE also for a negative
 *          batch_count, and for arrays that are not aligned as pointers are;
 *          XGEMM_ERROR_NOT_SUPPORTED on a CUDA handle for a kernel that was named
 *          and cannot take arrays of pointers.
 */
XGEMM_API xgemm_status xgemm_sgemm_batched(xgemm_handle *handle, xgemm_order order,
                                           xgemm_transpose transa, xgemm_transpose transb,
                                           int64_t m, int64_t n, int64_t k, float alpha,
                                           const float *const *a, int64_t lda,
                                           const float *const *b, int64_t ldb, float beta,
                                           float *const *c, int64_t ldc, int64_t batch_count);

/**
 * \brief   C = alpha * op(A) * op(B) + beta * C, in double precision.
 *
 * The arguments are those of xgemm_sgemm(), and what is said there holds.
 *
 * \return  As xgemm_sgemm(); a pointer must be aligned to 8 bytes.
 */
XGEMM_API xgemm_status xgemm_dgemm(xgemm_handle *handle, xgemm_order order, xgemm_transpose transa,
                                   xgemm_transpose transb, int64_t m, int64_t n, int64_t k,
                                   double alpha, const double *a, int64_t lda, const double *b,
                                   int64_t ldb, double beta, double *c, int64_t ldc);

/** \brief   xgemm_sgemm_strided_batched() for xgemm_dgemm(). */
XGEMM_API xgemm_status xgemm_dgemm_strided_batched(xgemm_handle *handle, xgemm_order order,
                                                   xgemm_transpose transa, xgemm_transpose transb,
                                                   int64_t m, int64_t n, int64_t k, double alpha,
                                                   const double *a, int64_t lda, int64_t stride_a,
                                                   const double *b, int64_t ldb, int64_t stride_b,
                                                   double beta, double *c, int64_t ldc,
                                                   int64_t stride_c, int64_t batch_count);

/** \brief   xgemm_sgemm_batched() for xgemm_dgemm(). */
XGEMM_API xgemm_status xgemm_dgemm_batched(xgemm_handle *handle, xgemm_order order,
                                           xgemm_transpose transa, xgemm_transpose transb,
                                           int64_t m, int64_t n, int64_t k, double alpha,
                                           const double *const *a, int64_t lda,
                                           const double *const *b, int64_t ldb, double beta,
                                           double *const *c, int64_t ldc, int64_t batch_count);

/**
 * \brief   C = alpha * op(A) * op(B) + beta * C, in single-precision complex numbers.
 *
 * The arguments are those of xgemm_sgemm(), and what is said there holds.
 *
 * An element is two floats, the real part first, as C's float _Complex. alpha and
 * beta point to one on the host, read before the call returns; NULL is 1 for
 * alpha and 0 for beta. XGEMM_CONJ_TRANS is the conjugate transpose. How Inf and
 * NaN spread from one part to the other: xgemm_product.
 *
 * \return  As xgemm_sgemm(); a pointer must be aligned to 4 bytes.
 */
XGEMM_API xgemm_status xgemm_cgemm(xgemm_handle *handle, xgemm_order order, xgemm_transpose transa,
                                   xgemm_transpose transb, int64_t m, int64_t n, int64_t k,
                                   const void *alpha, const void *a, int64_t lda, const void *b,
                                   int64_t ldb, const void *beta, void *c, int64_t ldc);

/** \brief   xgemm_sgemm_strided_batched() for xgemm_cgemm(). */
XGEMM_API xgemm_status xgemm_cgemm_strided_batched(
    xgemm_handle *handle, xgemm_order order, xgemm_transpose transa, xgemm_transpose transb,
    int64_t m, int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda,
    int64_t stride_a, const void *b, int64_t ldb, int64_t stride_b, const void *beta, void *c,
    int64_t ldc, int64_t stride_c, int64_t batch_count);

/** \brief   xgemm_sgemm_batched() for xgemm_cgemm(). */
XGEMM_API xgemm_status xgemm_cgemm_batched(xgemm_handle *handle, xgemm_order order,
                                           xgemm_transpose transa, xgemm_transpose transb,
                                           int64_t m, int64_t n, int64_t k, const void *alpha,
                                           const void *const *a, int64_t lda, const void *const *b,
                                           int64_t ldb, const void *beta, void *const *c,
                                           int64_t ldc, int64_t batch_count);

/**
 * \brief   C = alpha * op(A) * op(B) + beta * C, in double-precision complex numbers.
 *
 * The arguments are those of xgemm_sgemm(), and what is said there holds.
 *
 * An element is two doubles, the real part first, as C's double _Complex. alpha and
 * beta point to one on the host, read before the call returns; NULL is 1 for
 * alpha and 0 for beta. XGEMM_CONJ_TRANS is the conjugate transpose. How Inf and
 * NaN spread from one part to the other: xgemm_product.
 *
 * \return  As xgemm_sgemm(); a pointer must be aligned to 8 bytes.
 */
XGEMM_API xgemm_status xgemm_zgemm(xgemm_handle *handle, xgemm_order order, xgemm_transpose transa,
                                   xgemm_transpose transb, int64_t m, int64_t n, int64_t k,
                                   const void *alpha, const void *a, int64_t lda, const void *b,
                                   int64_t ldb, const void *beta, void *c, int64_t ldc);

/** \brief   xgemm_sgemm_strided_batched() for xgemm_zgemm(). */
XGEMM_API xgemm_status xgemm_zgemm_strided_batched(
    xgemm_handle *handle, xgemm_order order, xgemm_transpose transa, xgemm_transpose transb,
    int64_t m, int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda,
    int64_t stride_a, const void *b, int64_t ldb, int64_t stride_b, const void *beta, void *c,
    int64_t ldc, int64_t stride_c, int64_t batch_count);

/** \brief   xgemm_sgemm_batched() for xgemm_zgemm(). */
XGEMM_API xgemm_status xgemm_zgemm_batched(xgemm_handle *handle, xgemm_order order,
                                           xgemm_transpose transa, xgemm_transpose transb,
                                           int64_t m, int64_t n, int64_t k, const void *alpha,
                                           const void *const *a, int64_t lda, const void *const *b,
                                           int64_t ldb, const void *beta, void *const *c,
                                           int64_t ldc, int64_t batch_count);

#endif
