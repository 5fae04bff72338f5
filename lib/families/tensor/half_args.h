/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of products of 16-bit operands on tensor cores, and of the pass before them. */
#ifndef XGEMM_TENSOR_HALF_ARGS_H
#define XGEMM_TENSOR_HALF_ARGS_H

#include "families/common/args.h"

/* half_pack.cu: copies of A and B as operand tiles. */
typedef struct {
    int64_t m, n, k;
    const uint16_t *a, *b; /* or arrays of pointers */
    char *tiles;           /* of A's products, then of B's */
    int64_t a_stride_m, a_stride_k, b_stride_k, b_stride_n;
    int64_t a_batch_stride, b_batch_stride; /* elements, or XG_POINTER_ARRAYS */
    int64_t b_tiles;                        /* bytes from A's tiles to B's */
    uint32_t a_blocks, b_blocks, k_blocks;  /* of each product */
    uint32_t a_copies, b_copies;            /* 1: shared by all products of the launch */
} xg_half_pack_args;

/* half.inc: the product of operand tiles. */
typedef struct {
    int64_t m, n, k;
    const char *tiles;
    void *c; /* or an array of pointers */
    int64_t c_stride_m, c_batch_stride;
    int64_t b_tiles;
    int64_t a_batch_bytes, b_batch_bytes; /* from product to product; 0: shared */
    uint32_t k_blocks, c_is_aligned;      /* the second: four elements of C to four of them */
    xg_epilogue_args epilogue;
} xg_half_args;

#endif
