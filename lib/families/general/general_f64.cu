/* SPDX-License-Identifier: BSD-3-Clause */
/* The general kernel for operands of double. */
#define KERNEL  general_f64
#define OPERAND XG_TYPE_F64
#define REAL    double
#define PARTS   1
#define TILE_K  16
#include "general.inc"
