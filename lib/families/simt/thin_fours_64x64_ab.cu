/* SPDX-License-Identifier: BSD-3-Clause */
/* thin_fours_64x64_ab: 64 × 64 tiles, both operands along k, as thin_fours.inc explains. */
#define KERNEL  xg_thin_fours_64x64_ab
#define A_ALONG 1
#define B_ALONG 1
#include "thin_fours_64x64.h"
