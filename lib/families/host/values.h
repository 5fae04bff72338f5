/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements of any type as the host computes with them, and the epilogue of its functions. */
#ifndef XGEMM_HOST_VALUES_H
#define XGEMM_HOST_VALUES_H

#include "families/common/args.h"

/* FP16 and BF16 from their bits, and rounded to: to nearest, ties to even. */
float xg_host_float_of_f16(uint16_t bits);
float xg_host_float_of_bf16(uint16_t bits);
uint16_t xg_host_f16_of(double x);
uint16_t xg_host_bf16_of(double x);

/* Real number "at" of memory of a type, of which a complex element has two. */
double xg_host_load(const void *from, int64_t at, int type);
void xg_host_store(void *to, int64_t at, int type, double x);

/* The argument with the scalars that are elsewhere put in place. */
xg_typed_args xg_host_with_scalars(const xg_typed_args *p);

/*
 * C = activation(alpha * sum + beta * C + bias) for an element, in double; of a real product the
 * sum's second part is not looked at. The scalars are in place.
 */
void xg_host_store_element(const xg_typed_args *p, int64_t row, int64_t column,
                           const double sum[2]);

#endif
