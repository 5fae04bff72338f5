/* SPDX-License-Identifier: BSD-3-Clause */
/* A split that does not take the largest small elements for small. */
#define XG_SMALL_EXPONENT(parts) ((parts) == 2 ? -14 : -15)
#define xg_fp16_split            xg_split_low_threshold
#include "families/tensor/fp16_split.cu"

#include "guard.h"

XG_SIM_KERNEL(split_low_threshold)
