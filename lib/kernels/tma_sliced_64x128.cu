/* SPDX-License-Identifier: BSD-3-Clause */
/* tma_sliced_64x128: 64 × 128 tiles by four slices of k, as tma.inc explains. */
#define KERNEL xg_tma_sliced_64x128
#define BM     64
#define BN     128
#define WM     32
#define WN     64
#define TM     8
#define TN     8
#define SLICES 4
#define BLOCKS 1
#define GROUP  16
#define BK     24
#define STAGES 3
#include "tma.inc"
