/* SPDX-License-Identifier: BSD-3-Clause */
#include "cublas.h"

#include "symbol.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* Values of cublas_api.h and library_types.h. */
enum { OP_N = 0, OP_T = 1, OP_C = 2, MATH_DEFAULT = 0, MATH_TF32 = 3, ALGORITHM_DEFAULT = -1 };
enum { COMPUTE_32F = 68, COMPUTE_64F = 70 };
static const int data_types[] = {[XGEMM_F32] = 0,   [XGEMM_F64] = 1, [XGEMM_F16] = 2,
                                 [XGEMM_BF16] = 14, [XGEMM_C32] = 4, [XGEMM_C64] = 5};

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
    /* Any types; without a batch the strides and its size are not there. */
    int (*gemm)(void *handle, int transa, int transb, int m, int n, int k, const void *alpha,
                const void *a, int type_a, int lda, const void *b, int type_b, int ldb,
                const void *beta, void *c, int type_c, int ldc, int compute, int algorithm);
    int (*gemm_batched)(void *handle, int transa, int transb, int m, int n, int k,
                        const void *alpha, const void *a, int type_a, int lda, long long stride_a,
                        const void *b, int type_b, int ldb, long long stride_b, const void *beta,
                        void *c, int type_c, int ldc, long long stride_c, int batch, int compute,
                        int algorithm);
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
        !find_symbol(c->library, "cublasGemmEx", &c->gemm) ||
        !find_symbol(c->library, "cublasGemmStridedBatchedEx", &c->gemm_batched) ||
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
    const void *data;
    int op, ld;
    long long stride;
} operand;

/* A product as cuBLAS takes it: in column order. */
typedef struct {
    operand left, right;
    int m, n, k, ldc;
} column_product;

static int operation(xgemm_transpose trans)
{
    return trans == XGEMM_NO_TRANS ? OP_N : trans == XGEMM_TRANS ? OP_T : OP_C;
}

/* Of matrices in row order, the transposed product. */
static column_product in_columns(const workload *work, const buffers *use)
{
    const shape *s = &work->size;
    const bool swap = work->order == XGEMM_ROW_MAJOR;
    const operand a = {use->a, operation(work->transa), (int)work->lda, work->stride_a};
    const operand b = {use->b, operation(work->transb), (int)work->ldb, work->stride_b};
    return (column_product){.left = swap ? b : a,
                            .right = swap ? a : b,
                            .m = (int)(swap ? s->n : s->m),
                            .n = (int)(swap ? s->m : s->n),
                            .k = (int)s->k,
                            .ldc = (int)work->ldc};
}

static int multiply_floats(const cublas *library, const workload *work, const column_product *p,
                           void *c)
{
    const operand *l = &p->left, *r = &p->right;
    const float alpha = (float)work->alpha.re, beta = (float)work->beta.re;
    if (work->batch > 1)
        return library->sgemm_batched(library->handle, l->op, r->op, p->m, p->n, p->k, &alpha,
                                      l->data, l->ld, l->stride, r->data, r->ld, r->stride, &beta,
                                      c, p->ldc, work->stride_c, (int)work->batch);
    return library->sgemm(library->handle, l->op, r->op, p->m, p->n, p->k, &alpha, l->data, l->ld,
                          r->data, r->ld, &beta, c, p->ldc);
}

int cublas_multiply(const cublas *library, const workload *work, const buffers *use)
{
    const column_product p = in_columns(work, use);
    const operand *l = &p.left, *r = &p.right;
    if (work->type == XGEMM_F32)
        return multiply_floats(library, work, &p, use->c);
    const xgemm_type sums = type_of_sums(work->type);
    const int compute = type_part(sums) == XGEMM_F64 ? COMPUTE_64F : COMPUTE_32F;
    const int type = data_types[work->type], type_c = data_types[work->type_c];
    workload_scalars s;
    element_store(sums, s.alpha, 0, work->alpha);
    element_store(sums, s.beta, 0, work->beta);
    if (work->batch > 1)
        return library->gemm_batched(library->handle, l->op, r->op, p.m, p.n, p.k, s.alpha, l->data,
                                     type, l->ld, l->stride, r->data, type, r->ld, r->stride,
                                     s.beta, use->c, type_c, p.ldc, work->stride_c,
                                     (int)work->batch, compute, ALGORITHM_DEFAULT);
    return library->gemm(library->handle, l->op, r->op, p.m, p.n, p.k, s.alpha, l->data, type,
                         l->ld, r->data, type, r->ld, s.beta, use->c, type_c, p.ldc, compute,
                         ALGORITHM_DEFAULT);
}

const char *cublas_function(const workload *work)
{
    const bool is_float = work->type == XGEMM_F32;
    if (work->batch > 1)
        return is_float ? "cublasSgemmStridedBatched" : "cublasGemmStridedBatchedEx";
    return is_float ? "cublasSgemm" : "cublasGemmEx";
}

bool cublas_has(const workload *work)
{
    return !type_is_half(work->type) || work->type_c == work->type || work->type_c == XGEMM_F32;
}
