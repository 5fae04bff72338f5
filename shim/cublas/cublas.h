/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is used of cuBLAS, cublasLt and the driver: our own declarations. The numbers are those of
 * their documentation, and the same in cuBLAS 11, 12 and 13.
 */
#ifndef XGEMM_SHIM_CUBLAS_H
#define XGEMM_SHIM_CUBLAS_H

#include <stdint.h>

/* cublasStatus_t. */
enum { CUBLAS_SUCCESS = 0, CUBLAS_NOT_INITIALIZED = 1, CUBLAS_EXECUTION_FAILED = 13 };

/* cublasPointerMode_t, and the first two of cublasLtPointerMode_t. */
enum { CUBLAS_POINTERS_HOST = 0, CUBLAS_POINTERS_DEVICE = 1 };

/* cublasOperation_t. */
enum { CUBLAS_N = 0, CUBLAS_T = 1, CUBLAS_C = 2 };

/* cublasMath_t; the flag is about sums of FP16 and BF16 that libxgemm never reduces in less. */
enum {
    CUBLAS_MATH_DEFAULT = 0,
    CUBLAS_MATH_TENSOR_OP = 1, /* deprecated; FP32 products may be FP16 ones */
    CUBLAS_MATH_PEDANTIC = 2,
    CUBLAS_MATH_TF32 = 3,
    CUBLAS_MATH_NO_REDUCED_SUMS = 16
};

/* cublasComputeType_t. */
enum {
    CUBLAS_32F = 68,
    CUBLAS_32F_PEDANTIC = 69,
    CUBLAS_64F = 70,
    CUBLAS_64F_PEDANTIC = 71,
    CUBLAS_32F_FAST_16F = 74,
    CUBLAS_32F_FAST_16BF = 75,
    CUBLAS_32F_FAST_TF32 = 77
};

/* cudaDataType_t. */
enum { CUDA_32F = 0, CUDA_64F = 1, CUDA_16F = 2, CUDA_C32F = 4, CUDA_C64F = 5, CUDA_16BF = 14 };

/* cublasLtMatmulDescAttributes_t. */
enum {
    LT_COMPUTE_TYPE = 0,
    LT_SCALE_TYPE = 1,
    LT_POINTER_MODE = 2,
    LT_TRANSA = 3,
    LT_TRANSB = 4,
    LT_TRANSC = 5,
    LT_FILL_MODE = 6,
    LT_EPILOGUE = 7,
    LT_BIAS_POINTER = 8,
    LT_BIAS_BATCH_STRIDE = 10,
    LT_SM_COUNT_TARGET = 15,
    LT_A_SCALE_POINTER = 17, /* and those of B, C and D after it */
    LT_AMAX_D_POINTER = 21,
    LT_BIAS_TYPE = 26
};
enum { LT_FILL_MODE_FULL = 2 };

/* cublasLtMatrixLayoutAttribute_t. */
enum {
    LT_LAYOUT_TYPE = 0,
    LT_LAYOUT_ORDER = 1,
    LT_LAYOUT_ROWS = 2,
    LT_LAYOUT_COLUMNS = 3,
    LT_LAYOUT_LD = 4,
    LT_LAYOUT_BATCH_COUNT = 5,
    LT_LAYOUT_BATCH_STRIDE = 6,
    LT_LAYOUT_BATCH_MODE = 8 /* not in older ones; 0: strided */
};
enum { LT_ORDER_COLUMN = 0 };

/* cublasLtEpilogue_t: those without a second output or a gradient. */
enum {
    LT_EPILOGUE_NONE = 1,
    LT_EPILOGUE_RELU = 2,
    LT_EPILOGUE_BIAS = 4,
    LT_EPILOGUE_RELU_BIAS = 6,
    LT_EPILOGUE_GELU = 32, /* by tanh */
    LT_EPILOGUE_GELU_BIAS = 36
};

#endif
