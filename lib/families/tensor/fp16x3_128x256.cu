/* SPDX-License-Identifier: BSD-3-Clause */
/* FP32 from three FP16 products, tiles of 128 × 256, two blocks sharing what they read of B. */
#include "full_range.h"

#define KERNEL  xg_fp16x3_128x256
#define PARTS   2
#define WIDE    128
#define PANELS  2
#define CLUSTER 2
#define SLOTS_A 3
#define SLOTS_B 4
#define SPLITTERS 128
#include "fp16_product.inc"
