/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches of skinny products of C64 operands, by four rows or columns of C: skinny_batched.inc. */
#define KERNEL  skinny_batched4_c64
#define OPERAND XG_TYPE_C64
#define SIDE    4
#include "skinny_batched.inc"
