/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of the kernels that copy, scale and add up matrices. */
#ifndef XGEMM_TRANSFORM_ARGS_H
#define XGEMM_TRANSFORM_ARGS_H

#include "families/common/args.h"

/* finish.cu: rows of C that a thread has, as far apart as its CTA is high. */
enum { XG_FINISH_ROWS = 8 };

/* pack.cu: copies of operands, MN-major and aligned. */
typedef struct {
    int64_t m, n, k;
    const float *a, *b;
    float *a_copy, *b_copy;
    int64_t a_stride_m, a_stride_k, b_stride_k, b_stride_n;
    int64_t a_copy_stride, b_copy_stride;   /* from one k to the next */
    int64_t a_batch_stride, b_batch_stride; /* of the operands; copies follow one another */
    uint64_t operands;                      /* 1: A; 2: B; 3: both, along the grid's z */
} xg_pack_args;

/* pad.cu: a matrix becomes the upper left part of a larger one, the rest of which is zero. */
typedef struct {
    int64_t rows, columns;
    const float *from;
    int64_t from_row_stride, from_column_stride;
    float *to; /* its rows are contiguous */
    int64_t to_rows, to_columns;
} xg_pad_args;

/* unpad.cu: C = alpha * from + beta * C. */
typedef struct {
    int64_t m, n;
    const float *from;
    int64_t from_stride; /* from row to row */
    float *c;
    int64_t c_stride_m;
    float alpha, beta;
} xg_unpad_args;

/* reduce.cu: C = alpha * (the sum of partial sums) + beta * C. */
typedef struct {
    int64_t m, n;
    int64_t splits;       /* m x n matrices that follow one another */
    const float *partial; /* the first one */
    float *c;
    int64_t c_stride_m;
    int64_t partial_batch_stride, c_batch_stride;
    float alpha, beta;
    uint64_t threads_per_element; /* a power of two */
} xg_reduce_args;

/* scale.cu: C = beta * C. */
typedef struct {
    int64_t m, n;
    float *c;
    int64_t c_stride_m;
    int64_t c_batch_stride; /* or XG_POINTER_ARRAYS: c is an array of pointers */
    float beta;
} xg_scale_args;

#endif
