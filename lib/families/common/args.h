/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What kernels' arguments have in common. A kernel has one argument, a struct of its family's (or
 * its own) that fits 128 bytes: nvcc keeps the fields of a larger one no longer in registers of
 * their own, and some kernels spill.
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

/* In place of the batch stride of A: A, B and C are arrays of pointers. */
#define XG_POINTER_ARRAYS INT64_MIN

/* A tensor map as the driver has encoded it, and those of A and B (XG_KERNEL_WITH_TENSOR_MAPS). */
typedef struct {
    uint64_t words[16];
} __attribute__((aligned(128))) xg_tensor_map;

typedef struct {
    xg_tensor_map a, b;
} xg_tensor_maps;

#endif
