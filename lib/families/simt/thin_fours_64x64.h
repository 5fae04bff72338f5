/* SPDX-License-Identifier: BSD-3-Clause */
/* What the four programs of thin-fours-64x64 share, which set KERNEL, A_ALONG and B_ALONG. */
#define BM      64
#define BN      64
#define THREADS 64
#define BLOCKS  8
#define BK      16
#define STAGES  3
#include "thin_fours.inc"
