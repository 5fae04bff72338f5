/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program of dropins.sh, loaded with RTLD_LOCAL by dropins_main.c as PyTorch loads its parts:
 * calls every entry point of cuBLAS that the drop-in has. Each must be passed on unchanged, or,
 * with a GPU (which may be fake), give the right product without the fake cuBLAS having seen it.
 */
#include "cublas_calls.h"
#include "elements.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 5, N = 6, K = 7, BATCH = 2, LD = 9, CELLS = 2 * LD * LD };

typedef enum { PLAIN, STRIDED, BATCHED, EX, STRIDED_EX, BATCHED_EX, SGEMM_EX } form;

typedef void any_function(void);
#define WANTED(letter)                                                                             \
    extern any_function cublas##letter##gemm_v2, cublas##letter##gemm_v2_64,                       \
        cublas##letter##gemmStridedBatched, cublas##letter##gemmStridedBatched_64,                 \
        cublas##letter##gemmBatched, cublas##letter##gemmBatched_64
WANTED(S);
WANTED(D);
WANTED(C);
WANTED(Z);
extern any_function cublasGemmEx, cublasGemmEx_64, cublasGemmStridedBatchedEx,
    cublasGemmStridedBatchedEx_64, cublasGemmBatchedEx, cublasGemmBatchedEx_64, cublasSgemmEx,
    cublasSgemmEx_64, cublasCgemm3m;

typedef struct {
    const char *name;
    any_function *function;
    form form;
    element type;
    bool is_wide;
} entry;

#define BOTH(name, form, type)                                                                     \
    {#name, name, form, type, false},                                                              \
    {                                                                                              \
#name "_64", name##_64, form, type, true                                                   \
    }
#define OF_TYPE(letter, type)                                                                      \
    BOTH(cublas##letter##gemm_v2, PLAIN, type),                                                    \
        BOTH(cublas##letter##gemmStridedBatched, STRIDED, type),                                   \
        BOTH(cublas##letter##gemmBatched, BATCHED, type)
#define EX_OF(type)                                                                                \
    BOTH(cublasGemmEx, EX, type), BOTH(cublasGemmStridedBatchedEx, STRIDED_EX, type),              \
        BOTH(cublasGemmBatchedEx, BATCHED_EX, type)

static const entry entries[] = {
    OF_TYPE(S, F32),
    OF_TYPE(D, F64),
    OF_TYPE(C, C32),
    OF_TYPE(Z, C64),
    EX_OF(F64),
    EX_OF(C32),
    EX_OF(C64),
    EX_OF(F16),
    EX_OF(BF16),
    EX_OF(F32),
    BOTH(cublasSgemmEx, SGEMM_EX, F16),
    BOTH(cublasSgemmEx, SGEMM_EX, BF16),
    BOTH(cublasSgemmEx, SGEMM_EX, F32),
};
enum { ENTRIES = sizeof entries / sizeof *entries };

static int failures;

static void check(bool holds, const char *name, const char *what)
{
    if (holds)
        return;
    printf("FAILED %s: %s (the fake had %s last)\n", name, what, fake_last);
    failures++;
}

/* ---- Data: small integers, so that every type has the exact result ---- */

static double value(int matrix, int i, bool imaginary)
{
    return (double)((i * (matrix + 3) + (imaginary ? 5 : 0)) % 7 - 3);
}

/* op(A)(i, l), from a column-major matrix. */
static void operand(int matrix, int trans, int first, int i, int l, bool is_complex, double *re,
                    double *im)
{
    const int at = first + (trans ? l + i * LD : i + l * LD);
    *re = value(matrix, at, false);
    *im = is_complex ? value(matrix, at, true) : 0;
    if (trans == 2)
        *im = -*im;
}

static bool is_right(const entry *e, const void *c, int transa, int transb, int batches)
{
    for (int batch = 0; batch < batches; batch++)
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++) {
                const int at = batch * LD * LD + i + j * LD;
                double re = 3 * value(2, at, false),
                       im = element_is_complex(e->type) ? 3 * value(2, at, true) : 0;
                for (int l = 0; l < K; l++) {
                    double a[2], b[2];
                    operand(0, transa, batch * LD * LD, i, l, element_is_complex(e->type), &a[0],
                            &a[1]);
                    operand(1, transb, batch * LD * LD, l, j, element_is_complex(e->type), &b[0],
                            &b[1]);
                    re += 2 * (a[0] * b[0] - a[1] * b[1]);
                    im += 2 * (a[0] * b[1] + a[1] * b[0]);
                }
                if (element_get(e->type, c, at, false) != re ||
                    element_get(e->type, c, at, true) != im)
                    return false;
            }
    return true;
}

/* ---- Memory of the GPU, or of the host where there is none ---- */

static xgemm_handle *gpu;

/* ---- Calls ---- */

typedef struct {
    fake_handle *handle;
    int transa, transb, type, compute;
    void *matrix[3], *list[3];
    const void *alpha, *beta;
} arguments;

#define CALL(integer)                                                                              \
    static int call_##integer(const entry *e, const arguments *x)                                  \
    {                                                                                              \
        typedef integer I;                                                                         \
        typedef const void *P;                                                                     \
        const int t = x->type, u = x->compute;                                                     \
        void *h = x->handle;                                                                       \
        switch (e->form) {                                                                         \
        case PLAIN:                                                                                \
            return ((int (*)(void *, int, int, I, I, I, P, P, I, P, I, P, void *, I))e->function)( \
                h, x->transa, x->transb, M, N, K, x->alpha, x->matrix[0], LD, x->matrix[1], LD,    \
                x->beta, x->matrix[2], LD);                                                        \
        case STRIDED:                                                                              \
            return ((int (*)(void *, int, int, I, I, I, P, P, I, long long, P, I, long long, P,    \
                             void *, I, long long, I))e->function)(                                \
                h, x->transa, x->transb, M, N, K, x->alpha, x->matrix[0], LD, LD * LD,             \
                x->matrix[1], LD, LD * LD, x->beta, x->matrix[2], LD, LD * LD, BATCH);             \
        case BATCHED:                                                                              \
            return ((int (*)(void *, int, int, I, I, I, P, P, I, P, I, P, void *, I,               \
                             I))e->function)(h, x->transa, x->transb, M, N, K, x->alpha,           \
                                             x->list[0], LD, x->list[1], LD, x->beta, x->list[2],  \
                                             LD, BATCH);                                           \
        case EX:                                                                                   \
            return ((int (*)(void *, int, int, I, I, I, P, P, int, I, P, int, I, P, void *, int,   \
                             I, int, int))e->function)(h, x->transa, x->transb, M, N, K, x->alpha, \
                                                       x->matrix[0], t, LD, x->matrix[1], t, LD,   \
                                                       x->beta, x->matrix[2], t, LD, u, -1);       \
        case STRIDED_EX:                                                                           \
            return ((int (*)(void *, int, int, I, I, I, P, P, int, I, long long, P, int, I,        \
                             long long, P, void *, int, I, long long, I, int, int))e->function)(   \
                h, x->transa, x->transb, M, N, K, x->alpha, x->matrix[0], t, LD, LD * LD,          \
                x->matrix[1], t, LD, LD * LD, x->beta, x->matrix[2], t, LD, LD * LD, BATCH, u,     \
                -1);                                                                               \
        case BATCHED_EX:                                                                           \
            return ((int (*)(void *, int, int, I, I, I, P, P, int, I, P, int, I, P, void *, int,   \
                             I, I, int, int))e->function)(                                         \
                h, x->transa, x->transb, M, N, K, x->alpha, x->list[0], t, LD, x->list[1], t, LD,  \
                x->beta, x->list[2], t, LD, BATCH, u, -1);                                         \
        default:                                                                                   \
            return ((int (*)(void *, int, int, I, I, I, P, P, int, I, P, int, I, P, void *, int,   \
                             I))e->function)(h, x->transa, x->transb, M, N, K, x->alpha,           \
                                             x->matrix[0], t, LD, x->matrix[1], t, LD, x->beta,    \
                                             x->matrix[2], t, LD);                                 \
        }                                                                                          \
    }
CALL(int)
CALL(int64_t)

static int batches_of(const entry *e)
{
    return e->form == PLAIN || e->form == EX || e->form == SGEMM_EX ? 1 : BATCH;
}

/* Puts the operands of an entry point into memory of the GPU. */
static arguments prepare(const entry *e, fake_handle *handle)
{
    static double alpha[2], beta[2];
    double host[CELLS * 2];
    arguments x = {
        .handle = handle, .type = element_cuda_type(e->type), .compute = element_compute(e->type)};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < CELLS; j++)
            element_put(e->type, host, j, value(i, j, false), value(i, j, true));
        x.matrix[i] = place_on(gpu, host, CELLS * element_bytes(e->type));
        void *const list[BATCH] = {x.matrix[i],
                                   (char *)x.matrix[i] + LD * LD * element_bytes(e->type)};
        x.list[i] = place_on(gpu, list, sizeof list);
    }
    element_put(element_scalar(e->type), alpha, 0, 2, 0);
    element_put(element_scalar(e->type), beta, 0, 3, 0);
    x.alpha = alpha, x.beta = beta;
    if (handle->pointer_mode) {
        x.alpha = place_on(gpu, alpha, sizeof alpha);
        x.beta = place_on(gpu, beta, sizeof beta);
    }
    return x;
}

static void release_all(const arguments *x)
{
    for (int i = 0; i < 3; i++) {
        release_on(gpu, x->matrix[i]);
        release_on(gpu, x->list[i]);
    }
    if (x->handle->pointer_mode) {
        release_on(gpu, (void *)(uintptr_t)x->alpha);
        release_on(gpu, (void *)(uintptr_t)x->beta);
    }
}

/* One call of an entry point, which must be served or not. */
static void one(const entry *e, fake_handle *handle, int transa, int transb, bool served)
{
    double host[CELLS * 2];
    arguments x = prepare(e, handle);
    const int before = fake_count;
    x.transa = transa, x.transb = transb;
    fake_status = served ? 0 : 15;
    const int status = e->is_wide ? call_int64_t(e, &x) : call_int(e, &x);
    if (served) {
        check(fake_count == before && status == 0, e->name, "it was not served");
        if (fake_count == before && gpu) {
            check(!xgemm_download(gpu, host, x.matrix[2], CELLS * element_bytes(e->type)) &&
                      is_right(e, host, transa, transb, batches_of(e)),
                  e->name, "the product is wrong");
        }
    } else {
        check(fake_count == before + 1 && strcmp(fake_last, e->name) == 0, e->name,
              "it was not passed on once");
        check(status == 15, e->name, "cuBLAS's status did not come back");
    }
    release_all(&x);
}

static void all(bool served)
{
    static fake_handle handle, device_scalars = {.pointer_mode = 1}, pedantic = {.math_mode = 2};
    for (int i = 0; i < ENTRIES; i++) {
        const entry *e = &entries[i];
        for (int trans = 0; trans < 9; trans++)
            one(e, &handle, trans / 3, trans % 3, served);
        one(e, &device_scalars, 0, 1, served);
        one(e, &pedantic, 1, 0, served);
    }
    if (served) {
        check(cublasDestroy_v2(&handle) == 0 && fake_destroyed == 1, "cublasDestroy_v2",
              "it was not passed on");
        one(&entries[0], &handle, 0, 0, true); /* a new one at the same address */
    }
}

/* What libxgemm cannot know: passed on, whatever else is served. */
static void unknown(void)
{
    static fake_handle emulated = {.math_mode = 4}, other = {.pointer_mode = 2}, plain;
    one(&entries[0], &emulated, 0, 0, false);
    one(&entries[0], &other, 0, 0, false);
    one(&entries[0], &plain, 3, 0, false);
}

static void inner_call(void)
{
    static fake_handle handle;
    arguments x = prepare(&entries[0], &handle);
    call_int(&entries[0], &x);
    release_all(&x);
}

/* A call from within cuBLAS stays with it, and does not come back here. */
static void nested(void)
{
    static fake_handle outer = {.math_mode = 4, .inner = inner_call};
    arguments x = prepare(&entries[0], &outer);
    const int before = fake_count;
    call_int(&entries[0], &x);
    check(fake_count == before + 2, "nested", "the inner call was not passed on");
    release_all(&x);
}

/* What cuBLAS refuses: its own status comes back, whatever else is served. */
static void invalid(void)
{
    static const char *const names[] = {"m < 0", "n < 0", "k < 0", "lda", "ldb", "ldc",
                                        "alpha", "beta",  "A",     "B",   "C"};
    static fake_handle handle;
    const entry *e = &entries[0];
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) {
        arguments x = prepare(e, &handle);
        int m = M, n = N, k = K, lda = LD, ldb = LD, ldc = LD;
        const void *alpha = x.alpha, *beta = x.beta, *a = x.matrix[0], *b = x.matrix[1];
        void *c = x.matrix[2];
        int *const numbers[] = {&m, &n, &k, &lda, &ldb, &ldc};
        const void **const pointers[] = {&alpha, &beta, &a, &b};
        if (i < 6)
            *numbers[i] = i < 3 ? -1 : M - 1;
        else if (i < 10)
            *pointers[i - 6] = NULL;
        else
            c = NULL;
        const int before = fake_count;
        fake_status = 7;
        const int status =
            ((int (*)(void *, int, int, int, int, int, const void *, const void *, int,
                      const void *, int, const void *, void *, int))e->function)(
                &handle, 0, 0, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
        check(fake_count == before + 1 && status == 7, names[i],
              "cuBLAS's error did not come back");
        release_all(&x);
    }
    const int before = fake_count;
    cublasCgemm3m();
    check(fake_count == before + 1 && strcmp(fake_last, "cublasCgemm3m") == 0, "cublasCgemm3m",
          "it was not left alone");
}

int calls(bool served)
{
    if (xgemm_create(&gpu, 0) == XGEMM_OK && xgemm_make_current(gpu))
        return 1;
    all(served && gpu);
    unknown();
    nested();
    invalid();
    failures += gemv_calls(gpu, served && gpu);
    failures += lt_calls(gpu, served && gpu);
    xgemm_destroy(gpu);
    printf("%d calls of the fake, %d failed\n", fake_count, failures);
    return failures > 0;
}
