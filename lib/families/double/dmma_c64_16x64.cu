/* SPDX-License-Identifier: BSD-3-Clause */
/* A product of complex numbers of two doubles on tensor cores with few rows, tiles of 16 x 64. */
#define KERNEL  dmma_c64_16x64
#define PARTS   2
#define TILE_M  16
#define TILE_N  64
#define WARPS_M 1
#define WARPS_N 4
#define STAGES  4
#define CTAS    4
#include "dmma.inc"
