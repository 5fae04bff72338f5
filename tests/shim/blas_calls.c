/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program of blas.sh, loaded with RTLD_LOCAL: calls gemm of every type under every name, with
 * each transpose. Each call must be passed on once with C as it was, or give the right product
 * without the BLAS below having seen it.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { M = 5, N = 6, K = 7, LD = 9 }; /* 8 would make value() symmetric */

extern int fake_count;
extern const char *fake_last;
int calls(bool served);

typedef void any_function(void);
#define NAMES(letter, type)                                                                        \
    {#letter, "cblas_" #letter "gemm", cblas_##letter##gemm, type, true, false},                   \
        {#letter, "cblas_" #letter "gemm64_", cblas_##letter##gemm64_, type, true, true},          \
        {#letter, "cblas_" #letter "gemm_64", cblas_##letter##gemm_64, type, true, true},          \
        {#letter, "scipy_cblas_" #letter "gemm", scipy_cblas_##letter##gemm, type, true, false},   \
        {#letter, "scipy_cblas_" #letter "gemm64_", scipy_cblas_##letter##gemm64_, type, true,     \
         true},                                                                                    \
        {#letter, #letter "gemm_", letter##gemm_, type, false, false},                             \
        {#letter, #letter "gemm_64_", letter##gemm_64_, type, false, true},                        \
        {#letter, "scipy_" #letter "gemm_", scipy_##letter##gemm_, type, false, false},            \
    {                                                                                              \
#letter, "scipy_" #letter "gemm_64_", scipy_##letter##gemm_64_, type, false, true          \
    }
#define WANTED(letter)                                                                             \
    extern any_function cblas_##letter##gemm, cblas_##letter##gemm64_, cblas_##letter##gemm_64,    \
        scipy_cblas_##letter##gemm, scipy_cblas_##letter##gemm64_, letter##gemm_,                  \
        letter##gemm_64_, scipy_##letter##gemm_, scipy_##letter##gemm_64_
WANTED(s);
WANTED(d);
WANTED(c);
WANTED(z);

enum { IS_DOUBLE = 1, IS_COMPLEX = 2 };

static const struct entry {
    const char *letter, *name;
    any_function *function;
    int type;
    bool is_cblas, is_wide;
} entries[] = {NAMES(s, 0), NAMES(d, IS_DOUBLE), NAMES(c, IS_COMPLEX),
               NAMES(z, IS_DOUBLE | IS_COMPLEX)};
enum { ENTRIES = sizeof entries / sizeof *entries };

static int failures;

static void check(bool holds, const struct entry *e, const char *what)
{
    if (holds)
        return;
    printf("FAILED %s: %s (the BLAS below had %s last)\n", e->name, what, fake_last);
    failures++;
}

static double value(int which, int i, int part)
{
    return (i * (which + 3) + 5 * part) % 7 - 3;
}

static void put(const struct entry *e, void *to, int i, double re, double im)
{
    const int at = e->type & IS_COMPLEX ? 2 * i : i;
    for (int part = 0; part < (e->type & IS_COMPLEX ? 2 : 1); part++) {
        if (e->type & IS_DOUBLE)
            ((double *)to)[at + part] = part ? im : re;
        else
            ((float *)to)[at + part] = (float)(part ? im : re);
    }
}

static double get(const struct entry *e, const void *from, int i, int part)
{
    const int at = e->type & IS_COMPLEX ? 2 * i + part : i;
    if (part && !(e->type & IS_COMPLEX))
        return 0;
    return e->type & IS_DOUBLE ? ((const double *)from)[at] : (double)((const float *)from)[at];
}

/* In column order. */
static double element(const struct entry *e, int which, int trans, int i, int j, int part)
{
    const int at = trans ? j + i * LD : i + j * LD;
    if (part && !(e->type & IS_COMPLEX))
        return 0;
    return (part && trans == 2 ? -1 : 1) * value(which, at, part);
}

static bool is_right(const struct entry *e, const void *c, int transa, int transb, double beta)
{
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double re = beta * element(e, 2, 0, i, j, 0), im = beta * element(e, 2, 0, i, j, 1);
            for (int l = 0; l < K; l++) {
                const double a[2] = {element(e, 0, transa, i, l, 0),
                                     element(e, 0, transa, i, l, 1)};
                const double b[2] = {element(e, 1, transb, l, j, 0),
                                     element(e, 1, transb, l, j, 1)};
                re += 2 * (a[0] * b[0] - a[1] * b[1]);
                im += 2 * (a[0] * b[1] + a[1] * b[0]);
            }
            if (get(e, c, i + j * LD, 0) != re || get(e, c, i + j * LD, 1) != im)
                return false;
        }
    return true;
}

#define CBLAS(integer, scalar, alpha, beta)                                                        \
    ((void (*)(int, int, int, integer, integer, integer, scalar, const void *, integer,            \
               const void *, integer, scalar, void *, integer))e->function)(                       \
        102, 111 + ta, 111 + tb, M, N, K, alpha, m[0], LD, m[1], LD, beta, m[2], LD)
#define FORTRAN(integer)                                                                           \
    do {                                                                                           \
        const integer s[4] = {M, N, K, LD};                                                        \
        ((void (*)(const char *, const char *, const integer *, const integer *, const integer *,  \
                   const void *, const void *, const integer *, const void *, const integer *,     \
                   const void *, void *, const integer *, size_t, size_t))e->function)(            \
            &"nTC"[ta], &"Ntc"[tb], &s[0], &s[1], &s[2], two, m[0], &s[3], m[1], &s[3], beta,      \
            m[2], &s[3], 1, 1);                                                                    \
    } while (0)

static void call(const struct entry *e, int ta, int tb, void *m[3], double beta_value)
{
    double two[2], beta[2];
    put(e, two, 0, 2, 0);
    put(e, beta, 0, beta_value, 0);
    if (!e->is_cblas) {
        if (e->is_wide)
            FORTRAN(int64_t);
        else
            FORTRAN(int);
    } else if (e->type & IS_COMPLEX) {
        if (e->is_wide)
            CBLAS(int64_t, const void *, two, beta);
        else
            CBLAS(int, const void *, two, beta);
    } else if (e->type & IS_DOUBLE) {
        if (e->is_wide)
            CBLAS(int64_t, double, 2.0, beta_value);
        else
            CBLAS(int, double, 2.0, beta_value);
    } else {
        if (e->is_wide)
            CBLAS(int64_t, float, 2.0f, (float)beta_value);
        else
            CBLAS(int, float, 2.0f, (float)beta_value);
    }
}

static void one(const struct entry *e, int ta, int tb, double beta, bool served)
{
    static double memory[3][2 * LD * LD];
    void *m[3] = {memory[0], memory[1], memory[2]};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < LD * LD; j++)
            put(e, m[i], j, value(i, j, 0), value(i, j, 1));
    const int before = fake_count;
    call(e, ta, tb, m, beta);
    if (served) {
        check(fake_count == before, e, "it was passed on");
        check(is_right(e, m[2], ta, tb, beta), e, "the product is wrong");
    } else {
        for (int i = 0; i < LD * LD && beta != 0; i++)
            check(get(e, m[2], i, 0) == value(2, i, 0), e, "C is not as it was");
        check(fake_count == before + 1 && strcmp(fake_last, e->name) == 0, e,
              "it was not passed on once");
    }
}

/* Sizes of products of which nobody reads a matrix: the time rule, with a fake libxgemm. */
static void large(const int64_t sizes[3], bool served)
{
    static const double one_f64 = 1, zero = 0;
    const struct entry *e = &entries[14]; /* dgemm_ */
    const int m = (int)sizes[0], n = (int)sizes[1], k = (int)sizes[2];
    double memory = 0;
    const int before = fake_count;
    ((void (*)(const char *, const char *, const int *, const int *, const int *, const void *,
               const void *, const int *, const void *, const int *, const void *, void *,
               const int *, size_t, size_t))e->function)("N", "N", &m, &n, &k, &one_f64, &memory,
                                                         &m, &memory, &k, &zero, &memory, &m, 1, 1);
    check(fake_count == before + !served, e, "a large product");
}

static void *cancel_and_call(void *served)
{
    pthread_cancel(pthread_self());
    one(&entries[0], 0, 0, 1, *(bool *)served);
    pthread_testcancel();
    return NULL;
}

/*
 * A thread that was cancelled computes its product before it ends, and keeps no lock, for which the
 * next call would wait until SIGALRM. The log of libxgemm is where a thread would end.
 */
static void cancelled(bool served)
{
    enum { SECONDS = 100 };
    pthread_t thread;
    void *end = NULL;
    const bool is_over = pthread_create(&thread, NULL, cancel_and_call, &served) == 0 &&
                         pthread_join(thread, &end) == 0;
    check(is_over && end == PTHREAD_CANCELED, &entries[0], "the thread was not cancelled");
    alarm(SECONDS);
    one(&entries[0], 0, 0, 1, served);
    alarm(0);
}

int calls(bool served)
{
    static const int64_t square[3] = {5000, 5000, 5000}, flat[3] = {200000, 200000, 2};
    if (getenv("FAKE_LARGE")) {
        large(square, served);
        large(flat, false);
        printf("%d calls of the BLAS below, %d failed\n", fake_count, failures);
        return failures > 0;
    }
    for (int i = 0; i < ENTRIES; i++) {
        for (int trans = 0; trans < 9; trans++)
            one(&entries[i], trans / 3, trans % 3, 0, served);
        one(&entries[i], 0, 0, 1, served);
        one(&entries[i], 1, 2, -3, served);
        one(&entries[i], 3, 0, 0, false); /* no transpose: an error of the caller's */
    }
    cancelled(served);
    printf("%d calls of the BLAS below, %d failed\n", fake_count, failures);
    return failures > 0;
}
