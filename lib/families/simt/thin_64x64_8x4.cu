/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thin_64x64_8x4: 64 × 64 tiles by twice the threads, as thin.inc explains: where the tiles are too
 * few to fill the multiprocessors, more warps hide more of what each waits for.
 */
#define KERNEL  xg_thin_64x64_8x4
#define BM      64
#define BN      64
#define THREADS 128
#define ROWS    8
#define BLOCKS  5
#include "thin.inc"
