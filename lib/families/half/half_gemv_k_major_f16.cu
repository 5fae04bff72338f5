/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMV of F16 operands with a K-major matrix. */
#define KERNEL    half_gemv_k_major_f16
#define OPERAND   XG_TYPE_F16
#define X_K_MAJOR 1
#include "half_gemv.inc"
