/* SPDX-License-Identifier: BSD-3-Clause */
/* BF16 operands on tensor cores, k split within clusters, tiles of 128 x 128. */
#define KERNEL wgmma_split_k_bf16_128x128
#define SPLIT_K
#define TYPE   "bf16"
#define TILE_N 128
#define STAGES 6
#include "wgmma.inc"
