/* SPDX-License-Identifier: BSD-3-Clause */
/* A product of complex numbers of two floats on CUDA cores with few columns, tiles of 64 x 16. */
#define KERNEL  ffma_c32_64x16
#define TILE_M  64
#define TILE_N  16
#define WARPS_M 4
#define WARPS_N 1
#define STAGES  4
#define CTAS    4
#include "ffma.inc"
