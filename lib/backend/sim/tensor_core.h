/* SPDX-License-Identifier: BSD-3-Clause */
/* The arithmetic of tensor cores, for the models of the instructions that use it. */
#ifndef XGEMM_SIM_TENSOR_CORE_H
#define XGEMM_SIM_TENSOR_CORE_H

#include <stdint.h>

/* d (64 × columns, row-major) + a (64 × 16) * b (16 × columns), rounded as the card does. */
void xg_tensor_core_multiply(float *d, const float *a, const float *b, int columns);

/* The same of signed bytes: a 64 × 32, b columns × 32; sums are exact, and wrap around. */
void xg_tensor_core_multiply_s8(int32_t *d, const int8_t *a, const int8_t *b, int columns);

/* The same of four accumulators, each with 16 factors a and b of its own. */
void xg_tensor_core_multiply_warp(float d[4], const float a[16][4], const float b[16][4]);

#endif
