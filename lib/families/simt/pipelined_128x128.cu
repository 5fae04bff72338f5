/* SPDX-License-Identifier: BSD-3-Clause */
/* pipelined_128x128: 128 × 128 tiles, as pipelined.inc explains; for aligned operands. */
#define KERNEL  xg_pipelined_128x128
#define BM      128
#define BN      128
#define WM      32
#define WN      64
#define TM      8
#define TN      8
#define BLOCKS  2
#define GROUP   16
#define ALIGNED 1
#include "pipelined.inc"
