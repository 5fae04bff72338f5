/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What passing a call on costs, for dropins.sh: how many getters of cuBLAS are called for it, which
 * is a failure where it is more than the drop-in needs to decide, and the time a call, which is
 * printed. With "served" each call is made once, for the log: the operands are no memory of the
 * GPU, so that the fake driver computes nothing.
 */
#include "fake_cublas.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <xgemm.h>

int calls(bool served);

typedef void any_function(void);
extern any_function cublasSgemm_v2, cublasDgemm_v2, cublasCgemm_v2, cublasGemmEx;

/* cudaDataType_t, and what the handle's or the description's mode is. */
enum { F32 = 0, F64 = 1, F16 = 2, C32 = 4, BF16 = 14, DEFAULT = 0, PEDANTIC = 2, TF32 = 3 };
enum { COMPUTE_16F = 64, COMPUTE_32F = 68 };

typedef enum { GEMM, EX, LT } form;

static const struct one_case {
    const char *name;
    form form;
    any_function *function;
    int type, mode, compute;
    int64_t size, ld;
    int getters;
    int64_t ld_of_b; /* 0: ld */
} cases[] = {
    {"F64", GEMM, cublasDgemm_v2, F64, DEFAULT, 0, 512, 512, 0, 0},
    {"complex of 400", GEMM, cublasCgemm_v2, C32, DEFAULT, 0, 400, 400, 0, 0},
    {"complex", GEMM, cublasCgemm_v2, C32, DEFAULT, 0, 1024, 1024, 3, 0},
    {"small F64", GEMM, cublasDgemm_v2, F64, DEFAULT, 0, 128, 128, 3, 0},
    {"F64 of 4096", GEMM, cublasDgemm_v2, F64, DEFAULT, 0, 4096, 4096, 0, 0},
    {"large F64", GEMM, cublasDgemm_v2, F64, DEFAULT, 0, 8192, 8192, 3, 0},
    {"large F64, pedantic", GEMM, cublasDgemm_v2, F64, PEDANTIC, 0, 8200, 8200, 1, 0},
    {"large odd F64", GEMM, cublasDgemm_v2, F64, DEFAULT, 0, 8193, 8193, 3, 0},
    {"small complex", GEMM, cublasCgemm_v2, C32, DEFAULT, 0, 64, 64, 3, 0},
    {"small BF16", EX, cublasGemmEx, BF16, DEFAULT, COMPUTE_32F, 256, 256, 3, 0},
    {"aligned F16", EX, cublasGemmEx, F16, DEFAULT, COMPUTE_32F, 4096, 4096, 0, 0},
    {"small F16", EX, cublasGemmEx, F16, DEFAULT, COMPUTE_32F, 901, 901, 0, 0},
    {"odd F16 of 1025", EX, cublasGemmEx, F16, DEFAULT, COMPUTE_32F, 1025, 1025, 3, 0},
    {"F16, A alone not aligned", EX, cublasGemmEx, F16, DEFAULT, COMPUTE_32F, 4096, 4097, 3, 4096},
    {"pairs of BF16", EX, cublasGemmEx, BF16, DEFAULT, COMPUTE_32F, 2050, 2050, 0, 0},
    {"odd F16", EX, cublasGemmEx, F16, DEFAULT, COMPUTE_32F, 2049, 2049, 3, 0},
    {"large pairs of BF16", EX, cublasGemmEx, BF16, DEFAULT, COMPUTE_32F, 4096, 4098, 3, 0},
    {"F16 summed in F16", EX, cublasGemmEx, F16, DEFAULT, COMPUTE_16F, 4097, 4097, 1, 0},
    {"small F32, TF32 allowed", GEMM, cublasSgemm_v2, F32, TF32, 0, 512, 512, 1, 0},
    {"cublasLt, aligned BF16", LT, NULL, BF16, 0, COMPUTE_32F, 4096, 4096, 4, 0},
    {"cublasLt, F32 with a bias", LT, NULL, F32, 0, COMPUTE_32F, 64, 64, 37, 0},
    {"F32", GEMM, cublasSgemm_v2, F32, DEFAULT, 0, 512, 512, 3, 0},
};
enum { CASES = sizeof cases / sizeof *cases };

static _Alignas(16) float memory[16];

static void gemm(const struct one_case *c, fake_handle *handle)
{
    static const double one_f64[2] = {1}, zero[2] = {0};
    static const float one_f32[2] = {1};
    const void *const one = c->type == F64 ? (const void *)one_f64 : one_f32;
    const int n = (int)c->size, ld = (int)c->ld;
    ((int (*)(void *, int, int, int, int, int, const void *, const void *, int, const void *, int,
              const void *, void *, int))c->function)(handle, 0, 0, n, n, n, one, memory, ld,
                                                      memory, ld, zero, memory, ld);
}

static void gemm_ex(const struct one_case *c, fake_handle *handle)
{
    static const float one = 1, zero = 0;
    const int n = (int)c->size, ld = (int)c->ld, ldb = c->ld_of_b ? (int)c->ld_of_b : ld;
    ((int (*)(void *, int, int, int, int, int, const void *, const void *, int, int, const void *,
              int, int, const void *, void *, int, int, int, int))c->function)(
        handle, 0, 0, n, n, n, &one, memory, c->type, ld, memory, c->type, ldb, &zero, memory,
        c->type, ld, c->compute, -1);
}

static void lt(const struct one_case *c, fake_handle *handle)
{
    static const float one = 1, zero = 0;
    const fake_matmul matmul = {
        .compute = c->compute, .epilogue = 4, .bias_type = -1, .bias = memory};
    const fake_layout l = {
        .type = c->type, .batch_count = 1, .rows = c->size, .columns = c->size, .ld = c->ld};
    int (*const symbol)(void *) = cublasLtMatmul;
    int (*function)(void *, const fake_matmul *, const void *, const void *, const fake_layout *,
                    const void *, const fake_layout *, const void *, const void *,
                    const fake_layout *, void *, const fake_layout *, const void *, void *, size_t,
                    void *);
    memcpy(&function, &symbol, sizeof function);
    function(handle, &matmul, &one, memory, &l, memory, &l, &zero, memory, &l, memory, &l, NULL,
             NULL, 0, NULL);
}

static void call(const struct one_case *c, fake_handle *handle)
{
    if (c->form == GEMM)
        gemm(c, handle);
    else if (c->form == EX)
        gemm_ex(c, handle);
    else
        lt(c, handle);
}

static double ns_of(const struct one_case *c, fake_handle *handle)
{
    enum { ROUNDS = 7, CALLS = 2000 };
    double best = 1e30;
    for (int round = 0; round < ROUNDS; round++) {
        struct timespec from, to;
        clock_gettime(CLOCK_MONOTONIC, &from);
        for (int i = 0; i < CALLS; i++)
            call(c, handle);
        clock_gettime(CLOCK_MONOTONIC, &to);
        const double ns =
            1e9 * (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec);
        best = ns / CALLS < best ? ns / CALLS : best;
    }
    return best;
}

static fake_handle handle;
static int asked_for_capture;

/* Another thread may call with the same handle while the driver is asked; so may this one. */
static void call_again(void)
{
    if (asked_for_capture++ > 0)
        return;
    for (int i = 0; i < CASES; i++)
        if (strcmp(cases[i].name, "F32") == 0)
            call(&cases[i], &handle);
}

/*
 * A call while the drop-in asks: a lock that it holds ends the program by SIGALRM. libxgemm asks
 * with its lock, while the driver translates a kernel for F32.
 */
static void call_while_asked(const struct one_case *c)
{
    enum { SECONDS = 100 };
    void (**hook)(void) = NULL;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *address = driver ? dlsym(driver, "fake_asked_for_capture") : NULL;
    if (!address)
        return;
    memcpy(&hook, &address, sizeof hook);
    *hook = call_again;
    alarm(SECONDS);
    call(c, &handle);
    *hook = NULL;
}

int calls(bool served)
{
    const bool is_counted = getenv("XGEMM_RUN_COUNTERS") != NULL; /* the log has to know more */
    xgemm_handle *gpu;
    const bool is_fake = getenv("FAKE_MEASURED") != NULL; /* and so what it serves takes no time */
    int failures = 0, count_of_served = 0;
    if (xgemm_create(&gpu, 0) == XGEMM_OK && xgemm_make_current(gpu))
        return 1;
    for (int i = 0; i < CASES; i++) {
        const struct one_case *c = &cases[i];
        handle.math_mode = c->mode;
        if (strcmp(c->name, "small BF16") == 0)
            call_while_asked(c);
        call(c, &handle); /* what happens only once is not counted */
        if (served && !is_fake)
            continue;
        const int before = fake_count, asked = fake_asked;
        call(c, &handle);
        const int getters = fake_asked - asked;
        const int passed_on = fake_count - before;
        const bool right =
            served ? passed_on <= 1 : passed_on == 1 && (is_counted || getters == c->getters);
        failures += !right;
        count_of_served += passed_on == 0;
        printf("%s%s: %s, %d getters, %.0f ns\n", right ? "" : "FAILED ", c->name,
               passed_on ? "passed on" : "served", getters, ns_of(c, &handle));
    }
    cublasDestroy_v2(&handle);
    xgemm_destroy(gpu);
    failures += is_fake && count_of_served == 0;
    failures += served && asked_for_capture == 0;
    printf("%d calls of the fake, %d failed\n", fake_count, failures);
    return failures > 0;
}
