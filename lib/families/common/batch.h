/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the matrices of a batch's products are. */
#ifndef XGEMM_KERNELS_BATCH_H
#define XGEMM_KERNELS_BATCH_H

#include "dialect.h"

/* The matrix of a product, of elements of so many bytes: at a stride, or by a pointer. */
XG_DEVICE const void *xg_matrix_of_product(const void *matrix, int64_t batch_stride,
                                           int64_t element_bytes, int64_t product)
{
    return batch_stride == XG_POINTER_ARRAYS
               ? ((const void *const *)matrix)[product]
               : (const char *)matrix + product * batch_stride * element_bytes;
}

/* That of the CTA's product. */
XG_DEVICE const void *xg_matrix_of_batch(const void *matrix, int64_t batch_stride,
                                         int64_t element_bytes)
{
    return xg_matrix_of_product(matrix, batch_stride, element_bytes, XG_BATCH);
}

#endif
