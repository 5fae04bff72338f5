/* SPDX-License-Identifier: BSD-3-Clause */
/* TF32's accuracy from FP16, tiles of 128 × 128. */
#include "full_range.h"

#define KERNEL  xg_fp16x1_128x128
#define PARTS   1
#define WIDE    128
#define PANELS  1
#define CLUSTER 1
#define SLOTS_A 6
#define SLOTS_B 6
#define SPLITTERS 0
#include "fp16_product.inc"
