/* SPDX-License-Identifier: BSD-3-Clause */
/* thin_vec4_64x64: 64 × 64 tiles, both operands MN-major, as thin_vec4.inc explains. */
#define KERNEL    thin_vec4_64x64
#define A_K_MAJOR 0
#define B_K_MAJOR 0
#include "thin_vec4_64x64.h"
