/* SPDX-License-Identifier: BSD-3-Clause */
/* TF32's accuracy from FP16, tiles of 128 × 128. */
#include "full_range.h"

#define KERNEL                 fp16x1_128x128
#define TERMS                  1
#define PANEL_N                128
#define PANELS                 1
#define CLUSTER                1
#define STAGES_A               6
#define STAGES_B               6
#include "product.inc"
