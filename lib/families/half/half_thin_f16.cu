/* SPDX-License-Identifier: BSD-3-Clause */
/* Thin products of F16 operands. */
#define KERNEL half_thin_f16
#define TYPE   "f16"
#include "half_thin.inc"
