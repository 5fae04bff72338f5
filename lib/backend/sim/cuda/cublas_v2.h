/* SPDX-License-Identifier: BSD-3-Clause */
/* cuBLAS for host code beside a kernel: what is called most; it compiles, and never runs. */
#ifndef XGEMM_CUDA_CUBLAS_H
#define XGEMM_CUDA_CUBLAS_H

#include "device.h"

typedef struct xg_cublas *cublasHandle_t;
typedef int cublasStatus_t;
typedef int cublasComputeType_t;
typedef int cublasGemmAlgo_t;
typedef int cudaDataType;
typedef int cudaDataType_t;
typedef enum { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C } cublasOperation_t;
enum {
    CUBLAS_STATUS_SUCCESS = 0,
    CUDA_R_32F = 0,
    CUDA_R_64F = 1,
    CUDA_R_16F = 2,
    CUDA_R_16BF = 14,
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
    CUBLAS_GEMM_DEFAULT = -1,
    CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1
};

#define XG_CUBLAS(name)                                                                            \
    template <class... A> static inline cublasStatus_t name(A &&...)                               \
    {                                                                                              \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }
XG_CUBLAS(cublasCreate)
XG_CUBLAS(cublasDestroy)
XG_CUBLAS(cublasSetStream)
XG_CUBLAS(cublasSetMathMode)
XG_CUBLAS(cublasSgemm)
XG_CUBLAS(cublasDgemm)
XG_CUBLAS(cublasHgemm)
XG_CUBLAS(cublasGemmEx)
XG_CUBLAS(cublasSgemmStridedBatched)
XG_CUBLAS(cublasSgemv)
XG_CUBLAS(cublasSaxpy)
XG_CUBLAS(cublasSdot)

#endif
