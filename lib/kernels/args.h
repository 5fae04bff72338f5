/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one argument of every kernel: a problem in canonical form,
 *
 *     C(i, j) = alpha * sum over l of A(i, l) * B(l, j) + beta * C(i, j)
 *
 * with A m × k, B k × n, C m × n. Element (i, l) of A lies at
 * a[i * a_row + l * a_col], and so on; C's columns are contiguous. Orders,
 * transposes and leading dimensions are all in the steps: of a_row and a_col
 * one is 1, and likewise of b_row and b_col.
 *
 * Read by nvcc, by the host compiler and by the simulator.
 */
#ifndef XGEMM_KERNELS_ARGS_H
#define XGEMM_KERNELS_ARGS_H

#include <stdint.h>

typedef struct {
    int64_t m, n, k;
    const float *a, *b;
    float *c;
    int64_t a_row, a_col;
    int64_t b_row, b_col;
    int64_t c_row;
    float alpha, beta;
    /*
     * For the kernels that split k: part s sums over l from s * k_part to the
     * next one's first, into C + s * c_part. One part: k_part is at least k.
     */
    int64_t k_part, c_part;
    /*
     * For the kernels that compute a batch: the matrices of product z begin at
     * A + z * a_batch and so on; or, where there are lists, at a_list[z].
     */
    int64_t a_batch, b_batch, c_batch;
    const float *const *a_list, *const *b_list;
    float *const *c_list;
} xg_args;

#endif
