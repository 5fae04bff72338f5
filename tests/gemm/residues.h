/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products of doubles, or of complex numbers of two doubles, by residues (lib/families/residue/):
 * errors of each part of C against sums of two doubles, at most 2^-51 of |alpha||A||B| + |beta||C|,
 * and how many moduli they took; 0: they were computed in FP64.
 */
#ifndef XGEMM_TESTS_RESIDUES_H
#define XGEMM_TESTS_RESIDUES_H

#include "doubles.h"

/* Matrices have the parts of their elements side by side. */
typedef struct {
    xgemm_type type; /* XGEMM_F64 or XGEMM_C64 */
    xgemm_order order;
    xgemm_transpose transa, transb;
    int m, n, k;
    int gap;    /* of leading dimensions */
    int offset; /* of matrices, in doubles, from memory that is aligned to more */
    double alpha[2], beta[2];
    double *a, *b, *c; /* op(A) and op(B), but for conjugation, in row order; C */
} residues_problem;

/* One in row order, by alpha = 1 and beta = 0, without matrices. */
residues_problem residues_plain(xgemm_type type, int m, int n, int k);

/* The same with matrices, whose parts are drawn so; to be freed. */
residues_problem residues_new(const residues_problem *like, doubles_fill *draw[2], uint64_t seed);
void residues_free(residues_problem *p);

/* What they are by name; and a handle that runs it; NULL: the device does not. */
extern const char residues_kernel[];
xgemm_handle *residues_open(void);

/*
 * Multiplies, and fails the test where C is not within the bound; the moduli that it took. In FP64
 * the bound is that of its sums. How many parts of elements no moduli served goes to "others".
 */
int residues_check(xgemm_handle *handle, const residues_problem *p, const char *what,
                   uint32_t *others);

/*
 * The kernel by name is for products of up to so much of k, by no more than alpha and beta, and not
 * for STRICT.
 */
void residues_check_refused(xgemm_type type, int64_t k_most);

#endif
