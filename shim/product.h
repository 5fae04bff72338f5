/* SPDX-License-Identifier: BSD-3-Clause */
/* What either drop-in asks of a product: its elements, its scalars, and its line in the log. */
#ifndef XGEMM_SHIM_PRODUCT_H
#define XGEMM_SHIM_PRODUCT_H

#include "counters.h"

#include <xgemm.h>

#include <stdbool.h>

/* The bytes of an element. */
unsigned bytes_of(xgemm_type type);

/* Whether a scalar of a product of this type, in memory of the host, is 0; NULL is not. */
bool is_zero(xgemm_type type, const void *scalar);

/*
 * The kind of the calls of a function with this product, served (NULL) or passed on for a reason,
 * with the times of one in microseconds, here and by the library below; 0: unknown. As
 * counters_find().
 */
counters_kind *kind_of(const char *function, const xgemm_product *product, xgemm_math math,
                       const char *why, double us, double library_us);

/*
 * Counts a call as one of that kind, with a log. A function and a reason are known by their
 * addresses: static strings, or NULL.
 */
void count_call(const char *function, const xgemm_product *product, xgemm_math math,
                const char *why, double us, double library_us);

static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

#endif
