/* SPDX-License-Identifier: BSD-3-Clause */
/* Order statistics of a sample. */
#ifndef XGEMM_BIN_STATISTICS_H
#define XGEMM_BIN_STATISTICS_H

#include <stddef.h>

/* Sorts the values, count > 0. */
void sort_values(double *values, size_t count);

/* The p-th percentile (0 to 100) of sorted values, between two by linear interpolation. */
double percentile(const double *sorted, size_t count, double p);

#endif
