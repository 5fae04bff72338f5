/* SPDX-License-Identifier: BSD-3-Clause */
/* The second half of checking.h: what a product has computed, element by element. */
#ifndef XGEMM_BIN_CHECKING_COMPARE_H
#define XGEMM_BIN_CHECKING_COMPARE_H

#include "checking.h"

/* A, B and C as the product found them, the bias, and C as it left it, all in host memory. */
typedef struct {
    const void *a, *b, *c_before, *bias;
    const void *c_after;
} checked_memory;

/*
 * Compares all of C with the reference, as checking.h says, for a kernel of the math mode. False
 * when the host is out of memory.
 */
bool compare_products(const workload *work, const values_choice *values, xgemm_math math,
                      const checked_memory *memory, check_result *result);

#endif
