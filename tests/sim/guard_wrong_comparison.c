/* SPDX-License-Identifier: BSD-3-Clause */
/* A product whose check has > in place of >=: what it compares is the next lower number. */
#include "families/tensor/edge_strips.h"
#include "families/tensor/full_range.h"

#include "guard.h"

static float next_below_magnitude(float x)
{
    const float magnitude = fabsf(x);
    return magnitude > 0.0f ? xg_float_of(xg_bits_of(magnitude) - 1) : -1.0f;
}

#define fp16x3_128x64 fp16x3_wrong_comparison
#define fabsf(x)      next_below_magnitude(x)
#include "families/tensor/fp16x3_128x64.cu"
#undef fabsf
