/* SPDX-License-Identifier: BSD-3-Clause */
/* F16 operands on tensor cores by mma.sync, tiles of 128 x 128. */
#define KERNEL  mma_f16_128x128
#define TYPE    "f16"
#define TILE_M  128
#define TILE_N  128
#define TILE_K  32
#define WARPS_M 2
#define WARPS_N 2
#define STAGES  4
#define CTAS    2
#include "mma.inc"
