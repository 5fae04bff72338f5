/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of products of double and complex numbers, and of the reduction after them. */
#ifndef XGEMM_DOUBLE_ARGS_H
#define XGEMM_DOUBLE_ARGS_H

#include "families/common/args.h"

/*
 * The product. Tiles are counted in the order of the rasterization: "whole" of them are computed
 * whole, and the split tiles that follow in "splits" parts of k each, k_per_split long, whose sums
 * go to "sums": for each product, split and tile, tile_m rows of tile_n elements. The grid's x is
 * the whole tiles, then the first part of each other one, and so on.
 */
typedef struct {
    xg_typed_args product;
    void *sums;
    int64_t k_per_split;
    uint32_t whole, split_tiles, splits;
    uint32_t c_is_aligned; /* every row of C, and its end, to 16 bytes */
    const void *ratios;    /* of a fallback: it computes where these allow no residues (residue/) */
} xg_double_args;

/* double_reduce.inc: the tiles of C that were split, from the sums. */
typedef struct {
    int64_t m, n;
    const void *sums;
    void *c; /* or an array of pointers */
    int64_t c_stride_m, c_batch_stride;
    uint32_t splits, whole, split_tiles;
    uint32_t tile_m, tile_n;
    uint32_t rows, columns; /* tiles of C */
    uint32_t ways;          /* threads of an element: thread i adds up splits i, i + ways, ... */
    xg_epilogue_args epilogue;
} xg_double_reduce_args;

/* Rows of tiles in a rasterization group. */
#define XG_DOUBLE_RASTER(tile_m) (1024u / (tile_m))

#endif
