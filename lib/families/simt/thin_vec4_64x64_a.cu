/* SPDX-License-Identifier: BSD-3-Clause */
/* thin_vec4_64x64_a: 64 × 64 tiles, A K-major, as thin_vec4.inc explains. */
#define KERNEL    thin_vec4_64x64_a
#define A_K_MAJOR 1
#define B_K_MAJOR 0
#include "thin_vec4_64x64.h"
