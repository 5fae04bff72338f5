/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tiled16-colmajor: a column-major B, loaded uncoalesced.
 *
 * Idea: tiled16 unchanged, given a B whose columns are contiguous (transb = T in row order).
 * Threads with consecutive threadIdx.x still load consecutive columns of B, which are ldb elements
 * apart: a sector for each. A warp loads two rows of the tile, which share sectors: 16 for its load
 * of B where 4 would do. corner_turned.cu differs in that load alone. For a row-major B this is
 * tiled16.
 * Traffic: threads request 4 OP/B; B costs 4 times that in sectors.
 * Source: Programming Massively Parallel Processors, 4th edition, section 6.1: a column-major
 * second operand.
 */
#define TILE        16
#define CORNER_TURN 0
#define KERNEL      tiled16_colmajor
#include "tiled.inc"
