/* SPDX-License-Identifier: BSD-3-Clause */
/* Routines of BLAS that fake_whole.c has and whole_calls.c calls. */
#ifndef SHIM_WHOLE_H
#define SHIM_WHOLE_H

#include <stddef.h>

float sdot_(const int *, const float *, const int *, const float *, const int *);
double ddot_(const int *, const double *, const int *, const double *, const int *);
float _Complex cdotu_(const int *, const float _Complex *, const int *, const float _Complex *,
                      const int *);
double _Complex zdotu_(const int *, const double _Complex *, const int *, const double _Complex *,
                       const int *);
int idamax_(const int *, const double *, const int *);
void cblas_dgemv(int, int, int, int, double, const double *, int, const double *, int, double,
                 double *, int);
void xerbla_(const char *, const int *, size_t);
void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *,
            const double *, const int *, const double *, const int *, const double *, double *,
            const int *, size_t, size_t);
void dtrsm_(void); /* which the fake lacks */

/* Products of which a triangle is written; here each gives its place in this list. */
#define GEMMTR(OF)                                                                                 \
    OF(0, sgemmtr_)                                                                                \
    OF(1, dgemmtr_)                                                                                \
    OF(2, cgemmtr_)                                                                                \
    OF(3, zgemmtr_)                                                                                \
    OF(4, cblas_sgemmtr) OF(5, cblas_dgemmtr) OF(6, cblas_cgemmtr) OF(7, cblas_zgemmtr)
#define DECLARE(place, name) void name(int *);
GEMMTR(DECLARE)
#undef DECLARE

/* Of the fake's xerbla, where no other stands before it. */
extern int whole_error;

#endif
