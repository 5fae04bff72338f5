/* SPDX-License-Identifier: BSD-3-Clause */
/* tma_sliced_64x128: 64 × 128 tiles, sliced-K by four, as tma.inc explains. */
#define KERNEL tma_sliced_64x128
#define STAGES 3
#include "tma_sliced_64x128.h"
