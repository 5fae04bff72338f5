/* SPDX-License-Identifier: BSD-3-Clause */
/* pipelined_64x128: 64 × 128 tiles, as pipelined.inc explains; for aligned operands. */
#define KERNEL  xg_pipelined_64x128
#define BM      64
#define BN      128
#define WM      32
#define WN      64
#define TM      8
#define TN      8
#define BLOCKS  4
#define GROUP   32
#define ALIGNED 1
#define PAIRED
#include "pipelined.inc"
