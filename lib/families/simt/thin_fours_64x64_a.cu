/* SPDX-License-Identifier: BSD-3-Clause */
/* thin_fours_64x64_a: 64 × 64 tiles, A along k, as thin_fours.inc explains. */
#define KERNEL  xg_thin_fours_64x64_a
#define A_ALONG 1
#define B_ALONG 0
#include "thin_fours_64x64.h"
