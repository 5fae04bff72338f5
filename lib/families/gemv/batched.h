/* SPDX-License-Identifier: BSD-3-Clause */
/* The geometry of skinny_batched.inc, which batched.c needs, too. */
#ifndef XGEMM_KERNELS_GEMV_BATCHED_H
#define XGEMM_KERNELS_GEMV_BATCHED_H

#include "families/common/args.h"

enum {
    XG_BATCHED_SIDE = 4,       /* of C's other side, that a warp computes; or 1 */
    XG_BATCHED_WARPS_MOST = 4, /* of a CTA */
    XG_BATCHED_THREADS = 32 * XG_BATCHED_WARPS_MOST,
    XG_BATCHED_LARGE_K = 32 /* from which on an MN-major X is large beside C */
};

/* Elements of 16 bytes, and what else a thread has: rows of a K-major X, and k of an MN-major one
   that it loads at once. */
#define XG_BATCHED_VECTOR(element_bytes) (16 / (element_bytes))
#define XG_BATCHED_ROWS(element_bytes, side)                                                       \
    ((element_bytes) == 2 ? 4 : (side) == 1 ? 8 : (element_bytes) == 16 ? 2 : 4)
#define XG_BATCHED_DEPTH(element_bytes, side)                                                      \
    ((element_bytes) == 2 ? ((side) == 1 ? 4 : 2) : (side) == 1 ? 8 : 4)

/* Numbers that a thread sums, at most. */
#define XG_BATCHED_SUMS(element_bytes, parts, side)                                                \
    ((parts) * (side)*XG_BATCHED_LARGER(XG_BATCHED_ROWS(element_bytes, side),                      \
                                        XG_BATCHED_VECTOR(element_bytes)))
#define XG_BATCHED_LARGER(a, b) ((a) > (b) ? (a) : (b))

/*
 * The product. A warp's tile is "side" rows or columns of C, and on the other side as many elements
 * as its lanes have: 2^lanes_log2 lanes along X's contiguous dimension. "k_warps" warps of a CTA
 * have a part of k each.
 */
typedef struct {
    xg_typed_args product;
    uint32_t tiles, line_tiles; /* of C, and those along the long side */
    uint32_t tile_lines;
    uint8_t x_is_b;             /* X is B, its lines are columns of C; else A, and rows */
    uint8_t k_major;            /* X is */
    uint8_t x_vector, y_vector; /* by 16 bytes, a K-major Y beside X */
    uint8_t lanes_log2, k_warps;
} xg_batched_args;

#endif
