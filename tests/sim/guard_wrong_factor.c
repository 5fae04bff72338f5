/* SPDX-License-Identifier: BSD-3-Clause */
/* A split whose statistics allow 2^4 times what the guard's proof does. */
#define XG_GUARD_FACTOR(terms) ((terms) == 2 ? 0x1p-17f : 0x1p-16f)
#define fp16_split             split_wrong_factor
#include "families/tensor/fp16_split.cu"

#include "guard.h"
