/* SPDX-License-Identifier: BSD-3-Clause */
/* A product of doubles on tensor cores, tiles of 32 x 32: small products of a batch. */
#define KERNEL  dmma_f64_32x32
#define PARTS   1
#define TILE_M  32
#define TILE_N  32
#define WARPS_M 2
#define WARPS_N 2
#define STAGES  3
#define CTAS    8
#include "dmma.inc"
