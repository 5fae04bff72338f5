/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMV of BF16 operands with an MN-major matrix. */
#define KERNEL    half_gemv_mn_major_bf16
#define OPERAND   XG_TYPE_BF16
#define X_K_MAJOR 0
#include "half_gemv.inc"
