/* SPDX-License-Identifier: BSD-3-Clause */
/* A product of double on tensor cores, tiles of 64 x 64. */
#define KERNEL  dmma_f64_64x64
#define PARTS   1
#define TILE_M  64
#define TILE_N  64
#define WARPS_M 2
#define WARPS_N 2
#define STAGES  4
#define CTAS    2
#include "dmma.inc"
