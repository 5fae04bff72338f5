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
    XGEMM_ROW_MAJOR = 101, /**< Rows are contiguous; a leading dimension is the step between rows. */
    XGEMM_COL_MAJOR = 102  /**< Columns are contiguous; the step between columns. */
} xgemm_order;

/** \brief What is done with a matrix before it is multiplied; CBLAS's values. */
typedef enum {
    XGEMM_NO_TRANS = 111,  /**< The matrix as it is. */
    XGEMM_TRANS = 112,     /**< Its transpose. */
    XGEMM_CONJ_TRANS = 113 /**< Its conjugate transpose; the transpose, as matrices are real. */
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
 *          aligned to 4 bytes); XGEMM_ERROR_NULL_POINTER; XGEMM_ERROR_OVERFLOW; XGEMM_ERROR_NOT_SUPPORTED;
 *          XGEMM_ERROR_WORKSPACE; XGEMM_ERROR_OUT_OF_DEVICE_MEMORY (for the
 *          workspace); XGEMM_ERROR_LAUNCH; XGEMM_ERROR_DRIVER. After an error
 *          in the arguments C is as before.
 */
XGEMM_API xgemm_status xgemm_sgemm(xgemm_handle *handle, xgemm_order order,
                                   xgemm_transpose transa, xgemm_transpose transb, int64_t m,
                                   int64_t n, int64_t k, float alpha, const float *a, int64_t lda,
                                   const float *b, int64_t ldb, float beta, float *c, int64_t ldc);

#endif
