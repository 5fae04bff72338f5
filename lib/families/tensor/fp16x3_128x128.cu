/* SPDX-License-Identifier: BSD-3-Clause */
/* FP32 from three FP16 products, tiles of 128 × 128. */
#include "full_range.h"

#define KERNEL  xg_fp16x3_128x128
#define PARTS   2
#define WIDE    128
#define PANELS  1
#define CLUSTER 1
#define SLOTS_A 3
#define SLOTS_B 3
#define SPLITTERS 0
#include "fp16_product.inc"
