/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two programs of tma-sliced-64x128 share, which set KERNEL, and STAGES or A_ALONG. */
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
#include "tma.inc"
