/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What kernels' arguments have in common. A kernel has one argument, a struct of its family's (or
 * its own) of at most XG_ARGUMENTS_BYTES. In simt/ and tensor/ it fits 128 bytes: nvcc keeps the
 * fields of a larger one no longer in registers of their own, and some kernels spill.
 *
 * Read by nvcc, by the host compiler and by the simulator.
 */
#ifndef XGEMM_KERNELS_ARGS_H
#define XGEMM_KERNELS_ARGS_H

#include <stdint.h>

/*
 * The product that a kernel computes: see problem/problem.h, whose names these are. They come
 * first in the arguments of every family that multiplies.
 */
#define XG_PRODUCT_FIELDS                                                                          \
    int64_t m, n, k;                                                                               \
    const float *a, *b;                                                                            \
    float *c;                                                                                      \
    int64_t a_stride_m, a_stride_k;                                                                \
    int64_t b_stride_k, b_stride_n;                                                                \
    int64_t c_stride_m;                                                                            \
    float alpha, beta;

/* The whole argument of kernels that compute one product, and of the host's functions. */
typedef struct {
    XG_PRODUCT_FIELDS
} xg_product_args;

/* Rows of C in a rasterization group of tensor cores' kernels: L2 holds its operands. */
enum { XG_RASTER_ROWS = 2048 };

/* In place of the batch stride of A: A, B and C are arrays of pointers. */
#define XG_POINTER_ARRAYS INT64_MIN

/* Lines that ragged groups divide: rows of A and C, or columns of B and C. */
enum { XG_RAGGED_ROWS = 1, XG_RAGGED_COLUMNS = 2 };

/*
 * A tensor map as the driver has encoded it, and those of A and B, and C where a kernel stores by
 * TMA (XG_KERNEL_WITH_TENSOR_MAPS).
 */
typedef struct {
    uint64_t words[16];
} __attribute__((aligned(128))) xg_tensor_map;

typedef struct {
    xg_tensor_map a, b, c;
} xg_tensor_maps;

/* Element types, as public ones have them; macros, which the preprocessor can compare. */
#define XG_TYPE_F32  1
#define XG_TYPE_F64  2
#define XG_TYPE_F16  3
#define XG_TYPE_BF16 4
#define XG_TYPE_C32  5
#define XG_TYPE_C64  6

/* Activations, likewise. */
enum {
    XG_ACTIVATION_RELU = 1,
    XG_ACTIVATION_GELU = 2,
    XG_ACTIVATION_GELU_TANH = 3,
    XG_ACTIVATION_SILU = 4
};

/* What is stored of a sum of any type: see problem/problem.h, whose names these are. */
typedef struct {
    double alpha[2], beta[2];       /* real and imaginary part */
    const void *alpha_at, *beta_at; /* in device memory; NULL: alpha, beta */
    const void *bias;               /* NULL: none */
    uint8_t type_c, type_bias, activation, bias_per_row;
    uint8_t a_conjugate, b_conjugate; /* of a complex product */
    uint8_t is_complex, type_a, type_scalars;
    uint8_t swapped; /* of a complex product: A is the caller's B */
    uint8_t unused[6];
} xg_epilogue_args;

/*
 * The whole argument of kernels and functions of the host that take any element type. It is larger
 * than the 128 bytes above: these have registers to spare.
 */
typedef struct {
    int64_t m, n, k;
    const void *a, *b;
    void *c;
    int64_t a_stride_m, a_stride_k;
    int64_t b_stride_k, b_stride_n;
    int64_t c_stride_m;
    int64_t a_batch_stride, b_batch_stride, c_batch_stride; /* or XG_POINTER_ARRAYS: all of them */
    const int64_t *offsets;                                 /* of ragged groups: ragged.h */
    int32_t groups;                                         /* 0: there are none */
    int32_t ragged;                                         /* which lines are */
    xg_epilogue_args epilogue;
} xg_typed_args;

#endif
