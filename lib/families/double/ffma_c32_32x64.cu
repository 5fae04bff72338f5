/* SPDX-License-Identifier: BSD-3-Clause */
/* A product of complex numbers of two floats on CUDA cores, tiles of 32 x 64. */
#define KERNEL  ffma_c32_32x64
#define TILE_M  32
#define TILE_N  64
#define WARPS_M 2
#define WARPS_N 2
#define STAGES  4
#define CTAS    3
#include "ffma.inc"
