/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tiled16: shared-memory tiles of 16 × 16, as tiled.inc explains.
 *
 * Traffic: 4 OP/B.
 * Source: seed texts 001 and 003 (row R7).
 */
#define TILE        16
#define CORNER_TURN 0
#define KERNEL      xg_tiled16
#include "tiled.inc"
#undef TILE
#undef CORNER_TURN
#undef KERNEL
