/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FAKE_CUBLAS_H
#define FAKE_CUBLAS_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    void *stream;
    int pointer_mode, math_mode, multiprocessors;
    void (*inner)(void); /* what an entry point calls of cuBLAS itself; NULL: nothing */
} fake_handle;

typedef struct {
    int compute, scale, pointers, transa, transb, epilogue, bias_type;
    const void *bias, *scale_d;
    int64_t bias_stride;
} fake_matmul;

typedef struct {
    int type, order, batch_count;
    int64_t rows, columns, ld, stride;
    int batch_mode;
} fake_layout;

/* What was called last, how often in all, how often a getter, and what calls are to return. */
extern int fake_count, fake_asked, fake_status, fake_destroyed;
extern const char *fake_last;
int fake_note(const char *name);

int cublasDestroy_v2(fake_handle *handle);
int cublasGetStream_v2(fake_handle *handle, void **stream);
int cublasGetPointerMode_v2(fake_handle *handle, int *mode);
int cublasGetMathMode(fake_handle *handle, int *mode);
int cublasSetSmCountTarget(fake_handle *handle, int count);
int cublasGetSmCountTarget(fake_handle *handle, int *count);
int cublasLtMatmul(void *handle);
int cublasLtDestroy(void *handle);
int cublasLtMatmulDescGetAttribute(const fake_matmul *of, int attribute, void *to, size_t room,
                                   size_t *written);
int cublasLtMatrixLayoutGetAttribute(const fake_layout *of, int attribute, void *to, size_t room,
                                     size_t *written);

#endif
