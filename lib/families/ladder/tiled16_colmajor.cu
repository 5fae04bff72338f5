/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tiled16-colmajor: a column-major B, read the slow way.
 *
 * Idea: the tiled kernel as it stands, given a B whose columns are contiguous
 * (transb = T in row order). Threads with consecutive threadIdx.x still take
 * consecutive columns of B, which now lie ldb elements apart: each fills a
 * sector of its own. A warp is two rows of the tile, which share sectors: 16 for
 * its load of B where 4 would do. corner_turned.cu differs in that load alone.
 * For a row-major B this is tiled16.
 * Traffic: 4 OP/B as asked by the threads; B costs 4 times that in sectors.
 * Source: seed text 004 (row R21).
 */
#define TILE        16
#define CORNER_TURN 0
#define KERNEL      xg_tiled16_colmajor
#include "tiled.inc"
#undef TILE
#undef CORNER_TURN
#undef KERNEL
