/* SPDX-License-Identifier: BSD-3-Clause */
/* thin_fours_64x64: 64 × 64 tiles, both operands across k, as thin_fours.inc explains. */
#define KERNEL  xg_thin_fours_64x64
#define A_ALONG 0
#define B_ALONG 0
#include "thin_fours_64x64.h"
