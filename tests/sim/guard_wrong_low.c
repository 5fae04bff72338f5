/* SPDX-License-Identifier: BSD-3-Clause */
/* A split that does not take the largest small elements for small. */
#define XG_SMALL_EXPONENT(terms) ((terms) == 2 ? -14 : -15)
#define fp16_split               split_low_threshold
#include "families/tensor/fp16_split.cu"

#include "guard.h"
