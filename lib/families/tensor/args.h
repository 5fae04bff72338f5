/* SPDX-License-Identifier: BSD-3-Clause */
/* The argument of the split of operands into FP16 terms, and of the products of these. */
#ifndef XGEMM_TENSOR_ARGS_H
#define XGEMM_TENSOR_ARGS_H

#include "families/common/args.h"

/*
 * A batch whose products one launch computes: elements from one matrix of A, and of B, to the next
 * (0: all products have the same; XG_TENSOR_POINTERS: A, B and C are arrays of pointers), the
 * products of the launch, and those that the workspace is laid out for.
 */
#define XG_TENSOR_POINTERS UINT32_MAX
typedef struct {
    uint32_t a_stride, b_stride;
    uint16_t products, room;
} xg_tensor_batch;

typedef struct {
    XG_PRODUCT_FIELDS
    void *workspace; /* laid out as fp16_layout.h says */
    /* Strips of C: rows below the m x n that are tiles, and columns beside. */
    uint8_t rows_below, columns_beside;
    uint8_t strips_in_split; /* the split computes them */
    uint8_t later_pass;      /* of the split: not the first one of a call; the count goes on */
    uint32_t k_blocks;
    union {
        struct {
            xg_tensor_batch batch; /* of the kernels for batches */
            uint8_t terms;         /* 1 or 2 */
            uint8_t slices;        /* of k: CTAs of a cluster */
            uint8_t chunks;        /* of a slice, of XG_CHUNK_K each */
        } split;
        struct {
            uint32_t group_reciprocal;     /* of the tiles in a group of rows, */
            uint32_t last_rows_reciprocal; /* and of the rows of tiles in the last group */
            uint32_t whole_tiles;          /* that are not stream-K's */
            uint32_t stream_k_iterations;  /* of a cluster; 0: no stream-K */
        } product;
        struct {
            xg_tensor_batch batch;
            uint32_t c_stride;
        } batched_product;
    };
} xg_tensor_args;

/* Of fp16x3_compact, which computes what another kernel does. */
typedef struct {
    xg_tensor_args product;  /* that kernel's argument */
    uint16_t tile_rows;      /* of its clusters' tiles, */
    uint16_t tile_columns;   /* and columns */
    uint32_t promotes_cross; /* cross products each k-block, too */
    uint32_t broken_tiles;   /* whose main loop has two parts: the first ones, or none */
} xg_tensor_compact_args;

#endif
