/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches of matrix times vector of C64 operands: skinny_batched.inc. */
#define KERNEL  skinny_batched1_c64
#define OPERAND XG_TYPE_C64
#define SIDE    1
#include "skinny_batched.inc"
