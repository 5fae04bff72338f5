/* SPDX-License-Identifier: BSD-3-Clause */
/* fp16_rest: the tiles that the FP16 parts do not serve, in plain FP32, 64 × 128 at a time. */
#include "fp16_layout.h"
#include "ptx_sm90.h"

#define KERNEL  xg_fp16_rest
#define BM      64
#define BN      128
#define WM      32
#define WN      64
#define TM      8
#define TN      8
#define BLOCKS  2
#define GROUP   16
#define ALIGNED 0
#define LISTED
#include "pipelined.inc"
