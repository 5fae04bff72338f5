/* SPDX-License-Identifier: BSD-3-Clause */
/* sliced_32x64: 32 × 64 tiles, as sliced.inc explains. */
#define KERNEL xg_sliced_32x64
#define BM     32
#define BN     64
#define WM     32
#define WN     64
#define TM     8
#define TN     8
#define SLICES 4
#define DEPTH  8
#define STAGES 4
#define BLOCKS 4
#define GROUP  16
#define WAIT_FIRST
#define KEEPS_THREAD
#define PAIRED
#include "sliced.inc"
