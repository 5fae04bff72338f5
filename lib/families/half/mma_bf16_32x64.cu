/* SPDX-License-Identifier: BSD-3-Clause */
/* BF16 operands on tensor cores by mma.sync, tiles of 32 x 64. */
#define KERNEL  mma_bf16_32x64
#define TYPE    "bf16"
#define TILE_M  32
#define TILE_N  64
#define TILE_K  64
#define WARPS_M 2
#define WARPS_N 2
#define STAGES  4
#define CTAS    4
#include "mma.inc"
