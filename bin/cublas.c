/* SPDX-License-Identifier: BSD-3-Clause */
#include "cublas.h"

#include "symbol.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* Values of cublas_api.h. */
enum { OP_N = 0, OP_T = 1, MATH_DEFAULT = 0, MATH_TF32 = 3 };

struct cublas {
    void *library, *handle;
    int version;
    int (*set_math)(void *handle, int mode);
    int (*destroy)(void *handle);
    int (*sgemm)(void *handle, int transa, int transb, int m, int n, int k, const float *alpha,
                 const float *a, int lda, const float *b, int ldb, const float *beta, float *c,
                 int ldc);
    int (*sgemm_batched)(void *handle, int transa, int transb, int m, int n, int k,
                         const float *alpha, const float *a, int lda, long long stride_a,
                         const float *b, int ldb, long long stride_b, const float *beta, float *c,
                         int ldc, long long stride_c, int batch);
};

static void *open_library(void)
{
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

static bool prepare(cublas *c, xgemm_handle *handle, void *stream, char *message,
                    size_t message_size)
{
    int (*create)(void **handle), (*get_version)(void *handle, int *version);
    int (*set_stream)(void *handle, void *stream);
    if (!find_symbol(c->library, "cublasCreate_v2", &create) ||
        !find_symbol(c->library, "cublasGetVersion_v2", &get_version) ||
        !find_symbol(c->library, "cublasSetMathMode", &c->set_math) ||
        !find_symbol(c->library, "cublasSetStream_v2", &set_stream) ||
        !find_symbol(c->library, "cublasSgemm_v2", &c->sgemm) ||
        !find_symbol(c->library, "cublasSgemmStridedBatched", &c->sgemm_batched) ||
        !find_symbol(c->library, "cublasDestroy_v2", &c->destroy)) {
        snprintf(message, message_size, "the cuBLAS that was found lacks a function: %s",
                 dlerror());
        return false;
    }
    if (xgemm_make_current(handle)) {
        snprintf(message, message_size, "%s", xgemm_last_error(handle));
        return false;
    }
    const int failed = create(&c->handle);
    if (failed) {
        snprintf(message, message_size, "cublasCreate failed with status %d", failed);
        return false;
    }
    get_version(c->handle, &c->version);
    set_stream(c->handle, stream);
    return true;
}

cublas *cublas_open(xgemm_handle *handle, void *stream, char *message, size_t message_size)
{
    cublas *c = calloc(1, sizeof *c);
    if (!c) {
        snprintf(message, message_size, "the host is out of memory");
        return NULL;
    }
    c->library = open_library();
    if (!c->library) {
        snprintf(message, message_size, "cuBLAS cannot be loaded: %s", dlerror());
        free(c);
        return NULL;
    }
    if (!prepare(c, handle, stream, message, message_size)) {
        dlclose(c->library);
        free(c);
        return NULL;
    }
    return c;
}

void cublas_set_math(cublas *c, xgemm_math math)
{
    c->set_math(c->handle, math == XGEMM_MATH_TF32 ? MATH_TF32 : MATH_DEFAULT);
}

void cublas_close(cublas *library)
{
    if (!library)
        return;
    library->destroy(library->handle);
    dlclose(library->library);
    free(library);
}

int cublas_version(const cublas *library)
{
    return library->version;
}

/* An operand as cuBLAS takes it. */
typedef struct {
    const float *data;
    int op, ld;
    long long stride;
} operand;

int cublas_sgemm(const cublas *library, const workload *work, const buffers *use)
{
    const shape *s = &work->size;
    /* cuBLAS knows column order: of matrices in row order, the transposed product. */
    const bool swap = work->order == XGEMM_ROW_MAJOR;
    const int opa = work->transa == XGEMM_NO_TRANS ? OP_N : OP_T;
    const int opb = work->transb == XGEMM_NO_TRANS ? OP_N : OP_T;
    const operand a = {use->a, opa, (int)work->lda, work->stride_a};
    const operand b = {use->b, opb, (int)work->ldb, work->stride_b};
    const operand *l = swap ? &b : &a, *r = swap ? &a : &b;
    const int m = (int)(swap ? s->n : s->m), n = (int)(swap ? s->m : s->n), k = (int)s->k;
    if (work->batch > 1)
        return library->sgemm_batched(library->handle, l->op, r->op, m, n, k, &work->alpha, l->data,
                                      l->ld, l->stride, r->data, r->ld, r->stride, &work->beta,
                                      use->c, (int)work->ldc, work->stride_c, (int)work->batch);
    return library->sgemm(library->handle, l->op, r->op, m, n, k, &work->alpha, l->data, l->ld,
                          r->data, r->ld, &work->beta, use->c, (int)work->ldc);
}
