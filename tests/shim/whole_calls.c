/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that is linked with libblas.so.3, for libblas.sh: routines of all kinds of signatures
 * arrive at the BLAS below with their arguments, and come back with what they return.
 *
 * whole_calls [own|missing]: own: has an xerbla of its own, as netlib's testers do, which the BLAS
 * below must call. missing: calls what that has not.
 */
#include "whole.h"

#include <complex.h>
#include <stdio.h>
#include <string.h>

#ifdef OWN_XERBLA
static int own_error;

void xerbla_(const char *name, const int *number, size_t length)
{
    (void)name, (void)length;
    own_error = *number;
}
#endif

#define NAME(place, name) {#name, name},
static const struct {
    const char *name;
    void (*function)(int *);
} gemmtr[] = {GEMMTR(NAME)};
enum { GEMMTRS = sizeof gemmtr / sizeof *gemmtr };

static int failures;

static void check(int holds, const char *name)
{
    if (!holds)
        printf("FAILED %s\n", name);
    failures += !holds;
}

int main(int argc, char **argv)
{
    const int n = 10, one = 1, two = 2, minus = -1;
    const float f = 3;
    const double d = 4, zero = 0;
    const float _Complex c = 3 + 2 * I;
    const double _Complex z = 4 + 5 * I;
    double y = 0;
    if (argc > 1 && strcmp(argv[1], "missing") == 0)
        dtrsm_();
    check(sdot_(&n, &f, &one, &f, &two) == 19, "sdot_");
    check(ddot_(&n, &d, &one, &d, &two) == 21, "ddot_");
    check(cdotu_(&n, &c, &one, &c, &two) == 19 + 4 * I, "cdotu_");
    check(zdotu_(&n, &z, &one, &z, &two) == 21 + 10 * I, "zdotu_");
    check(idamax_(&n, &d, &two) == 16, "idamax_");
    cblas_dgemv(101, 111, 2, 3, 0.5, &d, 7, &d, 8, 0.25, &y, 9);
    check(y == 249.75, "cblas_dgemv");
    for (int i = 0, place = -1; i < GEMMTRS; i++) {
        gemmtr[i].function(&place);
        check(place == i, gemmtr[i].name);
    }
    dgemm_("N", "N", &n, &n, &n, &d, &d, &n, &d, &n, &zero, &y, &two, 1, 1);
    check(y == 12, "dgemm_");
    dgemm_("N", "N", &minus, &n, &n, &d, &d, &n, &d, &n, &zero, &y, &two, 1, 1);
#ifdef OWN_XERBLA
    check(own_error == 3, "the program's own xerbla_");
#endif
    printf("%d failed\n", failures);
    return failures > 0;
}
