/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * corner-turned: a column-major B, read along its columns.
 *
 * Idea: the threads of a half-warp walk down a column of B, where a
 * column-major B is contiguous, and each puts its element at the transposed
 * place of the tile in shared memory, which does not mind. The tile has two
 * columns more than it uses, so that the transposed stores fall into different
 * banks. Only the load of B differs from tiled16; for a row-major B it is the
 * wrong way round.
 * Traffic: 4 OP/B, in full sectors.
 * Source: seed text 004 (row R21, corner turning).
 */
#define TILE        16
#define CORNER_TURN 1
#define KERNEL      xg_corner_turned
#include "tiled.inc"
#undef TILE
#undef CORNER_TURN
#undef KERNEL
