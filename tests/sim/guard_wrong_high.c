/* SPDX-License-Identifier: BSD-3-Clause */
/* A split that takes elements for small which the terms hold well. */
#define XG_SMALL_EXPONENT(terms) ((terms) == 2 ? -12 : -13)
#define fp16_split               split_high_threshold
#include "families/tensor/fp16_split.cu"

#include "guard.h"
