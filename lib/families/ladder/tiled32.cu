/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tiled32: shared-memory tiles of 32 × 32, as tiled.inc explains.
 *
 * Traffic: 8 OP/B.
 * Source: seed texts 001 and 003 (row R7).
 */
#define TILE        32
#define CORNER_TURN 0
#define KERNEL      xg_tiled32
#include "tiled.inc"
#undef TILE
#undef CORNER_TURN
#undef KERNEL
