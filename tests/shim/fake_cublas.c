/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fake libcublas.so.13, and with FAKE_CUBLASLT libcublasLt.so.13, for dropins.sh: entry points
 * note their names and return the status that a test asked for. A handle and cublasLt's descriptors
 * are structs of the test (fake_cublas.h).
 */
#include "fake_cublas.h"

#include <stddef.h>
#include <string.h>

#ifndef FAKE_CUBLASLT

int fake_count, fake_asked, fake_status, fake_destroyed;
const char *fake_last = "";

int fake_note(const char *name)
{
    fake_count++;
    fake_last = name;
    return fake_status;
}

/* The arguments are not looked at; two of these call back what is preloaded, as cuBLAS may. */
#define ENTRY(name)                                                                                \
    int name(fake_handle *handle);                                                                 \
    int name(fake_handle *handle)                                                                  \
    {                                                                                              \
        if (handle && handle->inner)                                                               \
            handle->inner();                                                                       \
        return fake_note(#name);                                                                   \
    }
#define ENTRIES(letter)                                                                            \
    ENTRY(cublas##letter##gemm_v2)                                                                 \
    ENTRY(cublas##letter##gemm_v2_64)                                                              \
    ENTRY(cublas##letter##gemmStridedBatched)                                                      \
    ENTRY(cublas##letter##gemmStridedBatched_64)                                                   \
    ENTRY(cublas##letter##gemmBatched)                                                             \
    ENTRY(cublas##letter##gemmBatched_64)
ENTRIES(S)
ENTRIES(D)
ENTRIES(C)
ENTRIES(Z)
ENTRY(cublasGemmEx)
ENTRY(cublasGemmEx_64)
ENTRY(cublasGemmStridedBatchedEx)
ENTRY(cublasGemmStridedBatchedEx_64)
ENTRY(cublasGemmBatchedEx)
ENTRY(cublasGemmBatchedEx_64)
ENTRY(cublasSgemmEx)
ENTRY(cublasSgemmEx_64)

/* The drop-in has no such functions. */
#define ALONE(name)                                                                                \
    int name(void);                                                                                \
    int name(void)                                                                                 \
    {                                                                                              \
        return fake_note(#name);                                                                   \
    }
ALONE(cublasCgemm3m)
ALONE(cublasSgemv_v2)
ALONE(cublasDgemv_v2)

int cublasDestroy_v2(fake_handle *handle)
{
    (void)handle;
    fake_destroyed++;
    return 0;
}

int cublasGetStream_v2(fake_handle *handle, void **stream)
{
    fake_asked++;
    *stream = handle->stream;
    return 0;
}

int cublasGetPointerMode_v2(fake_handle *handle, int *mode)
{
    fake_asked++;
    *mode = handle->pointer_mode;
    return 0;
}

int cublasGetMathMode(fake_handle *handle, int *mode)
{
    fake_asked++;
    *mode = handle->math_mode;
    return 0;
}

int cublasSetSmCountTarget(fake_handle *handle, int count)
{
    handle->multiprocessors = count;
    return 0;
}

int cublasGetSmCountTarget(fake_handle *handle, int *count)
{
    fake_asked++;
    *count = handle->multiprocessors;
    return 0;
}

#else

int cublasLtMatmul(void *handle)
{
    (void)handle;
    return fake_note("cublasLtMatmul");
}

int cublasLtDestroy(void *handle)
{
    (void)handle;
    fake_destroyed++;
    return 0;
}

static int give(const void *from, size_t bytes, void *to, size_t room, size_t *written)
{
    fake_asked++;
    if (room < bytes)
        return 7;
    memcpy(to, from, bytes);
    *written = bytes;
    return 0;
}

/* Attributes by their numbers. */
int cublasLtMatmulDescGetAttribute(const fake_matmul *of, int attribute, void *to, size_t room,
                                   size_t *written)
{
    static const int none;
    static const int full = 2;
    const int *const fields[] = {[0] = &of->compute, [1] = &of->scale,    [2] = &of->pointers,
                                 [3] = &of->transa,  [4] = &of->transb,   [5] = &none,
                                 [6] = &full,        [7] = &of->epilogue, [15] = &none};
    if (attribute == 8)
        return give(&of->bias, sizeof of->bias, to, room, written);
    if (attribute == 10)
        return give(&of->bias_stride, sizeof of->bias_stride, to, room, written);
    if (attribute == 20)
        return give(&of->scale_d, sizeof of->scale_d, to, room, written);
    if (attribute == 26)
        return give(&of->bias_type, sizeof of->bias_type, to, room, written);
    if (attribute < 0 || attribute > 15 || !fields[attribute])
        return 7;
    return give(fields[attribute], sizeof(int), to, room, written);
}

int cublasLtMatrixLayoutGetAttribute(const fake_layout *of, int attribute, void *to, size_t room,
                                     size_t *written)
{
    switch (attribute) {
    case 0:
        return give(&of->type, sizeof of->type, to, room, written);
    case 1:
        return give(&of->order, sizeof of->order, to, room, written);
    case 2:
        return give(&of->rows, sizeof of->rows, to, room, written);
    case 3:
        return give(&of->columns, sizeof of->columns, to, room, written);
    case 4:
        return give(&of->ld, sizeof of->ld, to, room, written);
    case 5:
        return give(&of->batch_count, sizeof of->batch_count, to, room, written);
    case 6:
        return give(&of->stride, sizeof of->stride, to, room, written);
    case 8:
        return give(&of->batch_mode, sizeof of->batch_mode, to, room, written);
    default:
        return 7;
    }
}

#endif
