/* SPDX-License-Identifier: BSD-3-Clause */
/* Small products of F16 operands. */
#define KERNEL half_single_stage_f16
#define TYPE   "f16"
#include "half_single_stage.inc"
