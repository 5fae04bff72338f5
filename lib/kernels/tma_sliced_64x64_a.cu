/* SPDX-License-Identifier: BSD-3-Clause */
/* tma_sliced_64x64_a: 64 × 64 tiles by eight slices of k, A along k, as tma_along.inc explains. */
#define KERNEL xg_tma_sliced_64x64_a
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
#define A_ALONG
#include "tma.inc"
