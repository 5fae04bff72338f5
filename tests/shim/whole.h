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

/* Of the fake's xerbla, where no other stands before it. */
extern int whole_error;

#endif
