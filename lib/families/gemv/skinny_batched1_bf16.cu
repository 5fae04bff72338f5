/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches of matrix times vector of BF16 operands: skinny_batched.inc. */
#define KERNEL  skinny_batched1_bf16
#define OPERAND XG_TYPE_BF16
#define SIDE    1
#include "skinny_batched.inc"
