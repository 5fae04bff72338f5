/* SPDX-License-Identifier: BSD-3-Clause */
/* BF16 operands on tensor cores, k split within clusters, tiles of 128 x 64. */
#define KERNEL wgmma_split_k_bf16_128x64
#define SPLIT_K
#define TYPE   "bf16"
#define TILE_N 64
#define STAGES XG_HALF_STAGES_MOST
#include "wgmma.inc"
