/* SPDX-License-Identifier: BSD-3-Clause */
/* cuBLAS to compare with, opened at run time: libcublas.so.13, .12 or .11. */
#ifndef XGEMM_BIN_CUBLAS_H
#define XGEMM_BIN_CUBLAS_H

#include "workload.h"

typedef struct cublas cublas;

/*
 * On the GPU of the handle, and a stream of it; NULL: the default one. NULL on
 * failure, the sentence in message. For cublas_close(), before the handle ends.
 */
cublas *cublas_open(xgemm_handle *handle, void *stream, char *message, size_t message_size);
void cublas_close(cublas *library);

/* Another math mode: TF32 allows cuBLAS's, the others do not. */
void cublas_set_math(cublas *library, xgemm_math math);

/* Its version, such as 130100. */
int cublas_version(const cublas *library);

/* Whether cuBLAS has products of these types: not BF16 of F16 operands, nor F16 of BF16 ones. */
bool cublas_has(const workload *work);

/*
 * Enqueues C = alpha op(A) op(B) + beta C, a strided batch as one call; 0, or cuBLAS's status. The
 * sums of 16-bit operands are FP32. It has no bias and no activation: these are left out.
 */
int cublas_multiply(const cublas *library, const workload *work, const buffers *use);

/* The function of cuBLAS that it calls. */
const char *cublas_function(const workload *work);

#endif
