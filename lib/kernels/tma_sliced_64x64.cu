/* SPDX-License-Identifier: BSD-3-Clause */
/* tma_sliced_64x64: 64 × 64 tiles by eight slices of k, as tma.inc explains. */
#define KERNEL xg_tma_sliced_64x64
#define BM     64
#define BN     64
#define WM     32
#define WN     64
#define TM     8
#define TN     8
#define SLICES 8
#define BLOCKS 1
#define GROUP  16
#define BK     16
#define STAGES 3
#include "tma.inc"
