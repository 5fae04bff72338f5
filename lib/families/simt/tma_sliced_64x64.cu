/* SPDX-License-Identifier: BSD-3-Clause */
/* tma_sliced_64x64: 64 × 64 tiles by eight slices of k, as tma.inc explains. */
#define KERNEL xg_tma_sliced_64x64
#define STAGES 3
#include "tma_sliced_64x64.h"
