/* SPDX-License-Identifier: BSD-3-Clause */
/* The tiles of fp16x3_128x64.cu, for all products of a batch in one launch. */
#include "full_range.h"

#define KERNEL   fp16x3_128x64_batch
#define TERMS    2
#define PANEL_N  64
#define PANELS   1
#define CLUSTER  1
#define STAGES_A 4
#define STAGES_B 4
#define BATCHED  1
#include "product.inc"
