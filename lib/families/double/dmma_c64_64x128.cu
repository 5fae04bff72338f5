/* SPDX-License-Identifier: BSD-3-Clause */
/* A product of complex numbers of two doubles on tensor cores, tiles of 64 x 128. */
#define KERNEL  dmma_c64_64x128
#define PARTS   2
#define TILE_M  64
#define TILE_N  128
#define WARPS_M 2
#define WARPS_N 4
#define STAGES  4
#define CTAS    1
#include "dmma.inc"
