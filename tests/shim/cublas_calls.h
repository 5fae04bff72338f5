/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CUBLAS_CALLS_H
#define CUBLAS_CALLS_H

#include "fake_cublas.h"

#include <stdbool.h>

#include <xgemm.h>

/* Everything; the exit status of the program. */
int calls(bool served);

/* cublasLtMatmul on the GPU, which may be NULL; how many cases failed. */
int lt_calls(xgemm_handle *gpu, bool served);

#endif
