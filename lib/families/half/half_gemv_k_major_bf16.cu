/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMV of BF16 operands with a K-major matrix. */
#define KERNEL    half_gemv_k_major_bf16
#define OPERAND   XG_TYPE_BF16
#define X_K_MAJOR 1
#include "half_gemv.inc"
