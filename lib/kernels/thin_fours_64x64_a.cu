/* SPDX-License-Identifier: BSD-3-Clause */
/* thin_fours_64x64_a: 64 × 64 tiles, as thin_fours.inc explains. */
#define KERNEL  xg_thin_fours_64x64_a
#define BM      64
#define BN      64
#define THREADS 64
#define BLOCKS  8
#define BK      16
#define STAGES  3
#define A_ALONG 1
#define B_ALONG 0
#include "thin_fours.inc"
