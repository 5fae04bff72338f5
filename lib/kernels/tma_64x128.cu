/* SPDX-License-Identifier: BSD-3-Clause */
/* tma_64x128: 64 × 128 tiles that the copy engine brings, as tma.inc explains. */
#define KERNEL xg_tma_64x128
#define BM     64
#define BN     128
#define WM     32
#define WN     64
#define TM     8
#define TN     8
#define BLOCKS 4
#define GROUP  16
#define BK     32
#define STAGES 2
#include "tma.inc"
