/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * corner-turned: a column-major B, read along its columns.
 *
 * Idea: the threads of a half-warp load consecutive elements of a column of B, which are contiguous
 * in a column-major B, and store them transposed into the tile in shared memory, where strided
 * accesses cost nothing without bank conflicts. The tile's rows are padded by two elements, so that
 * the transposed stores fall into different banks. Only the load of B differs from tiled16; for a
 * row-major B it is the uncoalesced one.
 * Traffic: 4 OP/B, in full sectors.
 * Source: Programming Massively Parallel Processors, 4th edition, section 6.1 (corner turning)
 * and exercise 1 of chapter 6.
 */
#define TILE        16
#define CORNER_TURN 1
#define KERNEL      corner_turned
#include "tiled.inc"
