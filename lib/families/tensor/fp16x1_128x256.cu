/* SPDX-License-Identifier: BSD-3-Clause */
/* TF32's accuracy from FP16, tiles of 128 × 256, two blocks sharing what they read of B. */
#include "full_range.h"

#define KERNEL  xg_fp16x1_128x256
#define PARTS   1
#define WIDE    256
#define PANELS  1
#define CLUSTER 2
#define SLOTS_A 4
#define SLOTS_B 4
#define SPLITTERS 0
#include "fp16_product.inc"
