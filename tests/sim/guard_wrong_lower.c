/* SPDX-License-Identifier: BSD-3-Clause */
/* The same, by one binary order of magnitude more. */
#define XG_SMALL_EXPONENT(terms) ((terms) == 2 ? -15 : -16)
#define fp16_split               split_lower_threshold
#include "families/tensor/fp16_split.cu"

#include "guard.h"
