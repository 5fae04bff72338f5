/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A BLAS for libblas.sh, of a few routines of different signatures, which give what whole_calls.c
 * expects; gemm calls xerbla of whoever has it first, as the reference does.
 */
#include "whole.h"

float sdot_(const int *n, const float *x, const int *step_x, const float *y, const int *step_y)
{
    return (float)*n + x[0] + y[0] + (float)(*step_x + *step_y);
}

double ddot_(const int *n, const double *x, const int *step_x, const double *y, const int *step_y)
{
    return *n + x[0] + y[0] + (*step_x + *step_y);
}

float _Complex cdotu_(const int *n, const float _Complex *x, const int *step_x,
                      const float _Complex *y, const int *step_y)
{
    return (float)(*n + *step_x + *step_y) + x[0] + y[0];
}

double _Complex zdotu_(const int *n, const double _Complex *x, const int *step_x,
                       const double _Complex *y, const int *step_y)
{
    return *n + *step_x + *step_y + x[0] + y[0];
}

int idamax_(const int *n, const double *x, const int *step)
{
    return *n + (int)x[0] + *step;
}

/* Four of the arguments are on the stack. */
void cblas_dgemv(int order, int trans, int m, int n, double alpha, const double *a, int lda,
                 const double *x, int step_x, double beta, double *y, int step_y)
{
    y[0] = order + trans + m + n + alpha + a[0] + lda + x[0] + step_x + beta + step_y;
}

void xerbla_(const char *name, const int *number, size_t length)
{
    (void)name, (void)length;
    whole_error = -*number;
}

int whole_error;

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc, size_t length_a, size_t length_b)
{
    const int number = 3;
    (void)transa, (void)transb, (void)n, (void)k, (void)alpha, (void)a, (void)lda, (void)b;
    (void)ldb, (void)beta, (void)length_a, (void)length_b;
    c[0] = *m + *ldc;
    if (*m < 0)
        xerbla_("DGEMM ", &number, 6);
}

#define DEFINE(place, name)                                                                        \
    void name(int *to)                                                                             \
    {                                                                                              \
        *to = place;                                                                               \
    }
GEMMTR(DEFINE)
