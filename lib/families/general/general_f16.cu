/* SPDX-License-Identifier: BSD-3-Clause */
/* The general kernel for operands of FP16, with FP32 products and sums. */
#define KERNEL  general_f16
#define OPERAND XG_TYPE_F16
#define REAL    float
#define PARTS   1
#define TILE_K  16
#include "general.inc"
