/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cublasLtMatmul: every epilogue and type that the drop-in serves, batches, C that is not D, and
 * what it leaves to cublasLt.
 */
#include "cublas_calls.h"
#include "elements.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 5, N = 6, K = 7, BATCH = 3, LD_C = 8, MATRIX = 64, CELLS = BATCH * MATRIX };

typedef int matmul_function(void *handle, const fake_matmul *, const void *alpha, const void *a,
                            const fake_layout *, const void *b, const fake_layout *,
                            const void *beta, const void *c, const fake_layout *, void *d,
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

/* Where C is: in D; apart, laid out like D or not; one C for the whole batch. */
typedef enum { IN_PLACE, APART, WIDER, SHARED } source;

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
    element type, type_c; /* of A and B; of C, D and the bias */
    source from;
    int batch;
    double beta;
    double values[4][CELLS], bias[M]; /* A, B, D, C */
    void *at[4], *bias_at;            /* C's is D's in place */
    fake_matmul matmul;
    fake_layout layouts[4]; /* of A, B, D, C */
} problem;

static void *place(const problem *p, element type, const double *values, int count)
{
    char host[CELLS * 16];
    const size_t bytes = (size_t)count * element_bytes(type);
    for (int i = 0; i < count; i++)
        element_put(type, host, i, values[i], 0);
    return place_on(p->gpu, host, bytes);
}

static fake_layout layout(const problem *p, element type, int rows, int columns, int ld, int stride)
{
    return (fake_layout){.type = element_cuda_type(type),
                         .batch_count = p->batch,
                         .rows = rows,
                         .columns = columns,
                         .ld = ld,
                         .stride = stride};
}

static void begin_mixed(problem *p, xgemm_handle *gpu, element type, element type_c, int batch,
                        source from, double beta)
{
    *p = (problem){
        .gpu = gpu, .type = type, .type_c = type_c, .batch = batch, .from = from, .beta = beta};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < CELLS; j++)
            p->values[i][j] = (3 * i + 5 * j) % 9 - 4;
    for (int i = 0; i < M; i++)
        p->bias[i] = i - 2;
    for (int i = 0; i < 4; i++)
        p->at[i] = i == 3 && from == IN_PLACE
                       ? p->at[2]
                       : place(p, i < 2 ? type : type_c, p->values[i], CELLS);
    p->bias_at = place(p, type_c, p->bias, M);
    p->matmul = (fake_matmul){.compute = element_compute(type),
                              .scale = element_cuda_type(element_scalar(type)),
                              .transa = 1,
                              .epilogue = 1,
                              .bias_type = -1};
    p->layouts[0] = layout(p, type, K, M, K, MATRIX);
    p->layouts[1] = layout(p, type, K, N, K, MATRIX);
    p->layouts[2] = layout(p, type_c, M, N, M, MATRIX);
    p->layouts[3] = from == WIDER    ? layout(p, type_c, M, N, LD_C, MATRIX)
                    : from == SHARED ? layout(p, type_c, M, N, M, 0)
                                     : p->layouts[2];
}

static void begin(problem *p, xgemm_handle *gpu, element type, int batch, source from, double beta)
{
    begin_mixed(p, gpu, type, type, batch, from, beta);
}

static void end(problem *p)
{
    void *const memory[] = {p->at[0], p->at[1], p->at[2], p->bias_at,
                            p->from == IN_PLACE ? NULL : p->at[3]};
    for (int i = 0; i < 5; i++)
        if (memory[i])
            release_on(p->gpu, memory[i]);
}

/* The arguments that are not there. */
enum {
    NO_A = 1,
    NO_B = 2,
    NO_D = 4,
    NO_ALPHA = 8,
    NO_BETA = 16,
    NO_MATMUL = 32,
    NO_LAYOUT = 64,
    NO_LAYOUT_OF_C = 128
};

static int call_without(problem *p, unsigned without)
{
    const element type = element_scalar(p->type);
    const bool on_device = p->matmul.pointers == 1;
    double numbers[2][2];
    const void *scalars[2];
    matmul_function *function;
    int (*const symbol)(void *) = cublasLtMatmul;
    memcpy(&function, &symbol, sizeof function);
    for (int i = 0; i < 2; i++) {
        element_put(type, numbers[i], 0, i == 0 ? 0.5 : p->beta, 0);
        scalars[i] = on_device ? place_on(p->gpu, numbers[i], sizeof numbers[i]) : numbers[i];
    }
    const int status =
        function(p, without & NO_MATMUL ? NULL : &p->matmul, without & NO_ALPHA ? NULL : scalars[0],
                 without & NO_A ? NULL : p->at[0], &p->layouts[0], without & NO_B ? NULL : p->at[1],
                 without & NO_LAYOUT ? NULL : &p->layouts[1], without & NO_BETA ? NULL : scalars[1],
                 p->at[3], without & NO_LAYOUT_OF_C ? NULL : &p->layouts[3],
                 without & NO_D ? NULL : p->at[2], &p->layouts[2], NULL, NULL, 0, NULL);
    for (int i = 0; on_device && i < 2; i++)
        release_on(p->gpu, (void *)(uintptr_t)scalars[i]);
    return status;
}

static int call(problem *p)
{
    return call_without(p, 0);
}

/* Element (i, j) of number "batch" of an operand as it lies. */
static double at(const problem *p, int operand, int batch, int i, int j)
{
    const fake_layout *of = &p->layouts[operand];
    return p->values[operand == 3 && p->from == IN_PLACE ? 2 : operand]
                    [batch * of->stride + i + j * of->ld];
}

static double wanted(const problem *p, const epilogue_case *e, int batch, int i, int j)
{
    double sum = e->has_bias ? p->bias[i] : 0;
    sum += p->beta * at(p, 3, batch, i, j);
    for (int l = 0; l < K; l++)
        sum += 0.5 * at(p, 0, batch, l, i) * at(p, 1, batch, l, j);
    if (e->activation == 1)
        return sum > 0 ? sum : 0;
    if (e->activation == 2)
        return 0.5 * sum * (1 + tanh(0.7978845608028654 * (sum + 0.044715 * sum * sum * sum)));
    return sum;
}

static bool is_right(problem *p, const epilogue_case *e)
{
    char got[CELLS * 16];
    const double rounding = p->type_c == F16 ? 0x1p-10 : p->type_c == BF16 ? 0x1p-7 : 1e-5;
    if (xgemm_download(p->gpu, got, p->at[2], CELLS * element_bytes(p->type_c)))
        return false;
    for (int batch = 0; batch < p->batch; batch++)
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++) {
                const double right = wanted(p, e, batch, i, j);
                const double is = element_get(p->type_c, got, batch * MATRIX + i + j * M, false);
                if (!(fabs(is - right) <= rounding * (1 + fabs(right))))
                    return false;
            }
    return true;
}

static void run(problem *p, const epilogue_case *e, const char *name, bool served)
{
    p->matmul.epilogue = e->epilogue;
    p->matmul.bias = e->has_bias ? p->bias_at : NULL;
    fake_status = served ? 0 : 15;
    const int before = fake_count, status = call(p);
    check(fake_count == before + !served, name,
          served ? "it was not served" : "it was not passed on");
    check(status == (served ? 0 : 15), name, "the status is wrong");
    check(!served || is_right(p, e), name, "the result is wrong");
    end(p);
}

static void of_epilogues(xgemm_handle *gpu, bool served)
{
    static const element types[] = {F32, F16, BF16};
    for (int type = 0; type < 3; type++)
        for (int i = 0; i < EPILOGUES; i++)
            for (int beta = 0; beta < 4; beta += 3) {
                problem p;
                begin(&p, gpu, types[type], 1, IN_PLACE, beta);
                run(&p, &epilogues[i], epilogues[i].name, served);
            }
}

static void of_types(xgemm_handle *gpu, bool served)
{
    static const char *const names[] = {"F32", "F64", "C32", "C64", "F16", "BF16"};
    for (int type = F32; type <= BF16; type++)
        for (int from = IN_PLACE; from <= SHARED; from++)
            for (int batch = 1; batch <= BATCH; batch += BATCH - 1) {
                problem p;
                char name[64];
                snprintf(name, sizeof name, "%s, C %d, %d products", names[type], from, batch);
                begin(&p, gpu, (element)type, batch, (source)from, 2);
                run(&p, &epilogues[0], name, served);
            }
}

/* Of FP16 and BF16 to FP32, every epilogue. */
static void of_mixed(xgemm_handle *gpu, bool served)
{
    for (int type = F16; type <= BF16; type++)
        for (int i = 0; i < EPILOGUES; i++) {
            problem p;
            begin_mixed(&p, gpu, (element)type, F32, 1, APART, 3);
            run(&p, &epilogues[i], epilogues[i].name, served);
        }
}

/* Scalars on the device, where C is D and where not. */
static void of_device_scalars(xgemm_handle *gpu, bool served)
{
    for (int type = F32; type <= BF16; type++)
        for (int from = IN_PLACE; from <= APART; from++)
            for (int beta = 0; beta < 4; beta += 3) {
                problem p;
                begin(&p, gpu, (element)type, BATCH, (source)from, beta);
                p.matmul.pointers = 1;
                run(&p, &epilogues[0], "scalars on the device", served);
            }
}

/* A C that is not read: anywhere, with columns apart by more than D's, and not there at all. */
static void of_unread(xgemm_handle *gpu, bool served)
{
    for (int is_there = 0; is_there < 2; is_there++) {
        problem p;
        begin(&p, gpu, F32, 1, WIDER, 0);
        void *const c = p.at[3];
        if (!is_there)
            p.at[3] = NULL;
        run(&p, &epilogues[0], "C is not read", served);
        if (!is_there)
            release_on(gpu, c);
    }
}

/* Each change makes a product that the drop-in must leave to cublasLt. */
static void passed_on(xgemm_handle *gpu)
{
    static const char *const names[] = {"a vector as alpha",
                                        "FP16 sums",
                                        "C over a part of D",
                                        "rows in order",
                                        "a gradient",
                                        "a bias that is not there",
                                        "sizes that do not fit",
                                        "FP8",
                                        "a C of another size",
                                        "no C",
                                        "a list of one A",
                                        "a list of one D",
                                        "a scale of D",
                                        "a bias for each product",
                                        "a C of another order, not read",
                                        "a C of other columns, not read",
                                        "a D that is C with columns apart, not read"};
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) {
        problem p;
        begin(&p, gpu, F32, i == 13 ? 2 : 1, IN_PLACE, i == 2 || (i > 7 && i < 14));
        int *const fields[] = {&p.matmul.pointers,
                               &p.matmul.compute,
                               NULL,
                               &p.layouts[1].order,
                               &p.matmul.epilogue,
                               &p.matmul.epilogue,
                               NULL,
                               &p.layouts[0].type,
                               &p.layouts[3].order,
                               NULL,
                               &p.layouts[0].batch_mode,
                               &p.layouts[2].batch_mode,
                               NULL,
                               &p.matmul.epilogue,
                               &p.layouts[3].order,
                               NULL,
                               NULL};
        static const int values[] = {2, 64, 0, 1, 264, 4, 0, 28, 1, 0, 1, 1, 0, 4, 1, 0, 0};
        if (fields[i])
            *fields[i] = values[i];
        if (i == 2)
            p.at[3] = (float *)p.at[2] + M;
        if (i == 6)
            p.layouts[1].rows = K - 1;
        if (i == 9)
            p.at[3] = NULL;
        if (i == 12)
            p.matmul.scale_d = p.bias_at;
        if (i == 13)
            p.matmul.bias = p.bias_at, p.matmul.bias_stride = M;
        if (i == 15)
            p.layouts[3].columns = N - 1;
        if (i == 16)
            p.layouts[3].ld = LD_C;
        fake_status = 15;
        const int before = fake_count, status = call(&p);
        check(fake_count == before + 1 && status == 15, names[i], "it was not passed on");
        end(&p);
    }
}

/* What cublasLt refuses, or what multiplies nothing: its own status comes back. */
static void invalid(xgemm_handle *gpu)
{
    static const char *const names[] = {"no A",    "no B",           "no D",      "no alpha",
                                        "no beta", "no description", "no layout", "no layout of C"};
    static const char *const sizes[] = {"lda", "ldb", "ldd", "m = 0", "n = 0", "k = 0", "batch"};
    enum { NAMES = sizeof names / sizeof *names, SIZES = sizeof sizes / sizeof *sizes };
    for (int i = 0; i < NAMES + SIZES; i++) {
        problem p;
        const int at = i - NAMES;
        begin(&p, gpu, F32, 1, IN_PLACE, 0);
        if (at >= 0 && at < 3)
            p.layouts[at].ld = M - 1;
        if (at == 3)
            p.layouts[0].columns = p.layouts[2].rows = 0;
        if (at == 4)
            p.layouts[1].columns = p.layouts[2].columns = 0;
        if (at == 5)
            p.layouts[0].rows = p.layouts[1].rows = 0;
        for (int layout = 0; at == 6 && layout < 4; layout++)
            p.layouts[layout].batch_count = -1;
        fake_status = 7;
        const int before = fake_count, status = call_without(&p, at < 0 ? 1u << i : 0);
        check(fake_count == before + 1 && status == 7, at < 0 ? names[i] : sizes[at],
              "cublasLt's error did not come back");
        end(&p);
    }
}

int lt_calls(xgemm_handle *gpu, bool served)
{
    of_epilogues(gpu, served);
    of_types(gpu, served);
    of_mixed(gpu, served);
    of_device_scalars(gpu, served);
    of_unread(gpu, served);
    passed_on(gpu);
    invalid(gpu);
    const int before = fake_destroyed;
    int handle = 0;
    cublasLtDestroy(&handle);
    check(fake_destroyed == before + 1, "cublasLtDestroy", "it was not passed on");
    return failures;
}
