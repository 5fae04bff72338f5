/* SPDX-License-Identifier: BSD-3-Clause */
/* A product of double on tensor cores, tiles of 32 x 64. */
#define KERNEL  dmma_f64_32x64
#define PARTS   1
#define TILE_M  32
#define TILE_N  64
#define WARPS_M 2
#define WARPS_N 2
#define STAGES  4
#define CTAS    3
#include "dmma.inc"
