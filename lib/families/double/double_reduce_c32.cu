/* SPDX-License-Identifier: BSD-3-Clause */
/* The reduction of split-K's partial sums, of complex numbers of two floats. */
#define KERNEL     double_reduce_c32
#define REAL       float
#define PARTS      2
#define SCALARS    xg_scalars_f32
#define SCALARS_OF xg_scalars_of_f32
#define STORE(e, by, c, at, row, column, x)                                                        \
    xg_store_complex_f32(e, by, c, at, row, column, (x)[0], (x)[1])
#include "reduce.inc"
