/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of named kinds of data, their reference in double precision, and a result's errors. */
#ifndef XGEMM_TESTS_ACCURACY_H
#define XGEMM_TESTS_ACCURACY_H

#include "data.h"
#include "support.h"

/* The kinds of A and of B. */
typedef struct {
    const data_kind *a, *b;
} kind_pair;

/* The kind of that name; fails the test when there is none. */
const data_kind *kind_named(const char *name);

/* A of the kind times normal data: A N. */
kind_pair with_normal(const data_kind *kind);

/* A of the kind times the transpose of another matrix of the kind: A X^T. */
kind_pair with_itself(const data_kind *kind);

typedef struct {
    int64_t m, n, k;
    float alpha, beta;
    bool transposed; /* A and B both */
    float *a, *b, *c;
    int64_t rows;        /* compared: row i is row i * m / rows of C */
    double *want, *mass; /* theirs, and |alpha||A||B| + |beta||C| */
} problem;

/* The seed says also whether A and B are transposed, and alpha and beta. */
problem problem_new(int64_t m, int64_t n, int64_t k, kind_pair kinds, uint64_t seed);
void problem_free(problem *p);

/* Elements of A and B, before op. */
float *a_at(const problem *p, int64_t i, int64_t l);
float *b_at(const problem *p, int64_t l, int64_t j);

/* Anew, after elements of A or B were changed. */
void make_reference(problem *p);

/* C as the handle computes it; the caller frees it. */
float *problem_multiply(xgemm_handle *handle, const problem *p);

typedef struct {
    double largest;   /* componentwise, as a part of the mass */
    double frobenius; /* 0 where C is all zeros */
    int64_t special;  /* elements where not both are the same Inf, or both NaN */
} errors;

/*
 * Elements that may overflow do not count, and those that are not finite do not count
 * among the first two. Half the least subnormal for each rounding is allowed.
 */
errors errors_of(const problem *p, const float *c);

#endif
