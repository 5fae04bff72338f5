/* SPDX-License-Identifier: BSD-3-Clause */
/* Floating-point operations of the host's instructions. */
#ifndef XGEMM_SOURCE_OPERATIONS_H
#define XGEMM_SOURCE_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>

/* The instruction's operations: in FP32, or in FP64 (*is_double). */
int xg_flops_of(const char *mnemonic, size_t length, const char *operands, bool *is_double);

/* Of a call of the C library: fmaf() is two operations, any other function one. */
int xg_flops_of_call(const char *name, size_t length, bool *is_double);

#endif
