/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMV of F16 operands with an MN-major matrix. */
#define KERNEL    half_gemv_mn_major_f16
#define OPERAND   XG_TYPE_F16
#define X_K_MAJOR 0
#include "half_gemv.inc"
