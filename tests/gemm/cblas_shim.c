/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CBLAS's cblas_sgemm, dgemm, cgemm and zgemm and Fortran's sgemm_, dgemm_,
 * cgemm_ and zgemm_ over libxgemm's, for tests alone: preloaded into a program
 * that calls one of them, it makes that program a test of libxgemm (see
 * blas-suite.sh). The device is $XGEMM_DEVICE's.
 *
 * Arguments are libxgemm's to refuse; only after it did, or to see that it
 * should have, does the shim look for the wrong one, whose number CBLAS gives
 * to cblas_xerbla, and Fortran's BLAS to xerbla_.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xgemm.h>

#define EXPORT __attribute__((visibility("default")))

struct call {
    char type;    /* s, d, c or z */
    bool fortran; /* column order; arguments are counted without it */
    int order;
    int transa;
    int transb;
    int m;
    int n;
    int k;
    int lda;
    int ldb;
    int ldc;
};

/* Device memory, kept from call to call. */
struct buffer {
    void *memory;
    size_t bytes;
};

typedef void sgemm_function(int order, int transa, int transb, int m, int n, int k, float alpha,
                            const float *a, int lda, const float *b, int ldb, float beta, float *c,
                            int ldc);
typedef void dgemm_function(int order, int transa, int transb, int m, int n, int k, double alpha,
                            const double *a, int lda, const double *b, int ldb, double beta,
                            double *c, int ldc);
typedef void complex_function(int order, int transa, int transb, int m, int n, int k,
                              const void *alpha, const void *a, int lda, const void *b, int ldb,
                              const void *beta, void *c, int ldc);

/* Scalars of the function's type; the lengths of strings, both 1, are not read. */
typedef void fortran_function(const char *transa, const char *transb, const int *m, const int *n,
                              const int *k, const void *alpha, const void *a, const int *lda,
                              const void *b, const int *ldb, const void *beta, void *c,
                              const int *ldc, size_t length_a, size_t length_b);

EXPORT sgemm_function cblas_sgemm;
EXPORT dgemm_function cblas_dgemm;
EXPORT complex_function cblas_cgemm, cblas_zgemm;
EXPORT fortran_function sgemm_, dgemm_, cgemm_, zgemm_;

/* The host program's own where it has one, as xscblat3 does, else its BLAS's. */
extern void cblas_xerbla(int info, const char *routine, const char *format, ...)
    __attribute__((weak));
extern void xerbla_(const char *routine, const int *info, size_t length) __attribute__((weak));

/*
 * xscblat3 expects this variable of the reference CBLAS to be somewhere, and
 * would not start over another BLAS. It sets it, and reads it, by itself.
 */
extern int RowMajorStrg;
EXPORT int RowMajorStrg;

static unsigned long calls;
static char type_of_calls = 's'; /* of the last one */
static bool fortran_calls;
static bool inside; /* of a call of libxgemm */
static xgemm_handle *handle;
static int device = XGEMM_DEVICE_AUTO;
static struct buffer buffers[3];

__attribute__((format(printf, 1, 2), noreturn)) static void die(const char *format, ...)
{
    va_list arguments;

    fputs("cblas_shim: error: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(EXIT_FAILURE);
}

static void check(xgemm_status status)
{
    if (status != XGEMM_OK)
        die("%s: %s", xgemm_status_name(status), xgemm_last_error(handle));
}

/* The caller can tell by this line that the shim was in use, and on which device. */
__attribute__((destructor)) static void print_calls(void)
{
    fprintf(stderr, "cblas_shim: %lu calls of %s%cgemm%s on device %d\n", calls,
            fortran_calls ? "" : "cblas_", type_of_calls, fortran_calls ? "_" : "", device);
}

static void close_device(void)
{
    for (int i = 0; i < 3; i++)
        xgemm_free(handle, buffers[i].memory);
    xgemm_destroy(handle);
}

/*
 * Registered after the CUDA driver's own exit handlers, close_device runs
 * before them, while the driver still works; a destructor would be too late.
 */
static void open_device(void)
{
    check(xgemm_create(&handle, XGEMM_DEVICE_AUTO));
    device = xgemm_get_device(handle);
    if (atexit(close_device))
        die("atexit failed");
}

static bool is_transpose(int trans)
{
    return trans == XGEMM_NO_TRANS || trans == XGEMM_TRANS || trans == XGEMM_CONJ_TRANS;
}

/*
 * How op(X), of rows × cols, lies in memory: the length of X's contiguous runs.
 * With rows and cols exchanged it is the number of the runs.
 */
static int run_length(int order, int trans, int rows, int cols)
{
    return (trans == XGEMM_NO_TRANS) == (order == XGEMM_ROW_MAJOR) ? cols : rows;
}

static size_t element_bytes(char type)
{
    return type == 's' ? 4 : type == 'z' ? 16 : 8;
}

/* The bytes from the first element of X to its last, gaps included. */
static size_t span(char type, int order, int trans, int rows, int cols, int ld)
{
    int length = run_length(order, trans, rows, cols);
    int runs = run_length(order, trans, cols, rows);

    if (rows == 0 || cols == 0)
        return 0;
    return ((size_t)(runs - 1) * (size_t)ld + (size_t)length) * element_bytes(type);
}

/* Wrong sizes, numbered as in wrong_argument(); 0 when there is none. */
static int wrong_size(const struct call *x)
{
    bool row = x->order == XGEMM_ROW_MAJOR;
    int least_lda = run_length(x->order, x->transa, x->m, x->k);
    int least_ldb = run_length(x->order, x->transb, x->k, x->n);
    int least_ldc = run_length(x->order, XGEMM_NO_TRANS, x->m, x->n);
    const struct {
        int number;
        int value;
        int least;
    } sizes[] = {
        {4, row ? x->n : x->m, 0},
        {5, row ? x->m : x->n, 0},
        {6, x->k, 0},
        {9, row ? x->ldb : x->lda, row ? least_ldb : least_lda},
        {11, row ? x->lda : x->ldb, row ? least_lda : least_ldb},
        {14, x->ldc, least_ldc},
    };

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        bool leading = sizes[i].number > 6;
        if (sizes[i].value < sizes[i].least || (leading && sizes[i].value < 1))
            return sizes[i].number;
    }
    return 0;
}

/*
 * The number of the first wrong argument in the order in which CBLAS checks
 * them, 0 when there is none. In row order CBLAS passes B and A, n and m to
 * the Fortran routine and reports that one's numbers: those of m and n, and
 * of lda and ldb, change places.
 */
static int wrong_argument(const struct call *x)
{
    if (x->order != XGEMM_ROW_MAJOR && x->order != XGEMM_COL_MAJOR)
        return 1;
    if (!is_transpose(x->transa))
        return 2;
    if (!is_transpose(x->transb))
        return 3;
    return wrong_size(x);
}

static xgemm_status multiply(const struct call *x, const void *alpha, const void *a, const void *b,
                             const void *beta, void *c)
{
    const xgemm_order order = (xgemm_order)x->order;
    const xgemm_transpose ta = (xgemm_transpose)x->transa, tb = (xgemm_transpose)x->transb;

    switch (x->type) {
    case 's':
        return xgemm_sgemm(handle, order, ta, tb, x->m, x->n, x->k, *(const float *)alpha, a,
                           x->lda, b, x->ldb, *(const float *)beta, c, x->ldc);
    case 'd':
        return xgemm_dgemm(handle, order, ta, tb, x->m, x->n, x->k, *(const double *)alpha, a,
                           x->lda, b, x->ldb, *(const double *)beta, c, x->ldc);
    case 'c':
        return xgemm_cgemm(handle, order, ta, tb, x->m, x->n, x->k, alpha, a, x->lda, b, x->ldb,
                           beta, c, x->ldc);
    default:
        return xgemm_zgemm(handle, order, ta, tb, x->m, x->n, x->k, alpha, a, x->lda, b, x->ldb,
                           beta, c, x->ldc);
    }
}

static void *upload(struct buffer *buffer, const void *host, size_t bytes)
{
    if (bytes > buffer->bytes) {
        check(xgemm_free(handle, buffer->memory));
        buffer->bytes = 0;
        check(xgemm_malloc(handle, bytes, &buffer->memory));
        buffer->bytes = bytes;
    }
    if (bytes > 0)
        check(xgemm_upload(handle, buffer->memory, host, bytes));
    return buffer->memory;
}

static xgemm_status multiply_on_gpu(const struct call *x, const void *alpha, const void *a,
                                    const void *b, const void *beta, void *c)
{
    size_t bytes = span(x->type, x->order, XGEMM_NO_TRANS, x->m, x->n, x->ldc);
    const void *device_a =
        upload(&buffers[0], a, span(x->type, x->order, x->transa, x->m, x->k, x->lda));
    const void *device_b =
        upload(&buffers[1], b, span(x->type, x->order, x->transb, x->k, x->n, x->ldb));
    void *device_c = upload(&buffers[2], c, bytes);
    xgemm_status status = multiply(x, alpha, device_a, device_b, beta, device_c);

    if (status == XGEMM_OK && bytes > 0)
        check(xgemm_download(handle, c, device_c, bytes));
    return status;
}

static void refuse(const struct call *x, int number)
{
    char name[] = "cblas_?gemm", fortran_name[] = "?GEMM ";

    name[6] = x->type;
    fortran_name[0] = (char)(x->type - 'a' + 'A');
    if (x->fortran ? !xerbla_ : !cblas_xerbla)
        die("argument %d is wrong, and there is no xerbla to tell", number);
    if (x->fortran) {
        const int info = number - 1; /* there is no order */
        xerbla_(fortran_name, &info, sizeof(fortran_name) - 1);
        return;
    }
    cblas_xerbla(number, name, "%s\n", xgemm_last_error(handle));
}

/*
 * A wrong argument that libxgemm accepts is passed over in silence here: it
 * is the calling test that must notice that cblas_xerbla was not called.
 */
static void run(const struct call *x, const void *alpha, const void *a, const void *b,
                const void *beta, void *c)
{
    int wrong = wrong_argument(x);
    /* Wrong sizes are nothing to copy by; libxgemm must refuse before it reads. */
    bool on_gpu;
    xgemm_status status;

    inside = true;
    calls++;
    type_of_calls = x->type;
    fortran_calls = x->fortran;
    if (!handle)
        open_device();
    on_gpu = device >= 0 && !wrong;
    status = on_gpu ? multiply_on_gpu(x, alpha, a, b, beta, c) : multiply(x, alpha, a, b, beta, c);
    inside = false;
    if (status == XGEMM_ERROR_INVALID_VALUE && wrong)
        refuse(x, wrong);
    else
        check(status);
}

/* The BLAS's own function, which the shim stands before. */
static void find_blas(const char *name, void *function, size_t size)
{
    void *symbol = dlsym(RTLD_NEXT, name);

    if (!symbol)
        die("no BLAS for libxgemm's own call");
    memcpy(function, &symbol, size);
}

/* On the CPU libxgemm may itself call these, and comes here by that. */
void cblas_sgemm(int order, int transa, int transb, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc)
{
    static sgemm_function *blas;
    const struct call x = {'s', false, order, transa, transb, m, n, k, lda, ldb, ldc};

    if (!inside) {
        run(&x, &alpha, a, b, &beta, c);
        return;
    }
    if (!blas)
        find_blas("cblas_sgemm", &blas, sizeof(blas));
    blas(order, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void cblas_dgemm(int order, int transa, int transb, int m, int n, int k, double alpha,
                 const double *a, int lda, const double *b, int ldb, double beta, double *c,
                 int ldc)
{
    static dgemm_function *blas;
    const struct call x = {'d', false, order, transa, transb, m, n, k, lda, ldb, ldc};

    if (!inside) {
        run(&x, &alpha, a, b, &beta, c);
        return;
    }
    if (!blas)
        find_blas("cblas_dgemm", &blas, sizeof(blas));
    blas(order, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void cblas_cgemm(int order, int transa, int transb, int m, int n, int k, const void *alpha,
                 const void *a, int lda, const void *b, int ldb, const void *beta, void *c, int ldc)
{
    static complex_function *blas;
    const struct call x = {'c', false, order, transa, transb, m, n, k, lda, ldb, ldc};

    if (!inside) {
        run(&x, alpha, a, b, beta, c);
        return;
    }
    if (!blas)
        find_blas("cblas_cgemm", &blas, sizeof(blas));
    blas(order, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void cblas_zgemm(int order, int transa, int transb, int m, int n, int k, const void *alpha,
                 const void *a, int lda, const void *b, int ldb, const void *beta, void *c, int ldc)
{
    static complex_function *blas;
    const struct call x = {'z', false, order, transa, transb, m, n, k, lda, ldb, ldc};

    if (!inside) {
        run(&x, alpha, a, b, beta, c);
        return;
    }
    if (!blas)
        find_blas("cblas_zgemm", &blas, sizeof(blas));
    blas(order, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

/* A letter of Fortran's BLAS; 0, which libxgemm refuses, for any other. */
static int transpose_of(char letter)
{
    switch (letter) {
    case 'N':
    case 'n':
        return XGEMM_NO_TRANS;
    case 'T':
    case 't':
        return XGEMM_TRANS;
    case 'C':
    case 'c':
        return XGEMM_CONJ_TRANS;
    default:
        return 0;
    }
}

#define FORTRAN(name, letter)                                                                      \
    void name(const char *transa, const char *transb, const int *m, const int *n, const int *k,    \
              const void *alpha, const void *a, const int *lda, const void *b, const int *ldb,     \
              const void *beta, void *c, const int *ldc, size_t length_a, size_t length_b)         \
    {                                                                                              \
        static fortran_function *blas;                                                             \
        if (!inside) {                                                                             \
            run(&(const struct call){letter, true, XGEMM_COL_MAJOR, transpose_of(*transa),         \
                                     transpose_of(*transb), *m, *n, *k, *lda, *ldb, *ldc},         \
                alpha, a, b, beta, c);                                                             \
            return;                                                                                \
        }                                                                                          \
        if (!blas)                                                                                 \
            find_blas(#name, &blas, sizeof(blas));                                                 \
        blas(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, length_a, length_b);    \
    }

/* A CBLAS may be made of these. */
FORTRAN(sgemm_, 's')
FORTRAN(dgemm_, 'd')
FORTRAN(cgemm_, 'c')
FORTRAN(zgemm_, 'z')
