/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * \file    xgemm/product.h
 * \brief   Products of any element type, with everything that can be said of one.
 */
#ifndef XGEMM_H_INTERNAL
#error "include <xgemm.h>, not <xgemm/product.h>"
#endif
#ifndef XGEMM_PRODUCT_H
#define XGEMM_PRODUCT_H

/** \brief The type of a matrix's elements. */
typedef enum {
    XGEMM_F32 = 1,  /**< float. */
    XGEMM_F64 = 2,  /**< double. */
    XGEMM_F16 = 3,  /**< IEEE binary16: CUDA's __half. */
    XGEMM_BF16 = 4, /**< The upper half of a float: CUDA's __nv_bfloat16. */
    XGEMM_C32 = 5,  /**< Complex, of two floats, the real part first. */
    XGEMM_C64 = 6   /**< Complex, of two doubles, the real part first. */
} xgemm_type;

/** \brief A function that is applied to every element before it is stored. */
typedef enum {
    XGEMM_ACTIVATION_NONE = 0,
    XGEMM_RELU = 1,      /**< max(x, 0); NaN stays NaN. */
    XGEMM_GELU = 2,      /**< x (1 + erf(x / sqrt(2))) / 2. */
    XGEMM_GELU_TANH = 3, /**< x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, close to it. */
    XGEMM_SILU = 4       /**< x / (1 + exp(-x)), or swish. */
} xgemm_activation;

/** \brief Bits of xgemm_product.flags. */
enum {
    XGEMM_POINTER_ARRAYS = 1, /**< a, b and c are arrays of batch_count pointers to the matrices, as
                                   in xgemm_sgemm_batched(); the strides are ignored. */
    XGEMM_DEVICE_SCALARS = 2, /**< alpha and beta are device memory, read when the product runs. */
    XGEMM_HOST_MEMORY = 4     /**< The matrices, the arrays of pointers and the bias are in host
                                   memory, pinned or not. */
};

/**
 * \brief   A product: C = activation(alpha * op(A) * op(B) + beta * C + bias).
 *
 * Begin with XGEMM_PRODUCT_INIT and set what differs. Sizes, leading
 * dimensions and strides are in elements, and are limited as those of
 * xgemm_sgemm() and xgemm_sgemm_strided_batched().
 *
 * A and B have one type. C has it, too; of F16 and BF16 operands it may be F16,
 * BF16 or F32. Products and sums of F16 and BF16 operands are FP32, and so are
 * alpha, beta, the bias and the activation, which the CPU computes in double; C
 * is rounded once, to nearest, and F16 overflows to Inf. Of F32 and F64 operands they are of that type, of C32
 * and C64 of it for the real and the imaginary part, which are computed as
 * (a + bi)(c + di) = (ac - bd) + (ad + bc)i is written: Inf or NaN in one part
 * of an element spreads by these formulas, without the repairs of C's Annex G.
 */
typedef struct {
    size_t struct_size;     /**< sizeof(xgemm_product). */
    xgemm_order order;      /**< Layout of all three matrices. */
    xgemm_transpose transa; /**< op(A). */
    xgemm_transpose transb; /**< op(B). */
    int64_t m;              /**< Rows of op(A) and C; at least 0. */
    int64_t n;              /**< Columns of op(B) and C; at least 0. */
    int64_t k;              /**< Columns of op(A), rows of op(B); at least 0. */
    xgemm_type type_a;      /**< A's elements. */
    xgemm_type type_b;      /**< B's elements: as A's. */
    xgemm_type type_c;      /**< C's elements, see above. */
    const void *alpha;   /**< Factor of the product, a float for F32, F16 and BF16 operands, else an
                              element of C's type; NULL: 1. On the host, and read before the call
                              returns, unless flags has XGEMM_DEVICE_SCALARS. */
    const void *beta;    /**< Factor of C, likewise; NULL: 0. */
    const void *a;       /**< A: m x k before op when transa is NO_TRANS, else k x m. */
    int64_t lda;         /**< A's leading dimension. */
    int64_t stride_a;    /**< From one A of a batch to the next; 0: all products share one. */
    const void *b;       /**< B: k x n when transb is NO_TRANS, else n x k. */
    int64_t ldb;         /**< B's leading dimension. */
    int64_t stride_b;    /**< As stride_a. */
    void *c;             /**< C: m x n, read (unless beta is 0) and written. */
    int64_t ldc;         /**< C's leading dimension. */
    int64_t stride_c;    /**< From one C of a batch to the next. */
    int64_t batch_count; /**< Products; at least 0. */
    unsigned flags;      /**< A sum of XGEMM_POINTER_ARRAYS and either XGEMM_DEVICE_SCALARS or
                              XGEMM_HOST_MEMORY; 0. */
    xgemm_activation activation; /**< Of real types only. */
    const void *bias;     /**< In the device's memory, one element a column of C, the same for all
                             products of a batch; NULL: none. */
    xgemm_type type_bias; /**< Its elements: F32, F16 or BF16 for F32, F16 and BF16 operands, else
                               of C's type. Not looked at without a bias. */
    int bias_per_row;     /**< Not 0: the bias has one element a row of C. */
} xgemm_product;

/** \brief A product in row order without transposes, of batch_count 1; the rest is 0. */
#define XGEMM_PRODUCT_INIT                                                                         \
    {                                                                                              \
        sizeof(xgemm_product), XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 0, 0, 0,           \
            (xgemm_type)0, (xgemm_type)0, (xgemm_type)0, NULL, NULL, NULL, 0, 0, NULL, 0, 0, NULL, \
            0, 0, 1, 0, XGEMM_ACTIVATION_NONE, NULL, (xgemm_type)0, 0                              \
    }

/**
 * \brief   Multiplies: C = activation(alpha * op(A) * op(B) + beta * C + bias).
 *
 * \param   handle   The handle.
 * \param   product  The product, its struct_size set; read before the call
 *                   returns, as are alpha and beta on the host.
 *
 * What is said of xgemm_sgemm() and of its batched forms holds here: where the
 * memory is, when C is done, capture into graphs, when memory is allocated,
 * which pointers may be NULL, and the reference BLAS's rules: beta = 0 never
 * reads C, and with alpha = 0 or k = 0 A and B are never read and C becomes
 * activation(beta * C + bias).
 *
 * With XGEMM_DEVICE_SCALARS the host never reads alpha and beta, and they must
 * not change before the work is done. beta = 0 does not read C then, either,
 * and with alpha = 0 nothing of A and B reaches C. Since only the device
 * knows, no pointer may be NULL where another alpha or beta would read it.
 *
 * With XGEMM_HOST_MEMORY the matrices may be larger than the device's memory: C is
 * computed in tiles, from blocks of A and B that are copied to the device; up to 16
 * threads of the host a device pack, copy and multiply at the same time. C is done when
 * the call returns. The memory that this takes, at most half of what the device has
 * free, is allocated by each call and given back at its end; from the first such call
 * until it is destroyed a handle keeps each device open, and at most 48 MiB of pinned
 * memory and 12 threads, which wait, for it. Where k is in several blocks their sums are added in C's type, except for F16 and
 * BF16, where k stays whole. The products of a batch are computed one after another. A handle of
 * xgemm_create_devices() divides the tiles among its devices. No stream matters, and it cannot be
 * captured. After an error of the device, a part of C may have been written.
 *
 * C must not overlap A, B, the bias or the scalars. Any thread may call with a
 * handle of its own.
 *
 * \return  XGEMM_OK; XGEMM_ERROR_INVALID_VALUE (also for a matrix, a bias or device
 *          scalars that are not aligned as their elements' parts are: 2 bytes for
 *          F16 and BF16, 4 for F32 and C32, 8 for F64 and C64); XGEMM_ERROR_NULL_POINTER;
 *          XGEMM_ERROR_OVERFLOW; XGEMM_ERROR_NOT_SUPPORTED for types that are
 *          not multiplied with each other, an activation of complex numbers,
 *          and a named kernel that cannot do what is asked;
 *          XGEMM_ERROR_WORKSPACE; XGEMM_ERROR_OUT_OF_DEVICE_MEMORY;
 *          XGEMM_ERROR_OUT_OF_MEMORY; XGEMM_ERROR_LAUNCH; XGEMM_ERROR_DRIVER. After an error in the
 *          arguments C is as before.
 */
XGEMM_API xgemm_status xgemm_gemm(xgemm_handle *handle, const xgemm_product *product);

/**
 * \brief   Multiplies groups of rows, each by a matrix of its own, as the experts of a mixture do.
 *
 * Rows offsets[g] to offsets[g + 1] - 1 of op(A) are multiplied by B number g, which begins
 * g * stride_b elements after the first one, and become the same rows of C:
 *
 *     C(i, :) = activation(alpha * op(A)(i, :) * op(B_g) + beta * C(i, :) + bias)
 *
 * \param   handle   The handle.
 * \param   product  As for xgemm_gemm(), with m the rows of op(A) and C in all, at most 2^30 - 1.
 *                   stride_a and stride_c are not looked at; batch_count is 1; flags may have
 *                   XGEMM_DEVICE_SCALARS alone. A bias by columns is the same for all groups, one
 *                   by rows has m elements.
 * \param   offsets  Device memory of groups + 1 ascending numbers, that the host never reads: they
 *                   are read when the product runs, so that each replay of a captured graph has
 *                   those that are there then. Any are allowed: groups may be empty, and begin at
 *                   any row. Rows before offsets[0] and from offsets[groups] on are left as they
 *                   are. Offsets below 0 count as 0, those beyond m as m, and a group whose end is
 *                   before its beginning as empty; a row that is in several groups becomes the
 *                   product of one of them where beta is 0, and is undefined else.
 * \param   groups   How many there are; at least 0.
 *
 * All else is as with xgemm_gemm(). With XGEMM_REPRODUCIBLE_ELEMENT a row has the bits that it has
 * in a product of its own. F16 and BF16 are multiplied on tensor cores; other types take a kernel that
 * does not use these.
 *
 * \return  What xgemm_gemm() returns; XGEMM_ERROR_INVALID_VALUE for a batch_count other than 1,
 *          negative groups, and offsets that are not aligned to 8 bytes;
 *          XGEMM_ERROR_NULL_POINTER for offsets of NULL where there are groups; XGEMM_ERROR_NOT_SUPPORTED for
 *          XGEMM_POINTER_ARRAYS and XGEMM_HOST_MEMORY, and more rows or groups than 2^30 - 1.
 */
XGEMM_API xgemm_status xgemm_gemm_ragged(xgemm_handle *handle, const xgemm_product *product,
                                         const int64_t *offsets, int64_t groups);

/**
 * \brief   What xgemm_gemm() would run.
 *
 * \param   handle   The handle, of any device.
 * \param   product  As for xgemm_gemm(). The matrices and the bias are never
 *                   followed: only how they are aligned matters, and NULL
 *                   stands for memory aligned to 256 bytes. alpha and beta are
 *                   read unless they are on the device.
 * \param   plan     Caller's struct, its struct_size and device set; filled in.
 *
 * All is as with xgemm_sgemm_plan(). Products of matrices in host memory are planned
 * tile by tile, and have no plan here.
 *
 * \return  What xgemm_gemm() returns for its arguments, and what
 *          xgemm_sgemm_plan() returns for the plan; XGEMM_ERROR_NOT_SUPPORTED for
 *          XGEMM_HOST_MEMORY, with device scalars or without.
 */
XGEMM_API xgemm_status xgemm_gemm_plan(xgemm_handle *handle, const xgemm_product *product,
                                       xgemm_plan *plan);

#endif
