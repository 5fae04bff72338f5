/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of products of F16 and BF16 operands on tensor cores, and of the passes beside. */
#ifndef XGEMM_HALF_ARGS_H
#define XGEMM_HALF_ARGS_H

#include "families/common/args.h"

/* half_align.cu: an operand of each product as lines that begin at multiples of 16 bytes. */
typedef struct {
    const uint16_t *from; /* or an array of pointers */
    uint16_t *to;         /* the copies, one after the other */
    int64_t lines, length;
    int64_t stride, batch_stride; /* elements; the second may be XG_POINTER_ARRAYS */
    int64_t to_stride;
} xg_half_aligned;

typedef struct {
    xg_half_aligned operands[2];
    uint32_t ctas[2];      /* along the grid's x, for each; 0: it is not copied */
    uint32_t is_common[2]; /* all products of a launch have the same operand */
} xg_half_align_args;

enum { XG_HALF_STAGES_MOST = 12 };

/*
 * wgmma.inc: the product, whose operands tensor maps describe. Tiles of clusters are counted in the
 * order of the rasterization: "whole" of them are not split, and k of the split_tiles that follow
 * is in "splits" slices of k_blocks_per_split each. Their partial sums go to "sums": for each
 * product, split and tile tile_rows rows of as many floats as a tile has columns. Or the CTAs of a
 * cluster have the splits of one tile each (wgmma_split_k.inc): then "whole" counts all tiles,
 * split_tiles is 0 and "sums" is not used.
 */
typedef struct {
    int64_t m, n;
    void *c; /* or an array of pointers */
    float *sums;
    const int64_t *offsets; /* of ragged groups: families/common/ragged.h */
    int64_t c_stride_m, c_batch_stride;
    uint32_t groups;
    uint32_t k_blocks; /* a stage's k; each split has k_blocks_per_split */
    uint32_t k_blocks_per_split, splits;
    uint32_t whole, split_tiles, tile_rows;
    uint16_t products;      /* of a launch, whose CTAs take the items of all in turn */
    uint16_t stages;        /* of the ring buffer, where TILE_N is 64; else it has STAGES */
    int16_t a_rows, b_rows; /* of the operands' tiles, that a CTA copies */
    uint8_t a_mn_major, b_mn_major;
    uint8_t a_batched, b_batched; /* 0: all products of the batch have the same */
    uint8_t c_is_aligned;         /* every row of C, and its end, to 16 bytes */
    uint8_t c_has_map;            /* C has a tensor map, and TMA stores it; split_tiles is 0 */
    uint8_t is_plain;             /* the epilogue is a product by alpha */
    uint8_t cluster;              /* CTAs; with ragged groups, 1 */
    uint8_t ragged;   /* xg_ragged_lines(); 0: no groups, and "offsets" and "groups" are not used */
    uint8_t cta_rows; /* of a CTA's tile: 128, or with TILE_N 64 that or 64 */
    xg_epilogue_args epilogue;
} xg_half_args;

/*
 * mma.inc: the product by mma.sync. Operands are lines, rows of a K-major one, that begin at
 * multiples of 16 bytes.
 */
typedef struct {
    xg_half_args
        product;       /* without what is for TMA and clusters: k_blocks, a_rows, b_rows, products,
                          stages, cluster, cta_rows, a_batched, b_batched and c_has_map */
    const void *a, *b; /* or arrays of pointers */
    int64_t a_stride, b_stride;             /* elements from line to line */
    int64_t a_batch_stride, b_batch_stride; /* or XG_POINTER_ARRAYS; with groups, from one's to the
                                               next one's */
    int32_t k;
} xg_mma_args;

enum { XG_MMA_BLOCK_K = 64 /* of a k-block of splits */ };

/* half_skinny.inc: a CTA's warps, rows of X by its major, rows or columns of C's short side, and
   the CTAs of a cluster, which share k. */
enum {
    XG_SKINNY_WARPS = 8,
    XG_SKINNY_K_MAJOR_ROWS = 16,
    XG_SKINNY_MN_MAJOR_ROWS = 64,
    XG_SKINNY_SIDE = 16,
    XG_SKINNY_CLUSTER_MOST = 8
};
/* Sums of a warp in shared memory, from row to row; and those of a CTA, in bytes. */
#define XG_SKINNY_PITCH(rows)        ((rows) + 4)
#define XG_SKINNY_SHARED_BYTES(rows) (4 * XG_SKINNY_WARPS * XG_SKINNY_SIDE * XG_SKINNY_PITCH(rows))

/* half_gemv.inc: a CTA's warps, its rows by X's major, and the CTAs that divide k. */
enum {
    XG_HALF_GEMV_WARPS = 4,
    XG_HALF_GEMV_K_MAJOR_ROWS = 8,
    XG_HALF_GEMV_MN_MAJOR_ROWS = 64,
    XG_HALF_GEMV_CLUSTER_MOST = 8
};
#define XG_HALF_GEMV_SHARED_BYTES(rows)                                                            \
    (4 * (rows) * (XG_HALF_GEMV_WARPS + XG_HALF_GEMV_CLUSTER_MOST - 1) + 8)

/* half_thin.inc: a CTA's tile, and its threads. */
enum { XG_THIN_TILE_M = 64, XG_THIN_TILE_N = 128, XG_THIN_THREADS = 256 };

/*
 * half_single_stage.inc: an operand's tile in shared memory, places in units of 16 bytes.
 */
typedef struct {
    uint16_t chunks_at, vectors_at;
    uint16_t pitch, vectors; /* from line to line: of chunks, odd; of vectors as they lie */
    uint8_t k_major, aligned;
    uint8_t lanes_log2; /* threads that share a line */
} xg_single_stage_operand;

enum { XG_SINGLE_STAGE_THREADS = 256 /* of a CTA, at most */ };

typedef struct {
    xg_typed_args product;
    uint16_t tile_m, tile_n; /* of C, of a CTA */
    xg_single_stage_operand a, b;
    uint16_t c_at, c_pitch; /* of C's tile in shared memory; c_pitch: from row to row */
    uint8_t c_lanes;        /* log2 of the threads that share a row of C */
    uint8_t is_plain;       /* the epilogue is a product by alpha; */
    uint8_t is_direct;      /* and C has 16 bits and rows at multiples of 16 bytes */
} xg_half_single_stage_args;

/* half_reduce.cu: the tiles of C that were split, from the sums. */
typedef struct {
    int64_t m, n;
    const float *sums;
    void *c; /* or an array of pointers */
    int64_t c_stride_m, c_batch_stride;
    uint32_t splits, whole, split_tiles, tile_rows;
    uint32_t tile_m, tile_n; /* of a cluster */
    uint32_t rows, columns;  /* tiles of C */
    uint32_t ways;           /* threads of an element: thread i adds up splits i, i + ways, ... */
    uint32_t by_four;        /* store_four.h */
    xg_epilogue_args epilogue;
} xg_half_reduce_args;

#endif
