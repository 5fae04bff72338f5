/* SPDX-License-Identifier: BSD-3-Clause */
#include "statistics.h"

#include <stdlib.h>

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

void sort_values(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
}

double percentile(const double *sorted, size_t count, double p)
{
    const double position = p / 100.0 * (double)(count - 1);
    const size_t below = (size_t)position;
    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (position - (double)below) * (sorted[below + 1] - sorted[below]);
}
