/* SPDX-License-Identifier: BSD-3-Clause */
/* FP32 from three FP16 products, tiles of 128 × 64. */
#include "full_range.h"

#define KERNEL  xg_fp16x3_128x64
#define PARTS   2
#define WIDE    64
#define PANELS  1
#define CLUSTER 1
#define SLOTS_A 4
#define SLOTS_B 4
#define SPLITTERS 0
#include "fp16_product.inc"
