/* SPDX-License-Identifier: BSD-3-Clause */
/* The tiles of fp16x3_128x256.cu, for all products of a batch in one launch. */
#include "full_range.h"

#define KERNEL   fp16x3_128x256_batch
#define TERMS    2
#define PANEL_N  128
#define PANELS   2
#define CLUSTER  2
#define STAGES_A 3
#define STAGES_B 4
#define BATCHED  1
#include "product.inc"
