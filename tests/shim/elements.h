/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements of matrices by cuBLAS's types, as the tests of the drop-in fill and read them. */
#ifndef SHIM_ELEMENTS_H
#define SHIM_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include <xgemm.h>

typedef enum { F32, F64, C32, C64, F16, BF16 } element;

size_t element_bytes(element type);
int element_cuda_type(element type); /* cudaDataType_t */
int element_compute(element type);   /* cublasComputeType_t */
bool element_is_complex(element type);
element element_scalar(element type); /* that alpha and beta have */

/* Small integers, which all types hold. */
void element_put(element type, void *matrix, int at, double real, double imaginary);
double element_get(element type, const void *matrix, int at, bool imaginary);

/* A copy on the GPU, or on the host where that is NULL, which ends the program if there is no
   memory; and its end. */
void *place_on(xgemm_handle *gpu, const void *from, size_t bytes);
void release_on(xgemm_handle *gpu, void *memory);

#endif
