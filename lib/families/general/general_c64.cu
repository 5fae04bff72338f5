/* SPDX-License-Identifier: BSD-3-Clause */
/* The general kernel for operands of complex numbers of two doubles. */
#define KERNEL  general_c64
#define OPERAND XG_TYPE_C64
#define REAL    double
#define PARTS   2
#define TILE_K  8
#include "general.inc"
