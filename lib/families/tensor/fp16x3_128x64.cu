/* SPDX-License-Identifier: BSD-3-Clause */
/* FP32 from three FP16 products, tiles of 128 × 64. */
#include "full_range.h"

#define KERNEL                 fp16x3_128x64
#define TERMS                  2
#define PANEL_N                64
#define PANELS                 1
#define CLUSTER                1
#define STAGES_A               4
#define STAGES_B               4
#include "product.inc"
