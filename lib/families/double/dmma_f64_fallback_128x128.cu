/* SPDX-License-Identifier: BSD-3-Clause */
/* The fallback of products of doubles by residues: on tensor cores, tiles of 128 x 128. */
#define KERNEL   dmma_f64_fallback_128x128
#define FALLBACK 1
#define PARTS    1
#define TILE_M   128
#define TILE_N   128
#define WARPS_M  2
#define WARPS_N  4
#define STAGES   4
#define CTAS     1
#include "dmma.inc"
