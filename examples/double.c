/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inverse of a matrix in double precision, from products alone: Newton's iteration
 * X = X (2 I - A X), which doubles the digits that are right at each step.
 *
 *     cc double.c $(pkg-config --cflags --libs xgemm) -lm && ./a.out
 *
 * The exit status is 1 if A X is not I to twelve digits.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <xgemm.h>

enum { SIZE = 120, STEPS = 40, COUNT = SIZE * SIZE };

static void check(xgemm_handle *handle, xgemm_status status)
{
    if (status != XGEMM_OK) {
        fprintf(stderr, "%s\n", xgemm_last_error(handle));
        exit(EXIT_FAILURE);
    }
}

/* c = alpha a b + beta c */
static void multiply(xgemm_handle *handle, double alpha, const double *a, const double *b,
                     double beta, double *c)
{
    check(handle, xgemm_dgemm(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, SIZE, SIZE,
                              SIZE, alpha, a, SIZE, b, SIZE, beta, c, SIZE));
}

static double *on_device(xgemm_handle *handle, const double *from)
{
    void *memory;
    check(handle, xgemm_malloc(handle, COUNT * sizeof *from, &memory));
    check(handle, xgemm_upload(handle, memory, from, COUNT * sizeof *from));
    return memory;
}

/* The largest element of residual = I - A X. */
static double largest(const double *residual)
{
    double most = 0.0;
    for (int i = 0; i < COUNT; i++)
        most = fmax(most, fabs(residual[i]));
    return most;
}

int main(void)
{
    static double a[COUNT], x[COUNT], identity[COUNT], residual[COUNT];
    double norm = 0.0, error = 1.0;
    xgemm_handle *handle;

    /* A is random, with 8 added to its diagonal; X begins as A' over the square of A's norm. */
    for (int i = 0; i < COUNT; i++) {
        identity[i] = i % (SIZE + 1) == 0;
        a[i] = 2.0 * rand() / RAND_MAX - 1.0 + 8.0 * identity[i];
        norm += a[i] * a[i];
    }
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++)
            x[i * SIZE + j] = a[j * SIZE + i] / norm;

    check(NULL, xgemm_create(&handle, XGEMM_DEVICE_AUTO));
    double *const da = on_device(handle, a), *const di = on_device(handle, identity);
    double *dx = on_device(handle, x), *next = on_device(handle, x), *dr = on_device(handle, x);
    int step = 0;
    while (step < STEPS && error > 1e-13) {
        /* R = I - A X, and X + X R is X (2 I - A X). */
        check(handle, xgemm_upload(handle, dr, identity, sizeof identity));
        multiply(handle, -1.0, da, dx, 1.0, dr);
        check(handle, xgemm_download(handle, residual, dr, sizeof residual));
        error = largest(residual);
        multiply(handle, 1.0, dx, di, 0.0, next);
        multiply(handle, 1.0, dx, dr, 1.0, next);
        double *const before = dx;
        dx = next;
        next = before;
        step++;
    }
    printf("%d x %d in double by %s: A X is I to %.1e after %d steps\n", SIZE, SIZE,
           xgemm_last_kernel(handle), error, step);
    xgemm_free(handle, da);
    xgemm_free(handle, di);
    xgemm_free(handle, dx);
    xgemm_free(handle, next);
    xgemm_free(handle, dr);
    xgemm_destroy(handle);
    return error < 1e-12 ? EXIT_SUCCESS : EXIT_FAILURE;
}
