/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products of complex numbers of two floats by kernels for products of floats. For the kernels of
 * tensor/ whose rows have a program of C32.
 *
 * A complex product of m x n x k is a real one of m x 2n x 2k:
 *
 *     [Re C, Im C] = [Re A, Im A] [ Re B  Im B]
 *                                 [-Im B  Re B]
 *
 * with the columns of C, and those of A, in the order re, im, re, im, ...: so C in memory is the
 * real product's C, and a K-major A is its A. Launches:
 *
 *   complex_to_real    the real product's B, with the conjugation of A and B in its signs, in B's
 *                      own major; and its A where A is M-major
 *   those of tensor/   the real product: into C, if alpha is 1 and beta 0 or 1, else the workspace
 *   double_reduce_c32  only then: alpha, beta, bias
 *
 * Errors are the real product's: in each part of an element they are in relation to the sum of the
 * magnitudes of that part's 2k terms.
 */
#ifndef XGEMM_LIB_COMPLEX_H
#define XGEMM_LIB_COMPLEX_H

#include "families/family.h"

/* The same as the members of xg_family. */
bool xg_complex_applies(const xg_kernel *kernel, const xg_request *request);
xg_candidate xg_complex_candidate(const xg_kernel *kernel, const xg_request *request,
                                  double most_us);
double xg_complex_workspace(const xg_candidate *of, const xg_request *request);
xgemm_status xg_complex_build(const xg_candidate *of, const xg_request *request, xg_plan *plan,
                              xg_error *error);

/* ---- Between build.c and cost.c ---- */

/* The real product, in floats; rooms that are not needed have no rows. */
typedef struct {
    xg_request request;
    int64_t a_rows, a_stride; /* in the workspace */
    int64_t b_rows, b_stride;
    int64_t c_rows, c_stride;
} xg_complex_real;

xg_complex_real xg_complex_real_of(const xg_request *request);

/* Whether the real product can be computed at once: so it is where a kernel is asked for by name.
 */
bool xg_complex_fits(const xg_kernel *kernel, const xg_request *request);

/* Columns of C in the workspace come in so many. */
enum { XG_COMPLEX_COLUMNS = 512 };

#endif
