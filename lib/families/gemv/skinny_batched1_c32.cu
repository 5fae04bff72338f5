/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches of matrix times vector of C32 operands: skinny_batched.inc. */
#define KERNEL  skinny_batched1_c32
#define OPERAND XG_TYPE_C32
#define SIDE    1
#include "skinny_batched.inc"
