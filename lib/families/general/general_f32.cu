/* SPDX-License-Identifier: BSD-3-Clause */
/* The general kernel for operands of float. */
#define KERNEL  general_f32
#define OPERAND 1
#define REAL    float
#define PARTS   1
#define TILE_K  16
#include "general.inc"
