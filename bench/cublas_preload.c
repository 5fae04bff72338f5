/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A test tool, not a drop-in replacement of cuBLAS: preloaded into a program that calls
 * cublasSgemm or cublasSgemmStridedBatched, such as PyTorch, it has libxgemm compute these
 * products on the GPU. All else stays with cuBLAS, and so does what libxgemm refuses.
 *
 *   make bench/libcublas-preload.so
 *   LD_PRELOAD="libxgemm.so.0 libcublas-preload.so" XGEMM_PRELOAD_LOG=1 python3 program.py
 *
 * XGEMM_PRELOAD_LOG=1  prints to stderr at exit how many calls libxgemm served, how many were
 *                      passed on to cuBLAS, and which shapes were the most frequent
 * XGEMM_PRELOAD_OFF=1  passes every call on
 *
 * PyTorch computes addmm, and so linear layers with a bias, by cublasLtMatmul, which is not
 * seen here; DISABLE_ADDMM_CUDA_LT=1 makes it call cublasSgemm.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NOLOAD */
#endif
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xgemm.h>

#define EXPORT __attribute__((visibility("default")))

/* ---- What is used of cuBLAS and the driver; the numbers are those of their headers ---- */

typedef void *cublas_handle;
enum { CUBLAS_SUCCESS = 0, CUBLAS_NOT_INITIALIZED = 1, POINTER_MODE_HOST = 0 };
enum { MATH_DEFAULT = 0, MATH_PEDANTIC = 2, MATH_TF32 = 3 };
enum { MATH_FLAG_FULL_REDUCTION = 16 }; /* about FP16 and BF16: no matter here */

typedef int sgemm_function(cublas_handle, int transa, int transb, int m, int n, int k,
                           const float *alpha, const float *a, int lda, const float *b, int ldb,
                           const float *beta, float *c, int ldc);
typedef int batched_function(cublas_handle, int transa, int transb, int m, int n, int k,
                             const float *alpha, const float *a, int lda, long long stride_a,
                             const float *b, int ldb, long long stride_b, const float *beta,
                             float *c, int ldc, long long stride_c, int batch_count);

EXPORT sgemm_function cublasSgemm_v2;
EXPORT batched_function cublasSgemmStridedBatched;

static struct {
    sgemm_function *sgemm;
    batched_function *batched;
    int (*get_stream)(cublas_handle, void **stream);
    int (*get_pointer_mode)(cublas_handle, int *mode);
    int (*get_math_mode)(cublas_handle, int *mode);
    int (*get_device)(int *ordinal); /* of the current context: the driver's */
} real;

/* ---- State, all of it under the lock ---- */

/* A cuBLAS handle works on the GPU whose context is current, so that is part of the key. */
struct handle {
    cublas_handle cublas;
    int device;
    xgemm_handle *xgemm; /* NULL: it could not be made, and is not tried again */
};

struct shape {
    int m, n, k, transa, transb, batch;
    unsigned long served, passed_on;
};

enum { HANDLES_MAX = 256, SHAPES_MAX = 4096, SHAPES_PRINTED = 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct handle handles[HANDLES_MAX];
static struct shape shapes[SHAPES_MAX];
static int handle_count, shape_count;
static unsigned long served_count, passed_on_count;
static char last_failure[256]; /* libxgemm's sentence for a call that it refused */

/* ---- The environment, read once: a call takes microseconds, and the program may change it ---- */

static bool is_off, is_logged;

static bool is_set(const char *variable)
{
    const char *text = getenv(variable);
    return text && *text && strcmp(text, "0") != 0;
}

__attribute__((constructor)) static void read_environment(void)
{
    is_off = is_set("XGEMM_PRELOAD_OFF");
    is_logged = is_set("XGEMM_PRELOAD_LOG");
}

/* ---- Finding the real functions ---- */

/* One of those that the process has loaded already: nothing is loaded on its behalf. */
static void *loaded_library(const char *const *names)
{
    void *library = NULL;
    for (; *names && !library; names++)
        library = dlopen(*names, RTLD_NOW | RTLD_NOLOAD);
    return library;
}

static void find(void *library, const char *symbol, void *function)
{
    void *address = library ? dlsym(library, symbol) : NULL;
    memcpy(function, &address, sizeof address);
}

/* dlsym(RTLD_NEXT) would find nothing where cuBLAS was loaded with RTLD_LOCAL. */
static bool find_cublas(void)
{
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11",
                                        NULL};
    static const char *const drivers[] = {"libcuda.so.1", NULL};
    if (!real.sgemm) {
        void *library = loaded_library(names);
        find(library, "cublasSgemm_v2", &real.sgemm);
        find(library, "cublasSgemmStridedBatched", &real.batched);
        find(library, "cublasGetStream_v2", &real.get_stream);
        find(library, "cublasGetPointerMode_v2", &real.get_pointer_mode);
        find(library, "cublasGetMathMode", &real.get_math_mode);
    }
    if (!real.get_device)
        find(loaded_library(drivers), "cuCtxGetDevice", &real.get_device);
    return real.sgemm && real.batched;
}

/* ---- Calls ---- */

struct call {
    struct shape shape;
    const float *alpha, *a, *b, *beta;
    float *c;
    long long stride_a, stride_b, stride_c;
    int lda, ldb, ldc;
    bool is_batched;
};

static xgemm_handle *handle_of(cublas_handle cublas)
{
    int device, i = 0;
    if (!real.get_device || real.get_device(&device))
        return NULL;
    while (i < handle_count && (handles[i].cublas != cublas || handles[i].device != device))
        i++;
    if (i == HANDLES_MAX)
        return NULL;
    if (i == handle_count) {
        handles[i] = (struct handle){.cublas = cublas, .device = device};
        handle_count++;
        if (xgemm_create(&handles[i].xgemm, device))
            snprintf(last_failure, sizeof last_failure, "%s", xgemm_last_error(NULL));
    }
    return handles[i].xgemm;
}

/* The handle with cuBLAS's stream and math mode; NULL: the call is passed on. */
static xgemm_handle *prepare(cublas_handle cublas)
{
    static const struct {
        int cublas;
        xgemm_math xgemm;
    } modes[] = {{MATH_DEFAULT, XGEMM_MATH_DEFAULT},
                 {MATH_PEDANTIC, XGEMM_MATH_STRICT},
                 {MATH_TF32, XGEMM_MATH_TF32}};
    int pointer_mode, math_mode;
    void *stream;
    if (!real.get_stream || !real.get_pointer_mode || !real.get_math_mode ||
        real.get_pointer_mode(cublas, &pointer_mode) || pointer_mode != POINTER_MODE_HOST ||
        real.get_math_mode(cublas, &math_mode) || real.get_stream(cublas, &stream))
        return NULL;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (modes[i].cublas == (math_mode & ~MATH_FLAG_FULL_REDUCTION)) {
            xgemm_handle *handle = handle_of(cublas);
            if (!handle || xgemm_set_math(handle, modes[i].xgemm) ||
                xgemm_set_stream(handle, stream))
                return NULL;
            return handle;
        }
    return NULL;
}

static bool multiply(cublas_handle cublas, const struct call *call)
{
    static const xgemm_transpose ops[] = {XGEMM_NO_TRANS, XGEMM_TRANS, XGEMM_CONJ_TRANS};
    const struct shape *s = &call->shape;
    if (s->transa < 0 || s->transa > 2 || s->transb < 0 || s->transb > 2 || !call->alpha ||
        !call->beta)
        return false;
    xgemm_handle *handle = prepare(cublas);
    if (!handle)
        return false;
    xgemm_status status;
    if (call->is_batched)
        status = xgemm_sgemm_strided_batched(
            handle, XGEMM_COL_MAJOR, ops[s->transa], ops[s->transb], s->m, s->n, s->k, *call->alpha,
            call->a, call->lda, call->stride_a, call->b, call->ldb, call->stride_b, *call->beta,
            call->c, call->ldc, call->stride_c, s->batch);
    else
        status = xgemm_sgemm(handle, XGEMM_COL_MAJOR, ops[s->transa], ops[s->transb], s->m, s->n,
                             s->k, *call->alpha, call->a, call->lda, call->b, call->ldb,
                             *call->beta, call->c, call->ldc);
    if (status)
        snprintf(last_failure, sizeof last_failure, "%s", xgemm_last_error(handle));
    return status == XGEMM_OK;
}

static void count(const struct shape *shape, bool is_served)
{
    const size_t key = offsetof(struct shape, served);
    int i = 0;
    served_count += is_served;
    passed_on_count += !is_served;
    if (!is_logged)
        return;
    while (i < shape_count && memcmp(&shapes[i], shape, key) != 0)
        i++;
    if (i == SHAPES_MAX)
        return;
    if (i == shape_count)
        shapes[shape_count++] = *shape;
    shapes[i].served += is_served;
    shapes[i].passed_on += !is_served;
}

/* Whether libxgemm did it. The lock is free when cuBLAS is called, which may come back here. */
static bool serve(cublas_handle cublas, const struct call *call, bool *have_cublas)
{
    pthread_mutex_lock(&lock);
    *have_cublas = find_cublas();
    const bool is_served = *have_cublas && !is_off && multiply(cublas, call);
    count(&call->shape, is_served);
    pthread_mutex_unlock(&lock);
    return is_served;
}

int cublasSgemm_v2(cublas_handle cublas, int transa, int transb, int m, int n, int k,
                   const float *alpha, const float *a, int lda, const float *b, int ldb,
                   const float *beta, float *c, int ldc)
{
    const struct call call = {.shape = {m, n, k, transa, transb, 1, 0, 0},
                              .alpha = alpha,
                              .a = a,
                              .lda = lda,
                              .b = b,
                              .ldb = ldb,
                              .beta = beta,
                              .c = c,
                              .ldc = ldc};
    bool have_cublas;
    if (serve(cublas, &call, &have_cublas))
        return CUBLAS_SUCCESS;
    return have_cublas
               ? real.sgemm(cublas, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
               : CUBLAS_NOT_INITIALIZED;
}

int cublasSgemmStridedBatched(cublas_handle cublas, int transa, int transb, int m, int n, int k,
                              const float *alpha, const float *a, int lda, long long stride_a,
                              const float *b, int ldb, long long stride_b, const float *beta,
                              float *c, int ldc, long long stride_c, int batch_count)
{
    const struct call call = {.shape = {m, n, k, transa, transb, batch_count, 0, 0},
                              .alpha = alpha,
                              .beta = beta,
                              .a = a,
                              .b = b,
                              .c = c,
                              .lda = lda,
                              .ldb = ldb,
                              .ldc = ldc,
                              .stride_a = stride_a,
                              .stride_b = stride_b,
                              .stride_c = stride_c,
                              .is_batched = true};
    bool have_cublas;
    if (serve(cublas, &call, &have_cublas))
        return CUBLAS_SUCCESS;
    return have_cublas ? real.batched(cublas, transa, transb, m, n, k, alpha, a, lda, stride_a, b,
                                      ldb, stride_b, beta, c, ldc, stride_c, batch_count)
                       : CUBLAS_NOT_INITIALIZED;
}

/* ---- The log ---- */

static int by_calls(const void *left, const void *right)
{
    const struct shape *a = left, *b = right;
    const unsigned long of_a = a->served + a->passed_on, of_b = b->served + b->passed_on;
    return (of_a < of_b) - (of_a > of_b);
}

/*
 * Nothing is printed by a process without cuBLAS, such as a shell that the program ran. The
 * handles are not destroyed: the driver may have shut down before.
 */
__attribute__((destructor)) static void print_log(void)
{
    if (!is_logged || !find_cublas())
        return;
    fprintf(stderr, "libcublas-preload: %lu served by libxgemm %s, %lu passed on to cuBLAS\n",
            served_count, xgemm_version(), passed_on_count);
    if (*last_failure)
        fprintf(stderr, "libcublas-preload: the last failure: %s\n", last_failure);
    qsort(shapes, (size_t)shape_count, sizeof *shapes, by_calls);
    for (int i = 0; i < shape_count && i < SHAPES_PRINTED; i++) {
        const struct shape *s = &shapes[i];
        if (i == 0)
            fprintf(stderr, "%9s %9s %7s %7s %7s %s %s\n", "served", "passed on", "m", "n", "k",
                    "transa transb", "batch");
        fprintf(stderr, "%9lu %9lu %7d %7d %7d %6d %6d %5d\n", s->served, s->passed_on, s->m, s->n,
                s->k, s->transa, s->transb, s->batch);
    }
}
