/* SPDX-License-Identifier: BSD-3-Clause */
/* The fallback of products of complex numbers by residues: on tensor cores, tiles of 64 x 128. */
#define KERNEL   dmma_c64_fallback_64x128
#define FALLBACK 1
#define PARTS    2
#define TILE_M   64
#define TILE_N   128
#define WARPS_M  2
#define WARPS_N  4
#define STAGES   4
#define CTAS     1
#include "dmma.inc"
