/* SPDX-License-Identifier: BSD-3-Clause */
/* A product of complex numbers of two floats on CUDA cores, tiles of 64 x 128. */
#define KERNEL  ffma_c32_64x128
#define TILE_M  64
#define TILE_N  128
#define WARPS_M 2
#define WARPS_N 2
#define STAGES  4
#define CTAS    2
#include "ffma.inc"
