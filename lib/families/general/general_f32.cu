/* SPDX-License-Identifier: BSD-3-Clause */
/* The general kernel for operands of float. */
#define KERNEL  general_f32
#define OPERAND XG_TYPE_F32
#define REAL    float
#define PARTS   1
#define TILE_K  16
#include "general.inc"
