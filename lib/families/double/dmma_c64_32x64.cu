/* SPDX-License-Identifier: BSD-3-Clause */
/* A product of complex numbers of two doubles on tensor cores, tiles of 32 x 64. */
#define KERNEL  dmma_c64_32x64
#define PARTS   2
#define TILE_M  32
#define TILE_N  64
#define WARPS_M 2
#define WARPS_N 2
#define STAGES  4
#define CTAS    2
#include "dmma.inc"
