/* SPDX-License-Identifier: BSD-3-Clause */
/* BF16 operands on tensor cores, ragged groups, tiles of 128 x 256. */
#define KERNEL wgmma_ragged_bf16_128x256
#define RAGGED
#define TYPE   "bf16"
#define TILE_N 256
#define STAGES 4
#include "wgmma.inc"
