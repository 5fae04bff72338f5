/* SPDX-License-Identifier: BSD-3-Clause */
/* tma_sliced_64x64: 64 × 64 tiles, sliced-K by eight, as tma.inc explains. */
#define KERNEL tma_sliced_64x64
#define STAGES 3
#include "tma_sliced_64x64.h"
