/* SPDX-License-Identifier: BSD-3-Clause */
/* C to D of cublasLtMatmul, by the driver, so that the copy is captured with the product. */
#include "copy.h"

#include "shim/product.h"

/* CUDA_MEMCPY2D of the driver, of which memory of the device is used. */
typedef struct {
    size_t source_x, source_y;
    int source_type;
    const void *source_host;
    uint64_t source;
    void *source_array;
    size_t source_pitch;
    size_t to_x, to_y;
    int to_type;
    void *to_host;
    uint64_t to;
    void *to_array;
    size_t to_pitch;
    size_t width, height; /* bytes, rows */
} copy_2d;

enum { MEMORY_OF_DEVICE = 2 };

typedef int copy_function(const copy_2d *, void *stream);

/* Columns that lie alike in C and D from one product to the next are those of one matrix. */
static bool is_one(const call *c)
{
    const xgemm_product *p = &c->product;
    return p->batch_count == 1 ||
           (c->source_stride == c->source_ld * p->n && p->stride_c == p->ldc * p->n);
}

int64_t copies_of(const call *c)
{
    return !c->source ? 0 : is_one(c) ? 1 : c->product.batch_count;
}

bool copy_source(const call *c)
{
    static real_function real = {REAL_DRIVER, "cuMemcpy2DAsync_v2", NULL};
    copy_function *const copy = REAL(copy_function, &real);
    const xgemm_product *p = &c->product;
    const int64_t count = copies_of(c), columns = p->n * (p->batch_count / count);
    const uint64_t bytes = bytes_of(p->type_c);
    bool is_done = copy != NULL;
    for (int64_t i = 0; i < count && is_done; i++) {
        const copy_2d of = {.source_type = MEMORY_OF_DEVICE,
                            .source = (uint64_t)(uintptr_t)c->source +
                                      (uint64_t)(i * c->source_stride) * bytes,
                            .source_pitch = (size_t)((uint64_t)c->source_ld * bytes),
                            .to_type = MEMORY_OF_DEVICE,
                            .to = (uint64_t)(uintptr_t)p->c + (uint64_t)(i * p->stride_c) * bytes,
                            .to_pitch = (size_t)((uint64_t)p->ldc * bytes),
                            .width = (size_t)((uint64_t)p->m * bytes),
                            .height = (size_t)columns};
        is_done = copy(&of, c->stream) == 0;
    }
    return is_done;
}
