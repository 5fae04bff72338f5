/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * \file    xgemm/plan.h
 * \brief   Plans: what a product would run, without running it.
 */
#ifndef XGEMM_H_INTERNAL
#error "include <xgemm.h>, not <xgemm/plan.h>"
#endif
#ifndef XGEMM_PLAN_H
#define XGEMM_PLAN_H

/**
 * \brief   How a product, or a batch of them, is computed.
 *
 * Set struct_size to sizeof(xgemm_plan), and device, before the call: a program
 * compiled against an older, smaller struct goes on working with a newer
 * library. Zero the rest, so that what a newer library wants to be told is
 * unset. Numbers that do not apply are 0.
 */
typedef struct {
    size_t struct_size;         /**< In: sizeof(xgemm_plan). */
    const xgemm_device *device; /**< In: plan for this GPU, which need not be here, such as one
                                     from xgemm_device_find(); NULL: for the handle's device. */
    const char *kernel;         /**< Its name, a static string; NULL when nothing is multiplied
                                     (a size is 0, or alpha). */
    int tile_m;                 /**< Rows of C that a block computes; 0 on the CPU. */
    int tile_n;                 /**< Columns of C that a block computes. */
    int tile_k;                 /**< Elements of k in one step of a block's main loop. */
    int64_t split_k;            /**< Split-K: slices of k, each computed by blocks of its own, for
                                     all tiles of C or the last ones. A second launch reduces their
                                     partial sums, or the blocks of a cluster do; 1: k is not
                                     split. */
    int64_t together;           /**< Products of a batch that one launch computes; 1: one launch
                                     for each product. */
    int64_t launches;           /**< Kernels that are launched, including those that copy or split
                                     operands, reduce partial sums or compute strips at C's edges;
                                     0: nothing is to be done. */
    size_t workspace_bytes;     /**< Device memory for intermediate results, such as operands split
                                     into FP16, in bytes; what xgemm_set_workspace() has to
                                     give. */
    double microseconds;        /**< Predicted time on the device; 0: the kernel has no cost model,
                                     or the device's peaks are not known. The model's constants
                                     were measured on the GPU that measured_on names. For another
                                     GPU they are scaled by its peaks, and the time is an estimate:
                                     at least what the peaks allow, with each matrix once from
                                     memory or to it; use it to compare kernels. */
    int64_t shared_tiles;       /**< Stream-K: tiles of C that would leave the last wave partly
                                     empty. Their iterations over k are distributed evenly over all
                                     blocks, so that a block may begin or end within a tile; 0:
                                     each tile is computed by one block. */
    const char *measured_on;    /**< The GPU on which the cost model's constants were measured, a
                                     static string such as "NVIDIA H200"; NULL: no time is
                                     predicted. */
} xgemm_plan;

/**
 * \brief   What xgemm_sgemm() would run.
 *
 * \param   handle  The handle, whose kernel, math mode and workspace are
 *                  heeded; of any device.
 * \param   order, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc
 *                  As for xgemm_sgemm(). The pointers are never followed:
 *                  only how they are aligned matters, and NULL stands for
 *                  memory aligned to 256 bytes.
 * \param   plan    Caller's struct, its struct_size and device set; filled in.
 *
 * Nothing is launched or allocated, and xgemm_last_kernel() stays as it was.
 * A workspace that the library cannot allocate when the product runs makes
 * it take another kernel than an automatic plan says.
 *
 * \return  XGEMM_OK; what xgemm_sgemm() returns for its arguments and for a
 *          workspace that is too small; XGEMM_ERROR_NULL_POINTER for a NULL plan;
 *          XGEMM_ERROR_INVALID_VALUE if a struct_size is not set, and for a
 *          device that is no GPU or whose multiprocessors are unknown;
 *          XGEMM_ERROR_NOT_SUPPORTED for a GPU that the kernels do not run on,
 *          and for a kernel of the CPU there. After an error the struct is as
 *          it was.
 */
XGEMM_API xgemm_status xgemm_sgemm_plan(xgemm_handle *handle, xgemm_order order,
                                        xgemm_transpose transa, xgemm_transpose transb, int64_t m,
                                        int64_t n, int64_t k, float alpha, const float *a,
                                        int64_t lda, const float *b, int64_t ldb, float beta,
                                        const float *c, int64_t ldc, xgemm_plan *plan);

/**
 * \brief   What xgemm_sgemm_strided_batched() would run.
 *
 * The arguments are that function's, and otherwise all is as with
 * xgemm_sgemm_plan().
 */
XGEMM_API xgemm_status xgemm_sgemm_strided_batched_plan(
    xgemm_handle *handle, xgemm_order order, xgemm_transpose transa, xgemm_transpose transb,
    int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t lda, int64_t stride_a,
    const float *b, int64_t ldb, int64_t stride_b, float beta, const float *c, int64_t ldc,
    int64_t stride_c, int64_t batch_count, xgemm_plan *plan);

#endif
