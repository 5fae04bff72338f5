/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an element of C should be: in double for sums in float, and with compensated sums of twice
 * double's precision (Ogita, Rump and Oishi, 2005) for sums in double.
 */
#ifndef XGEMM_BIN_REFERENCE_H
#define XGEMM_BIN_REFERENCE_H

#include "workload.h"

/* A number and what it is too short for. */
typedef struct {
    double high, low;
} precise;

/* The parts of an element, and the magnitudes of the terms that each is the sum of. */
typedef struct {
    precise part[2];
    double sum_mass[2]; /* of the products, without alpha */
    double mass[2];     /* |alpha| |A| |B| + |beta| |C| + |bias| */
    bool may_be_nan;    /* each part, where the one or the other is not finite: see below */
} expected;

/* A row of op(A) or a column of op(B), as so many doubles: parts of a complex number together. */
int64_t reference_row_length(const workload *work);
void reference_row(const workload *work, bool is_b, const void *memory, int64_t product,
                   int64_t row, double *values);

/*
 * The element before the activation, of a row of op(A), a column of op(B), and of C and the bias as
 * they were. As the library, it never reads the first two where alpha is 0, nor C where beta is.
 * Complex numbers are multiplied by the formulas that xgemm_gemm(3) gives. Where a part is Inf or
 * NaN, what else is NaN depends on which factors are multiplied first, and on whether a factor of 1
 * is one: a CPU's BLAS may differ there.
 */
expected reference_element(const workload *work, const double *a, const double *b, scalar c,
                           scalar bias);

/* got - x, the parts of x together. */
double precise_difference(double got, precise x);
double precise_value(precise x);

#endif
