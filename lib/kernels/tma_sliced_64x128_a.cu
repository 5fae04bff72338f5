/* SPDX-License-Identifier: BSD-3-Clause */
/* tma_sliced_64x128_a: 64 × 128 tiles by four slices of k, A along k, as tma_along.inc explains. */
#define KERNEL xg_tma_sliced_64x128_a
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
#define A_ALONG
#include "tma.inc"
