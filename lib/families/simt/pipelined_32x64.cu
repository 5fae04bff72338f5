/* SPDX-License-Identifier: BSD-3-Clause */
/* pipelined_32x64: 32 × 64 tiles, as pipelined.inc explains; for aligned operands. */
#define KERNEL  xg_pipelined_32x64
#define BM      32
#define BN      64
#define WM      16
#define WN      32
#define TM      4
#define TN      4
#define BLOCKS  8
#define GROUP   32
#define ALIGNED 1
#define PAIRED
#include "pipelined.inc"
