/* SPDX-License-Identifier: BSD-3-Clause */
/* Small products of BF16 operands. */
#define KERNEL half_single_stage_bf16
#define TYPE   "bf16"
#include "half_single_stage.inc"
