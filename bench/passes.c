/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * passes: how long a batch takes in passes of fewer products, on a GPU, as CSV.
 *
 *     bench/passes COUNT M N K MIB...
 *
 * COUNT products of M x K times K x N in XGEMM_MATH_DEFAULT, row order, by the kernel that
 * $XGEMM_KERNEL names or the fastest, with a workspace of so many MiB. A line each: the MiB, the
 * kernel, the products of a pass, the launches, and microseconds a batch: the least of five rounds
 * of ten calls.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <xgemm.h>

typedef struct {
    int64_t count, m, n, k;
    float *a, *b, *c;
} batch;

static void check(xgemm_status status)
{
    if (status) {
        fprintf(stderr, "passes: %s\n", xgemm_last_error(NULL));
        exit(1);
    }
}

static double microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

/* So many numbers in (-1, 1) on the GPU. */
static float *numbers(xgemm_handle *handle, int64_t count)
{
    void *there;
    unsigned bits = 1;
    float *const here = malloc((size_t)count * sizeof *here);
    if (!here) {
        fputs("passes: out of memory\n", stderr);
        exit(1);
    }
    for (int64_t i = 0; i < count; i++) {
        bits = bits * 1664525u + 1013904223u;
        here[i] = (float)(bits >> 8) / 8388608.0f - 1.0f;
    }
    check(xgemm_malloc(handle, (size_t)count * sizeof *here, &there));
    check(xgemm_upload(handle, there, here, (size_t)count * sizeof *here));
    free(here);
    return there;
}

static void run(xgemm_handle *handle, const batch *b)
{
    check(xgemm_sgemm_strided_batched(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, b->m,
                                      b->n, b->k, 1.0f, b->a, b->k, b->m * b->k, b->b, b->n,
                                      b->k * b->n, 0.0f, b->c, b->n, b->m * b->n, b->count));
}

static double least_us(xgemm_handle *handle, const batch *b)
{
    enum { ROUNDS = 5, CALLS = 10 };
    double least = 0.0;
    run(handle, b);
    check(xgemm_synchronize(handle));
    for (int round = 0; round < ROUNDS; round++) {
        const double begun = microseconds();
        for (int i = 0; i < CALLS; i++)
            run(handle, b);
        check(xgemm_synchronize(handle));
        const double us = (microseconds() - begun) / CALLS;
        least = round == 0 || us < least ? us : least;
    }
    return least;
}

static void with_workspace(xgemm_handle *handle, const batch *b, const char *mib)
{
    xgemm_plan plan = {.struct_size = sizeof plan};
    const size_t bytes = (size_t)atoll(mib) << 20;
    void *workspace;
    check(xgemm_malloc(handle, bytes, &workspace));
    check(xgemm_set_workspace(handle, workspace, bytes));
    check(xgemm_sgemm_strided_batched_plan(
        handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, b->m, b->n, b->k, 1.0f, b->a, b->k,
        b->m * b->k, b->b, b->n, b->k * b->n, 0.0f, b->c, b->n, b->m * b->n, b->count, &plan));
    printf("%s,%s,%lld,%lld,%.1f\n", mib, plan.kernel, (long long)plan.together,
           (long long)plan.launches, least_us(handle, b));
    check(xgemm_set_workspace(handle, NULL, 0));
    check(xgemm_free(handle, workspace));
}

int main(int count, char **arguments)
{
    xgemm_handle *handle;
    if (count < 6) {
        fputs("usage: passes COUNT M N K MIB...\n", stderr);
        return 2;
    }
    batch b = {.count = atoll(arguments[1]),
               .m = atoll(arguments[2]),
               .n = atoll(arguments[3]),
               .k = atoll(arguments[4])};
    check(xgemm_create(&handle, XGEMM_DEVICE_AUTO));
    b.a = numbers(handle, b.count * b.m * b.k);
    b.b = numbers(handle, b.count * b.k * b.n);
    b.c = numbers(handle, b.count * b.m * b.n);
    for (int i = 5; i < count; i++)
        with_workspace(handle, &b, arguments[i]);
    check(xgemm_free(handle, b.a));
    check(xgemm_free(handle, b.b));
    check(xgemm_free(handle, b.c));
    xgemm_destroy(handle);
    return 0;
}
