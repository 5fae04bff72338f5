/* SPDX-License-Identifier: BSD-3-Clause */
/* F16 operands on tensor cores, tiles of 64 x 64 whose k the warpgroups of a cluster share. */
#define KERNEL wgmma_sliced_f16_64x64
#define TYPE   "f16"
#define TILE_N 64
#define STAGES XG_HALF_STAGES_MOST
#define SPLIT_K
#define SLICED
#include "wgmma.inc"
