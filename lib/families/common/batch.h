/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the matrices of a batch's products are. */
#ifndef XGEMM_KERNELS_BATCH_H
#define XGEMM_KERNELS_BATCH_H

#include "dialect.h"

/* The matrix of the CTA's product, of elements of so many bytes: at a stride, or by a pointer. */
XG_DEVICE const void *xg_matrix_of_batch(const void *matrix, int64_t batch_stride,
                                         int64_t element_bytes)
{
    return batch_stride == XG_POINTER_ARRAYS
               ? ((const void *const *)matrix)[XG_BATCH]
               : (const char *)matrix + XG_BATCH * batch_stride * element_bytes;
}

#endif
