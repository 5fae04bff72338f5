/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rest: the tiles of C that the FP16 parts do not serve, in plain FP32, from A and B
 * themselves. Warpgroups of the product take pieces of them, 64 × 64 each, once they have no tile
 * of their own left, whichever block listed them.
 *
 * Nobody waits for a list to be complete. A warpgroup takes pieces while there are any, and a
 * block that has put tiles there takes them after it has: so the last one to do so finds all that
 * are left. Mostly the tiles are on the list long before the first block comes to its end.
 */
#ifndef XGEMM_KERNELS_FP16_REST_H
#define XGEMM_KERNELS_FP16_REST_H

#include "fp16_layout.h"
#include "ptx_sm90.h"

/* The second or third warpgroup of the block. Two instructions, as the number is a constant. */
XG_DEVICE void xg_warpgroup_sync(void)
{
    if (threadIdx.x < 256)
        xg_group_sync(2, 128);
    else
        xg_group_sync(3, 128);
}

#define KERNEL  xg_fp16_rest
#define BM      64
#define BN      64
#define WM      32
#define WN      32
#define TM      8
#define TN      4
#define ALIGNED 0
#define LISTED
#include "pipelined.inc"

enum {
    XG_REST_SIZE = 64, /* of a piece, each way */
    XG_REST_THREADS = 128,
    XG_REST_PIECES = XG_UNIT_LINES / XG_REST_SIZE,      /* of a tile, each way */
    XG_REST_BYTES = 4 * 16 * 2 * (XG_REST_SIZE + 4) * 4 /* four stages, see pipelined.inc */
};

/* The first row and column of a piece, which may lie past C's edges. */
typedef struct {
    int row, column; /* row -1: none */
} xg_rest_place;

/* A warpgroup; its shared memory is XG_REST_BYTES. */
XG_DEVICE void xg_rest_piece(const xg_args *p, xg_rest_place place, float *shared)
{
    if (place.row < p->m && place.column < p->n)
        xg_fp16_rest_any_tile(p, shared, place.row, place.column);
    xg_cp_async_wait(0); /* the zeros past the end of k, before the next piece is copied there */
}

#endif
