/* SPDX-License-Identifier: BSD-3-Clause */
/* tma_sliced_64x64_a: the same, A along k, as tma_along.inc explains. */
#define KERNEL xg_tma_sliced_64x64_a
#define A_ALONG
#include "tma_sliced_64x64.h"
