/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A libcublas.so.13 for bench.sh, which multiplies nothing: it says each call and its arguments to
 * the file FAKE_CUBLAS_SAYS, and gives back FAKE_CUBLAS_STATUS for a product, FAKE_CUBLAS_CREATE
 * for a handle. With WITHOUT_DESTROY defined, one that lacks a function.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int handles;

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    va_list values;
    const char *path = getenv("FAKE_CUBLAS_SAYS");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    va_start(values, format);
    vfprintf(file, format, values);
    va_end(values);
    fclose(file);
}

static int status_of(const char *variable)
{
    const char *text = getenv(variable);
    return text ? atoi(text) : 0;
}

int cublasCreate_v2(void **handle)
{
    *handle = &handles;
    say("%d handles\n", ++handles);
    return status_of("FAKE_CUBLAS_CREATE");
}

#ifndef WITHOUT_DESTROY
int cublasDestroy_v2(void *handle)
{
    say("%d handles\n", handle == &handles ? --handles : -1);
    return 0;
}
#endif

int cublasGetVersion_v2(void *handle, int *version)
{
    (void)handle;
    *version = 130200;
    return 0;
}

int cublasSetStream_v2(void *handle, const void *stream)
{
    (void)handle;
    say("stream: %s\n", stream ? "its own" : "none");
    return 0;
}

int cublasSetMathMode(void *handle, int mode)
{
    (void)handle;
    say("math: %d\n", mode);
    return 0;
}

static int sizes(const char *name, int transa, int transb, int m, int n, int k, int lda, int ldb,
                 int ldc)
{
    say("%s %c%c %d %d %d, %d %d %d", name, "NTC"[transa], "NTC"[transb], m, n, k, lda, ldb, ldc);
    return status_of("FAKE_CUBLAS_STATUS");
}

static void batch_of(int count, long long a, long long b, long long c)
{
    say(", %d by %lld %lld %lld", count, a, b, c);
}

/* Both parts of a scalar, or one, of the type of the sums. */
static void types_of(int a, int b, int c, int compute, int algorithm, const void *alpha,
                     const void *beta)
{
    enum { OF_COMPLEX = 4, OF_COMPLEX_DOUBLES = 5, COMPUTE_32F = 68 };
    const int parts = a == OF_COMPLEX || a == OF_COMPLEX_DOUBLES ? 2 : 1;
    say(", types %d %d %d, sums %d, algorithm %d,", a, b, c, compute, algorithm);
    for (int i = 0; i < 2 * parts; i++) {
        const void *from = i < parts ? alpha : beta;
        say(" %g", compute == COMPUTE_32F ? (double)((const float *)from)[i % parts]
                                          : ((const double *)from)[i % parts]);
    }
    say("\n");
}

int cublasSgemm_v2(void *handle, int transa, int transb, int m, int n, int k, const float *alpha,
                   const float *a, int lda, const float *b, int ldb, const float *beta, float *c,
                   int ldc)
{
    (void)handle, (void)a, (void)b, (void)c;
    const int status = sizes("Sgemm", transa, transb, m, n, k, lda, ldb, ldc);
    say(", %g %g\n", (double)*alpha, (double)*beta);
    return status;
}

int cublasSgemmStridedBatched(void *handle, int transa, int transb, int m, int n, int k,
                              const float *alpha, const float *a, int lda, long long stride_a,
                              const float *b, int ldb, long long stride_b, const float *beta,
                              float *c, int ldc, long long stride_c, int count)
{
    (void)handle, (void)a, (void)b, (void)c;
    const int status = sizes("SgemmStridedBatched", transa, transb, m, n, k, lda, ldb, ldc);
    batch_of(count, stride_a, stride_b, stride_c);
    say(", %g %g\n", (double)*alpha, (double)*beta);
    return status;
}

int cublasGemmEx(void *handle, int transa, int transb, int m, int n, int k, const void *alpha,
                 const void *a, int type_a, int lda, const void *b, int type_b, int ldb,
                 const void *beta, void *c, int type_c, int ldc, int compute, int algorithm)
{
    (void)handle, (void)a, (void)b, (void)c;
    const int status = sizes("GemmEx", transa, transb, m, n, k, lda, ldb, ldc);
    types_of(type_a, type_b, type_c, compute, algorithm, alpha, beta);
    return status;
}

int cublasGemmStridedBatchedEx(void *handle, int transa, int transb, int m, int n, int k,
                               const void *alpha, const void *a, int type_a, int lda,
                               long long stride_a, const void *b, int type_b, int ldb,
                               long long stride_b, const void *beta, void *c, int type_c, int ldc,
                               long long stride_c, int count, int compute, int algorithm)
{
    (void)handle, (void)a, (void)b, (void)c;
    const int status = sizes("GemmStridedBatchedEx", transa, transb, m, n, k, lda, ldb, ldc);
    batch_of(count, stride_a, stride_b, stride_c);
    types_of(type_a, type_b, type_c, compute, algorithm, alpha, beta);
    return status;
}
