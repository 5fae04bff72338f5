/* SPDX-License-Identifier: BSD-3-Clause */
/* thin_fours_64x64_b: 64 × 64 tiles, B along k, as thin_fours.inc explains. */
#define KERNEL  xg_thin_fours_64x64_b
#define A_ALONG 0
#define B_ALONG 1
#include "thin_fours_64x64.h"
