/* SPDX-License-Identifier: BSD-3-Clause */
/* sliced_64x16: 64 × 16 tiles, as sliced.inc explains. */
#define KERNEL xg_sliced_64x16
#define BM     64
#define BN     16
#define WM     64
#define WN     16
#define TM     8
#define TN     4
#define SLICES 8
#define DEPTH  8
#define STAGES 4
#define BLOCKS 2
#define GROUP  16
#define ALONG_K
#define PAIRED
#include "sliced.inc"
