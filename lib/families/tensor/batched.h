/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels of batches: BATCHED is 1 in those that compute several products in one launch. Operands
 * are stacked as fp16_layout.h says; the matrices themselves are where the batch has them.
 */
#ifndef XGEMM_KERNELS_TENSOR_BATCHED_H
#define XGEMM_KERNELS_TENSOR_BATCHED_H

#include "families/common/dialect.h"
#include "fp16_layout.h"

#ifndef BATCHED
#define BATCHED 0
#endif

/* A matrix of A, B or C: at a stride from the first one, or by a pointer. */
XG_DEVICE const float *xg_batched_matrix(const float *matrix, unsigned stride, int product)
{
    return stride == XG_TENSOR_POINTERS ? ((const float *const *)(const void *)matrix)[product]
                                        : matrix + (uint64_t)(unsigned)product * stride;
}

/* The first row of a product's matrix in a stacked operand, whose matrices have so many rows. */
XG_DEVICE int xg_stacked_row(unsigned stride, int rows, int product)
{
    return stride ? product * xg_row_blocks(rows) * XG_ROW_BLOCK : 0;
}

#endif
