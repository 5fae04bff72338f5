/* SPDX-License-Identifier: BSD-3-Clause */
/* FP32 from three FP16 products, tiles of 128 × 256, clusters of two CTAs that share B. */
#include "full_range.h"

#define KERNEL                 fp16x3_128x256
#define TERMS                  2
#define PANEL_N                128
#define PANELS                 2
#define CLUSTER                2
#define STAGES_A               3
#define STAGES_B               4
#include "product.inc"
