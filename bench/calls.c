/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calls: what calls of xgemm_sgemm() take of the host's time on GPU 0, as CSV.
 *
 *     bench/calls [default|strict|tf32]
 *
 * 1000 random sizes, m, n and k log-uniform from 16 to 2048, each called once, which is new to the
 * handle, and then three times more in the same order. A line each for the sizes that are new and
 * for those that are known, and in them for calls of one launch, of two and of more: how many, and
 * the mean, the median and the 95th percentile in microseconds. The GPU is waited for between the
 * calls, outside of what is measured. Before that, products of other sizes load the kernels and
 * make the workspace as large as it will be.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xgemm.h>

enum { SIZES = 1000, LEAST = 16, MOST = 2048, ROUNDS = 4, KINDS = 2, LAUNCHES = 3 };

typedef struct {
    int64_t m, n, k;
    int launches; /* LAUNCHES: as many or more */
} product;

typedef struct {
    double us[(ROUNDS - 1) * SIZES];
    int count;
} times;

static double microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static void check(xgemm_status status)
{
    if (status) {
        fprintf(stderr, "calls: %s\n", xgemm_last_error(NULL));
        exit(1);
    }
}

static double random_part(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 0x1p53;
}

static int64_t random_size(uint64_t *state)
{
    return (int64_t)(LEAST * pow((double)MOST / LEAST, random_part(state)) + 0.5);
}

static xgemm_status multiply(xgemm_handle *handle, const product *p, float *x)
{
    return xgemm_sgemm(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, p->m, p->n, p->k,
                       1.0f, x, p->k, x + (size_t)MOST * MOST, p->n, 0.0f,
                       x + (size_t)2 * MOST * MOST, p->n);
}

/* By its own, so that it does not count as seen. */
static int launches_of(xgemm_handle *handle, const product *p)
{
    xgemm_product call = XGEMM_PRODUCT_INIT;
    xgemm_plan plan = {.struct_size = sizeof plan};
    call.type_a = call.type_b = call.type_c = XGEMM_F32;
    call.m = p->m, call.n = p->n, call.k = p->k;
    call.lda = p->k, call.ldb = call.ldc = p->n;
    check(xgemm_gemm_plan(handle, &call, &plan));
    return plan.launches < LAUNCHES ? (int)plan.launches : LAUNCHES;
}

static int by_time(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static void print(const char *kind, int launches, times *of)
{
    double sum = 0;
    for (int i = 0; i < of->count; i++)
        sum += of->us[i];
    if (of->count == 0)
        return;
    qsort(of->us, (size_t)of->count, sizeof *of->us, by_time);
    printf("%s,%d,%d,%.2f,%.2f,%.2f\n", kind, launches, of->count, sum / of->count,
           of->us[of->count / 2], of->us[of->count * 95 / 100]);
}

int main(int count, char **arguments)
{
    static product products[SIZES], before[SIZES];
    static times by[KINDS][LAUNCHES + 1]; /* 0: all */
    const char *const math = count > 1 ? arguments[1] : "default";
    uint64_t state = 1;
    xgemm_handle *handle, *other;
    void *memory;
    check(xgemm_create(&handle, 0));
    check(xgemm_create(&other, 0));
    const xgemm_math mode = strcmp(math, "strict") == 0 ? XGEMM_MATH_STRICT
                            : strcmp(math, "tf32") == 0 ? XGEMM_MATH_TF32
                                                        : XGEMM_MATH_DEFAULT;
    check(xgemm_set_math(handle, mode));
    check(xgemm_set_math(other, mode));
    check(xgemm_malloc(handle, (size_t)3 * MOST * MOST * sizeof(float), &memory));
    for (int i = 0; i < 2 * SIZES; i++) {
        product *const p = i < SIZES ? &before[i] : &products[i - SIZES];
        *p = (product){random_size(&state), random_size(&state), random_size(&state), 0};
        p->launches = launches_of(other, p);
    }
    before[0] = (product){MOST, MOST, MOST, 0};
    for (int i = 0; i < SIZES; i++) {
        check(multiply(handle, &before[i], memory));
        check(xgemm_synchronize(handle));
    }
    for (int i = 0; i < ROUNDS * SIZES; i++) {
        const product *const p = &products[i % SIZES];
        const double begun = microseconds();
        check(multiply(handle, p, memory));
        const double us = microseconds() - begun;
        times *const kinds = by[i >= SIZES];
        kinds[0].us[kinds[0].count++] = us;
        kinds[p->launches].us[kinds[p->launches].count++] = us;
        check(xgemm_synchronize(handle));
    }
    puts("sizes,launches,calls,mean_us,median_us,p95_us");
    for (int i = 0; i < KINDS * (LAUNCHES + 1); i++)
        print(i > LAUNCHES ? "known" : "new", i % (LAUNCHES + 1),
              &by[i > LAUNCHES][i % (LAUNCHES + 1)]);
    check(xgemm_free(handle, memory));
    xgemm_destroy(other);
    xgemm_destroy(handle);
    return 0;
}
