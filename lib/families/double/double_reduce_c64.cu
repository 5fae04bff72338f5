/* SPDX-License-Identifier: BSD-3-Clause */
/* The reduction of split-K's partial sums, of complex numbers of two doubles. */
#define KERNEL     double_reduce_c64
#define REAL       double
#define PARTS      2
#define SCALARS    xg_scalars_f64
#define SCALARS_OF xg_scalars_of_f64
#define STORE(e, by, c, at, row, column, x)                                                        \
    xg_store_complex_f64(e, by, c, at, row, column, (x)[0], (x)[1])
#include "reduce.inc"
