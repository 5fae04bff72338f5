/* SPDX-License-Identifier: BSD-3-Clause */
/* The tiles of fp16x1_128x256.cu, for all products of a batch in one launch. */
#include "full_range.h"

#define KERNEL   fp16x1_128x256_batch
#define TERMS    1
#define PANEL_N  256
#define PANELS   1
#define CLUSTER  2
#define STAGES_A 4
#define STAGES_B 4
#define BATCHED  1
#include "product.inc"
