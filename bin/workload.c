/* SPDX-License-Identifier: BSD-3-Clause */
#include "workload.h"

#include "random.h"

#include <math.h>
#include <stdlib.h>

static int64_t line_of(xgemm_order order, bool transposed, int64_t rows, int64_t columns)
{
    const int64_t line = (order == XGEMM_ROW_MAJOR) == transposed ? rows : columns;
    return line > 0 ? line : 1;
}

static int64_t lines_of(xgemm_order order, bool transposed, int64_t rows, int64_t columns)
{
    return (order == XGEMM_ROW_MAJOR) == transposed ? columns : rows;
}

workload workload_of(shape size, xgemm_order order, xgemm_transpose transa, xgemm_transpose transb,
                     int64_t pad)
{
    workload work = {.size = size,
                     .order = order,
                     .transa = transa,
                     .transb = transb,
                     .type = XGEMM_F32,
                     .type_c = XGEMM_F32,
                     .alpha = {1.0, 0.0},
                     .batch = 1};
    work.lda = line_of(order, transa != XGEMM_NO_TRANS, size.m, size.k) + pad;
    work.ldb = line_of(order, transb != XGEMM_NO_TRANS, size.k, size.n) + pad;
    work.ldc = line_of(order, false, size.m, size.n) + pad;
    return work;
}

/* Elements from one matrix to the next; of sizes that no memory holds the largest number. */
static int64_t stride_of(int64_t lines, int64_t ld, int64_t between)
{
    const double elements = (double)lines * (double)ld + (double)between;
    return elements < 0x1p62 ? lines * ld + between : INT64_MAX;
}

void workload_repeat(workload *w, int64_t batch, int64_t between)
{
    const shape *s = &w->size;
    const bool transposed_a = w->transa != XGEMM_NO_TRANS,
               transposed_b = w->transb != XGEMM_NO_TRANS;
    w->batch = batch;
    w->stride_a = stride_of(lines_of(w->order, transposed_a, s->m, s->k), w->lda, between);
    w->stride_b = stride_of(lines_of(w->order, transposed_b, s->k, s->n), w->ldb, between);
    w->stride_c = stride_of(lines_of(w->order, false, s->m, s->n), w->ldc, between);
}

double workload_flops(const workload *w)
{
    const double one = type_is_complex(w->type) ? 8.0 : 2.0;
    return one * (double)w->batch * (double)w->size.m * (double)w->size.n * (double)w->size.k;
}

xgemm_product workload_product(const workload *w, const buffers *use, workload_scalars *scalars)
{
    xgemm_product p = XGEMM_PRODUCT_INIT;
    const xgemm_type sums = type_of_sums(w->type);
    element_store(sums, scalars->alpha, 0, w->alpha);
    element_store(sums, scalars->beta, 0, w->beta);
    p.order = w->order, p.transa = w->transa, p.transb = w->transb;
    p.m = w->size.m, p.n = w->size.n, p.k = w->size.k;
    p.type_a = p.type_b = w->type;
    p.type_c = w->type_c;
    p.alpha = scalars->alpha, p.beta = scalars->beta;
    p.a = use->a, p.lda = w->lda, p.stride_a = w->stride_a;
    p.b = use->b, p.ldb = w->ldb, p.stride_b = w->stride_b;
    p.c = use->c, p.ldc = w->ldc, p.stride_c = w->stride_c;
    p.batch_count = w->batch;
    p.flags = w->lists ? XGEMM_POINTER_ARRAYS : 0;
    p.activation = w->activation;
    if (w->has_bias) {
        p.bias = use->bias;
        p.type_bias = w->type_c;
        p.bias_per_row = w->bias_per_row;
    }
    return p;
}

/* Elements of an operand with its leading dimension, those of a batch and after the last too. */
static double operand_elements(const workload *w, bool transposed, int64_t rows, int64_t columns,
                               int64_t ld, int64_t stride)
{
    const double one = (double)lines_of(w->order, transposed, rows, columns) * (double)ld;
    return w->batch > 1 ? (double)w->batch * fmax((double)stride, one) : one;
}

workload_counts workload_elements(const workload *w)
{
    const shape *s = &w->size;
    const bool transposed_a = w->transa != XGEMM_NO_TRANS,
               transposed_b = w->transb != XGEMM_NO_TRANS;
    return (workload_counts){
        .a = operand_elements(w, transposed_a, s->m, s->k, w->lda, w->stride_a),
        .b = operand_elements(w, transposed_b, s->k, s->n, w->ldb, w->stride_b),
        .c = operand_elements(w, false, s->m, s->n, w->ldc, w->stride_c),
        .bias = !w->has_bias      ? 0
                : w->bias_per_row ? s->m
                                  : s->n};
}

double workload_bytes(const workload *w)
{
    const workload_counts count = workload_elements(w);
    return (count.a + count.b) * (double)type_bytes(w->type) +
           (count.c + (double)count.bias) * (double)type_bytes(w->type_c);
}

workload_place workload_place_of(const workload *w, bool is_b, int64_t product)
{
    const bool by_rows = w->order == XGEMM_ROW_MAJOR;
    const bool transposed = (is_b ? w->transb : w->transa) != XGEMM_NO_TRANS;
    const bool k_major = is_b ? by_rows == transposed : by_rows != transposed;
    const int64_t ld = is_b ? w->ldb : w->lda;
    return (workload_place){.first = product * (is_b ? w->stride_b : w->stride_a),
                            .row_stride = k_major ? ld : 1,
                            .k_stride = k_major ? 1 : ld};
}

/* The kind's floats in memory of their own, row by row; NULL when the host is out of memory. */
static float *kind_values(const data_kind *kind, uint64_t seed, bool is_b, int64_t rows,
                          int64_t depth)
{
    const size_t count = (size_t)rows * (size_t)depth;
    float *const values = malloc((count ? count : 1) * sizeof *values);
    const data_operand to = {.values = values,
                             .is_b = is_b,
                             .rows = rows,
                             .depth = depth,
                             .row_stride = depth,
                             .k_stride = 1};
    if (values && data_fill(kind, seed, &to))
        return values;
    free(values);
    return NULL;
}

/* The float, with random bits after its own where doubles are to have them. */
static double lengthened(float x, bool lengthens, random_source *source)
{
    const double rest = lengthens ? (double)(random_bits(source) >> 35) * 0x1p-52 : 0.0;
    return (double)x * (1.0 + rest);
}

bool workload_fill(const workload *w, bool is_b, const data_kind *kind, uint64_t seed, void *memory,
                   int64_t product)
{
    const workload_place place = workload_place_of(w, is_b, product);
    const int64_t rows = is_b ? w->size.n : w->size.m, depth = w->size.k;
    if (w->type == XGEMM_F32) {
        const data_operand to = {.values = (float *)memory + place.first,
                                 .is_b = is_b,
                                 .rows = rows,
                                 .depth = depth,
                                 .row_stride = place.row_stride,
                                 .k_stride = place.k_stride};
        return data_fill(kind, seed, &to);
    }
    const bool is_complex = type_is_complex(w->type);
    const bool lengthens =
        type_part(w->type) == XGEMM_F64 && !(kind->traits & (DATA_FIXED | DATA_CANCELS));
    random_source source = {seed};
    float *const re = kind_values(kind, seed, is_b, rows, depth);
    float *const im =
        is_complex ? kind_values(kind, random_bits(&source), is_b, rows, depth) : NULL;
    const bool done = re && (im || !is_complex);
    for (int64_t i = 0; i < rows && done; i++)
        for (int64_t l = 0; l < depth; l++) {
            const double x = lengthened(re[i * depth + l], lengthens, &source);
            const double y = im ? lengthened(im[i * depth + l], lengthens, &source) : 0.0;
            element_store(w->type, memory, place.first + i * place.row_stride + l * place.k_stride,
                          (scalar){x, y});
        }
    free(re);
    free(im);
    return done;
}
