/* SPDX-License-Identifier: BSD-3-Clause */
/* The tiles of fp16x1_128x128.cu, for all products of a batch in one launch. */
#include "full_range.h"

#define KERNEL   fp16x1_128x128_batch
#define TERMS    1
#define PANEL_N  128
#define PANELS   1
#define CLUSTER  1
#define STAGES_A 6
#define STAGES_B 6
#define BATCHED  1
#include "product.inc"
