/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches of skinny products of C32 operands, by four rows or columns of C: skinny_batched.inc. */
#define KERNEL  skinny_batched4_c32
#define OPERAND XG_TYPE_C32
#define SIDE    4
#include "skinny_batched.inc"
