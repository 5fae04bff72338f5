/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program of dropins.sh, loaded with RTLD_LOCAL by dropins_main.c as PyTorch loads its parts:
 * calls every entry point of cuBLAS that the drop-in has. Each must be passed on unchanged, or,
 * with a GPU (which may be fake), give the right product without the fake cuBLAS having seen it.
 */
#include "cublas_calls.h"
#include "elements.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    cublasSgemmEx_64, cublasCgemm3m, cublasSgemv_v2, cublasDgemv_v2;

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
    int m, n, k, ld[3], batch;
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
                h, x->transa, x->transb, x->m, x->n, x->k, x->alpha, x->matrix[0], x->ld[0],       \
                x->matrix[1], x->ld[1], x->beta, x->matrix[2], x->ld[2]);                          \
        case STRIDED:                                                                              \
            return ((int (*)(void *, int, int, I, I, I, P, P, I, long long, P, I, long long, P,    \
                             void *, I, long long, I))e->function)(                                \
                h, x->transa, x->transb, x->m, x->n, x->k, x->alpha, x->matrix[0], x->ld[0],       \
                LD * LD, x->matrix[1], x->ld[1], LD * LD, x->beta, x->matrix[2], x->ld[2],         \
                LD * LD, x->batch);                                                                \
        case BATCHED:                                                                              \
            return ((int (*)(void *, int, int, I, I, I, P, P, I, P, I, P, void *, I,               \
                             I))e->function)(h, x->transa, x->transb, x->m, x->n, x->k, x->alpha,  \
                                             x->list[0], x->ld[0], x->list[1], x->ld[1], x->beta,  \
                                             x->list[2], x->ld[2], x->batch);                      \
        case EX:                                                                                   \
            return ((int (*)(void *, int, int, I, I, I, P, P, int, I, P, int, I, P, void *, int,   \
                             I, int, int))e->function)(                                            \
                h, x->transa, x->transb, x->m, x->n, x->k, x->alpha, x->matrix[0], t, x->ld[0],    \
                x->matrix[1], t, x->ld[1], x->beta, x->matrix[2], t, x->ld[2], u, -1);             \
        case STRIDED_EX:                                                                           \
            return ((int (*)(void *, int, int, I, I, I, P, P, int, I, long long, P, int, I,        \
                             long long, P, void *, int, I, long long, I, int, int))e->function)(   \
                h, x->transa, x->transb, x->m, x->n, x->k, x->alpha, x->matrix[0], t, x->ld[0],    \
                LD * LD, x->matrix[1], t, x->ld[1], LD * LD, x->beta, x->matrix[2], t, x->ld[2],   \
                LD * LD, x->batch, u, -1);                                                         \
        case BATCHED_EX:                                                                           \
            return ((int (*)(void *, int, int, I, I, I, P, P, int, I, P, int, I, P, void *, int,   \
                             I, I, int, int))e->function)(                                         \
                h, x->transa, x->transb, x->m, x->n, x->k, x->alpha, x->list[0], t, x->ld[0],      \
                x->list[1], t, x->ld[1], x->beta, x->list[2], t, x->ld[2], x->batch, u, -1);       \
        default:                                                                                   \
            return ((int (*)(void *, int, int, I, I, I, P, P, int, I, P, int, I, P, void *, int,   \
                             I))e->function)(h, x->transa, x->transb, x->m, x->n, x->k, x->alpha,  \
                                             x->matrix[0], t, x->ld[0], x->matrix[1], t, x->ld[1], \
                                             x->beta, x->matrix[2], t, x->ld[2]);                  \
        }                                                                                          \
    }
CALL(int)
CALL(int64_t)

static int call_entry(const entry *e, const arguments *x)
{
    return e->is_wide ? call_int64_t(e, x) : call_int(e, x);
}

static int batches_of(const entry *e)
{
    return e->form == PLAIN || e->form == EX || e->form == SGEMM_EX ? 1 : BATCH;
}

/* Puts the operands of an entry point into memory of the GPU. */
static arguments prepare(const entry *e, fake_handle *handle)
{
    static double alpha[2], beta[2];
    double host[CELLS * 2];
    arguments x = {.handle = handle,
                   .type = element_cuda_type(e->type),
                   .compute = element_compute(e->type),
                   .m = M,
                   .n = N,
                   .k = K,
                   .ld = {LD, LD, LD},
                   .batch = BATCH};
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
    const int status = call_entry(e, &x);
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
    static const entry not_of_floats[] = {BOTH(cublasSgemmEx, SGEMM_EX, F64),
                                          BOTH(cublasSgemmEx, SGEMM_EX, C32),
                                          BOTH(cublasSgemmEx, SGEMM_EX, C64)};
    for (int i = 0; i < (int)(sizeof not_of_floats / sizeof *not_of_floats); i++)
        one(&not_of_floats[i], &plain, 0, 0, false);
    one(&entries[0], &emulated, 0, 0, false);
    one(&entries[0], &other, 0, 0, false);
    one(&entries[0], &plain, 3, 0, false);
}

/* A handle that may take a part of the GPU only; and again all, as others may. */
static void part_of_gpu(bool served)
{
    static fake_handle handle, other;
    cublasSetSmCountTarget(&handle, 100);
    check(handle.multiprocessors == 100, "cublasSetSmCountTarget", "it was not passed on");
    one(&entries[0], &handle, 0, 0, false);
    one(&entries[0], &other, 0, 0, served);
    cublasSetSmCountTarget(&handle, 0);
    one(&entries[0], &handle, 0, 0, served);
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

static const arguments *of_cancelled;

static void *cancel_and_call(void *status)
{
    if (gpu && xgemm_make_current(gpu))
        return NULL;
    pthread_cancel(pthread_self());
    *(int *)status = call_int(&entries[0], of_cancelled);
    pthread_testcancel();
    return NULL;
}

/*
 * A thread that was cancelled comes back from a product before it ends, and keeps no lock, for
 * which the next call would wait until SIGALRM. The log of libxgemm is where a thread would end.
 */
static void cancelled(bool served)
{
    enum { SECONDS = 100 };
    static fake_handle handle;
    const arguments x = prepare(&entries[0], &handle);
    int status = -1, before = fake_count;
    pthread_t thread;
    of_cancelled = &x;
    fake_status = 0;
    check(pthread_create(&thread, NULL, cancel_and_call, &status) == 0 &&
              pthread_join(thread, NULL) == 0 && status == 0 && fake_count == before + !served,
          "a cancelled thread", "it did not come back");
    release_all(&x);
    alarm(SECONDS);
    one(&entries[0], &handle, 0, 0, served);
    alarm(0);
}

/* What cuBLAS refuses, or what multiplies nothing: its own status comes back, whatever else is
   served. */
static const char *const changes[] = {"transa",    "transb",
                                      "m < 0",     "n < 0",
                                      "k < 0",     "lda",
                                      "ldb",       "ldc",
                                      "alpha",     "beta",
                                      "A",         "B",
                                      "C",         "m = 0",
                                      "n = 0",     "k = 0",
                                      "alpha = 0", "no handle",
                                      "batch",     "batch = 0",
                                      "the type",  "the compute type"};
enum { CHANGES = sizeof changes / sizeof *changes, OF_BATCHES = 18, OF_EX = 20 };

/* False: the entry point has no such argument. */
static bool change(const entry *e, arguments *x, int i)
{
    static const double zero[2];
    int *const numbers[] = {&x->transa, &x->transb, &x->m,     &x->n,
                            &x->k,      &x->ld[0],  &x->ld[1], &x->ld[2]};
    static const int values[] = {3, -1, -1, -1, -1, M - 1, K - 1, M - 1};
    const bool has_compute = e->form == EX || e->form == STRIDED_EX || e->form == BATCHED_EX;
    if (i < 8)
        *numbers[i] = values[i];
    else if (i < 10)
        *(i == 8 ? &x->alpha : &x->beta) = NULL;
    else if (i < 13)
        x->matrix[i - 10] = x->list[i - 10] = NULL;
    else if (i < 16)
        *(i == 13 ? &x->m : i == 14 ? &x->n : &x->k) = 0;
    else if (i == 16)
        x->alpha = zero;
    else if (i == 17)
        x->handle = NULL;
    else if (i < OF_EX)
        x->batch = i == OF_BATCHES ? -1 : 0;
    else
        *(i == OF_EX ? &x->type : &x->compute) = 99;
    return i < OF_BATCHES ? true
           : i < OF_EX    ? batches_of(e) > 1
           : i == OF_EX   ? has_compute || e->form == SGEMM_EX
                          : has_compute;
}

static void invalid(void)
{
    static fake_handle handle;
    for (int of = 0; of < ENTRIES; of++)
        for (int i = 0; i < CHANGES; i++) {
            const entry *e = &entries[of];
            const arguments whole = prepare(e, &handle);
            arguments x = whole;
            const int before = fake_count;
            fake_status = 7;
            if (change(e, &x, i)) {
                const int status = call_entry(e, &x);
                check(fake_count == before + 1 && status == 7 && strcmp(fake_last, e->name) == 0,
                      e->name, changes[i]);
            }
            release_all(&whole);
        }
}

/* What the drop-in has no function for. */
static void left_alone(void)
{
    static const struct {
        const char *name;
        any_function *function;
    } list[] = {{"cublasCgemm3m", cublasCgemm3m},
                {"cublasSgemv_v2", cublasSgemv_v2},
                {"cublasDgemv_v2", cublasDgemv_v2}};
    for (int i = 0; i < (int)(sizeof list / sizeof *list); i++) {
        const int before = fake_count;
        list[i].function();
        check(fake_count == before + 1 && strcmp(fake_last, list[i].name) == 0, list[i].name,
              "it was not left alone");
    }
}

int calls(bool served)
{
    if (xgemm_create(&gpu, 0) == XGEMM_OK && xgemm_make_current(gpu))
        return 1;
    all(served && gpu);
    unknown();
    part_of_gpu(served);
    nested();
    cancelled(served && gpu);
    invalid();
    left_alone();
    failures += lt_calls(gpu, served && gpu);
    xgemm_destroy(gpu);
    printf("%d calls of the fake, %d failed\n", fake_count, failures);
    return failures > 0;
}
