/* SPDX-License-Identifier: BSD-3-Clause */
/* sliced_96x64: 96 × 64 tiles, as sliced.inc explains. */
#define KERNEL xg_sliced_96x64
#define BM     96
#define BN     64
#define WM     96
#define WN     32
#define TM     12
#define TN     8
#define SLICES 6
#define DEPTH  16
#define STAGES 3
#define BLOCKS 1
#define GROUP  16
#include "sliced.inc"
