/* SPDX-License-Identifier: BSD-3-Clause */
/* FP32 from three FP16 products, tiles of 128 × 128. */
#include "full_range.h"

#define KERNEL                 fp16x3_128x128
#define TERMS                  2
#define PANEL_N                128
#define PANELS                 1
#define CLUSTER                1
#define STAGES_A               3
#define STAGES_B               3
#include "product.inc"
