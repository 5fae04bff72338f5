/* SPDX-License-Identifier: BSD-3-Clause */
/* The general kernel for operands of complex numbers of two floats. */
#define KERNEL  general_c32
#define OPERAND XG_TYPE_C32
#define REAL    float
#define PARTS   2
#define TILE_K  16
#include "general.inc"
