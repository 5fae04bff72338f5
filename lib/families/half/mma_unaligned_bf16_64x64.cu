/* SPDX-License-Identifier: BSD-3-Clause */
/* BF16 operands whose lines begin anywhere, by mma.sync, tiles of 64 x 64. */
#define UNALIGNED
#define KERNEL  mma_unaligned_bf16_64x64
#define TYPE    "bf16"
#define TILE_M  64
#define TILE_N  64
#define TILE_K  64
#define WARPS_M 4
#define WARPS_N 2
#define STAGES  3
#define CTAS    2
#include "mma.inc"
