/* SPDX-License-Identifier: BSD-3-Clause */
/* cublasLtMatmul: every epilogue that the drop-in serves, and what it leaves to cublasLt. */
#include "cublas_calls.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 5, N = 6, K = 7 };

typedef int matmul_function(void *handle, const fake_matmul *, const float *alpha, const float *a,
                            const fake_layout *, const float *b, const fake_layout *,
                            const float *beta, const float *c, const fake_layout *, float *d,
                            const fake_layout *, const void *algorithm, void *workspace,
                            size_t bytes, void *stream);

typedef struct {
    const char *name;
    int epilogue;   /* cublasLt's */
    bool has_bias;  /* and what it computes */
    int activation; /* 0: none, 1: ReLU, 2: GELU by tanh */
} epilogue_case;

static const epilogue_case epilogues[] = {
    {"plain", 1, false, 0},        {"ReLU", 2, false, 1},  {"bias", 4, true, 0},
    {"bias and ReLU", 6, true, 1}, {"GELU", 32, false, 2}, {"bias and GELU", 36, true, 2},
};
enum { EPILOGUES = sizeof epilogues / sizeof *epilogues };

static int failures;

static void check(bool holds, const char *name, const char *what)
{
    if (holds)
        return;
    printf("FAILED cublasLtMatmul, %s: %s\n", name, what);
    failures++;
}

typedef struct {
    xgemm_handle *gpu;
    float host[3][K * K], bias[M];
    float *a, *b, *d, *c, *bias_at;
    fake_matmul matmul;
    fake_layout la, lb, lc, ld;
    float beta;
} problem;

static float *place(xgemm_handle *gpu, float *from, size_t bytes)
{
    void *memory = from;
    if (gpu && (xgemm_malloc(gpu, bytes, &memory) || xgemm_upload(gpu, memory, from, bytes)))
        exit(1);
    return memory;
}

static void begin(problem *p, xgemm_handle *gpu)
{
    p->gpu = gpu;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < K * K; j++)
            p->host[i][j] = 0.25f * (float)((3 * i + 5 * j) % 9 - 4);
    for (int i = 0; i < M; i++)
        p->bias[i] = 0.5f * (float)(i - 2);
    p->a = place(gpu, p->host[0], sizeof p->host[0]);
    p->b = place(gpu, p->host[1], sizeof p->host[1]);
    p->c = p->d = place(gpu, p->host[2], sizeof p->host[2]);
    p->bias_at = place(gpu, p->bias, sizeof p->bias);
    p->matmul = (fake_matmul){.compute = 68, .transa = 1, .epilogue = 1, .bias_type = -1};
    p->la = (fake_layout){.batch_count = 1, .rows = K, .columns = M, .ld = K};
    p->lb = (fake_layout){.batch_count = 1, .rows = K, .columns = N, .ld = K};
    p->lc = p->ld = (fake_layout){.batch_count = 1, .rows = M, .columns = N, .ld = M};
    p->beta = 0;
}

static void end(problem *p)
{
    float *const memory[] = {p->a, p->b, p->d, p->bias_at};
    for (int i = 0; p->gpu && i < 4; i++)
        xgemm_free(p->gpu, memory[i]);
}

static int call(problem *p)
{
    const float alpha = 0.5f;
    matmul_function *function;
    int (*const symbol)(void *) = cublasLtMatmul;
    memcpy(&function, &symbol, sizeof function);
    return function(p, &p->matmul, &alpha, p->a, &p->la, p->b, &p->lb, &p->beta, p->c, &p->lc, p->d,
                    &p->ld, NULL, NULL, 0, NULL);
}

static double wanted(const problem *p, const epilogue_case *e, int i, int j)
{
    double sum = e->has_bias ? (double)p->bias[i] : 0;
    sum += (double)p->beta * (double)p->host[2][i + j * M];
    for (int l = 0; l < K; l++)
        sum += 0.5 * (double)p->host[0][l + i * K] * (double)p->host[1][l + j * K];
    if (e->activation == 1)
        return sum > 0 ? sum : 0;
    if (e->activation == 2)
        return 0.5 * sum * (1 + tanh(0.7978845608028654 * (sum + 0.044715 * sum * sum * sum)));
    return sum;
}

static bool is_right(problem *p, const epilogue_case *e)
{
    float got[K * K];
    if (xgemm_download(p->gpu, got, p->d, sizeof got))
        return false;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            if (!(fabs((double)got[i + j * M] - wanted(p, e, i, j)) < 1e-5))
                return false;
    return true;
}

static void one(xgemm_handle *gpu, const epilogue_case *e, float beta, bool served)
{
    problem p;
    begin(&p, gpu);
    p.matmul.epilogue = e->epilogue;
    p.matmul.bias = e->has_bias ? p.bias_at : NULL;
    p.beta = beta;
    fake_status = served ? 0 : 15;
    const int before = fake_count, status = call(&p);
    check(fake_count == before + !served, e->name,
          served ? "it was not served" : "it was not passed on");
    check(status == (served ? 0 : 15), e->name, "the status is wrong");
    check(!served || is_right(&p, e), e->name, "the result is wrong");
    end(&p);
}

/* Each change makes a product that the drop-in must leave to cublasLt. */
static void passed_on(xgemm_handle *gpu)
{
    static const char *const names[] = {
        "a vector as alpha",     "FP16 sums",  "C that is not D",
        "rows in order",         "a gradient", "a bias that is not there",
        "sizes that do not fit", "FP8"};
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) {
        problem p;
        begin(&p, gpu);
        int *const fields[] = {&p.matmul.pointers, &p.matmul.compute,  NULL, &p.lb.order,
                               &p.matmul.epilogue, &p.matmul.epilogue, NULL, &p.la.type};
        static const int values[] = {2, 64, 0, 1, 264, 4, 0, 28};
        if (fields[i])
            *fields[i] = values[i];
        if (i == 2)
            p.beta = 1, p.c = p.b;
        if (i == 6)
            p.lb.rows = K - 1;
        fake_status = 15;
        const int before = fake_count, status = call(&p);
        check(fake_count == before + 1 && status == 15, names[i], "it was not passed on");
        end(&p);
    }
}

int lt_calls(xgemm_handle *gpu, bool served)
{
    for (int i = 0; i < EPILOGUES; i++) {
        one(gpu, &epilogues[i], 0, served);
        one(gpu, &epilogues[i], 3, served);
    }
    passed_on(gpu);
    const int before = fake_destroyed;
    int handle = 0;
    cublasLtDestroy(&handle);
    check(fake_destroyed == before + 1, "cublasLtDestroy", "it was not passed on");
    return failures;
}
