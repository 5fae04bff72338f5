/* SPDX-License-Identifier: BSD-3-Clause */
/* Thin products of BF16 operands. */
#define KERNEL half_thin_bf16
#define TYPE   "bf16"
#include "half_thin.inc"
