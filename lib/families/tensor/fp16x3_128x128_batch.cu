/* SPDX-License-Identifier: BSD-3-Clause */
/* The tiles of fp16x3_128x128.cu, for all products of a batch in one launch. */
#include "full_range.h"

#define KERNEL   fp16x3_128x128_batch
#define TERMS    2
#define PANEL_N  128
#define PANELS   1
#define CLUSTER  1
#define STAGES_A 3
#define STAGES_B 3
#define BATCHED  1
#include "product.inc"
