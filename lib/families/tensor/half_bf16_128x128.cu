/* SPDX-License-Identifier: BSD-3-Clause */
/* BF16 operands on tensor cores, tiles of 128 x 128. */
#define KERNEL  half_bf16_128x128
#define WGMMA   xg_wgmma_bf16_64x128x16
#define TILE_N  128
#define CLUSTER 1
#define STAGES  6
#include "half.inc"
