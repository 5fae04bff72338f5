/* SPDX-License-Identifier: BSD-3-Clause */
/* TF32's accuracy from FP16, tiles of 128 × 256, clusters of two CTAs that share B. */
#include "full_range.h"

#define KERNEL                 fp16x1_128x256
#define TERMS                  1
#define PANEL_N                256
#define PANELS                 1
#define CLUSTER                2
#define STAGES_A               4
#define STAGES_B               4
#include "product.inc"
