/* SPDX-License-Identifier: BSD-3-Clause */
/* sliced_32x32: 32 × 32 tiles, as sliced.inc explains. */
#define KERNEL xg_sliced_32x32
#define BM     32
#define BN     32
#define WM     32
#define WN     32
#define TM     8
#define TN     4
#define SLICES 4
#define DEPTH  8
#define STAGES 4
#define BLOCKS 4
#define GROUP  16
#define ALONG_K
#define PAIRED
#include "sliced.inc"
