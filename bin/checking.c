/* SPDX-License-Identifier: BSD-3-Clause */
#include "checking.h"

#include "checking_compare.h"
#include "failure.h"
#include "kernel_list.h"
#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A matrix in host memory with the step between its lines, and the copy it began as;
 * of a batch, as many of them, apart elements from one to the next.
 */
typedef struct {
    xgemm_type type;
    unsigned char *memory, *values, *before, *device;
    void *device_memory; /* NULL: the device is the host */
    void *list;          /* of pointers, on the device */
    int64_t rows, columns, row_step, column_step;
    int64_t products, apart;
    bool by_rows;
    size_t count, shift; /* shift: bytes before the first element */
} matrix;

/* All that a product has; of the bias one row. */
typedef struct {
    matrix a, b, c, bias;
} operands;

/* Each byte beside the elements: a large number in every type, which does not go unnoticed. */
enum { CANARY = 0x5a };

const char *values_name(const values_choice *values)
{
    static const char *const names[VALUES_COUNT] = {"random", "dyadic", "special"};
    return values->kind == VALUES_DATA ? values->data->name : names[values->kind];
}

static matrix matrix_of(const workload *w, xgemm_type type, int64_t rows, int64_t columns,
                        int64_t ld, int64_t stride, bool row_lines)
{
    const int64_t lines = row_lines ? rows : columns;
    const int64_t apart = w->batch > 1 ? stride : lines * ld;
    return (matrix){.type = type,
                    .products = w->batch,
                    .apart = apart,
                    .by_rows = row_lines,
                    .rows = rows,
                    .columns = columns,
                    .row_step = row_lines ? ld : 1,
                    .column_step = row_lines ? 1 : ld,
                    .count = (size_t)(w->batch * apart),
                    .shift = (size_t)w->shift * type_bytes(type_part(type))};
}

static operands operands_of(const workload *w)
{
    const shape *s = &w->size;
    const bool by_rows = w->order == XGEMM_ROW_MAJOR;
    const int64_t bias = workload_elements(w).bias;
    /* op(A) is m x k: a transposed operand's lines run the other way. */
    operands all = {.a = matrix_of(w, w->type, s->m, s->k, w->lda, w->stride_a,
                                   by_rows == (w->transa == XGEMM_NO_TRANS)),
                    .b = matrix_of(w, w->type, s->k, s->n, w->ldb, w->stride_b,
                                   by_rows == (w->transb == XGEMM_NO_TRANS)),
                    .c = matrix_of(w, w->type_c, s->m, s->n, w->ldc, w->stride_c, by_rows),
                    .bias = matrix_of(w, w->type_c, 1, bias, bias, bias, true)};
    all.bias.products = 1;
    all.bias.count = (size_t)bias;
    return all;
}

/* ---- Values ---- */

static double draw_part(xgemm_type type, random_source *source, values_kind kind)
{
    const uint64_t bits = random_bits(source);
    if (kind == VALUES_DYADIC)
        return (double)((int)(bits % 257) - 128) * 0x1p-7;
    if (kind == VALUES_SPECIAL) {
        switch (bits % 400) {
        case 0:
            return INFINITY;
        case 1:
            return -INFINITY;
        case 2:
            return NAN;
        case 3:
            return 16.0 * type_least(type);
        case 4:
        case 5:
            return -0.0;
        default:
            break;
        }
    }
    return scalar_random(type_part(type), source).re;
}

static scalar draw(xgemm_type type, random_source *source, values_kind kind)
{
    const double re = draw_part(type, source, kind);
    return (scalar){re, type_is_complex(type) ? draw_part(type, source, kind) : 0.0};
}

static size_t bytes_of(const matrix *x)
{
    return x->count * type_bytes(x->type);
}

/* With the canary everywhere. */
static bool allocate(matrix *x)
{
    const size_t bytes = bytes_of(x) ? bytes_of(x) : 1;
    x->memory = malloc(x->shift + bytes);
    x->before = malloc(bytes);
    if (!x->memory || !x->before)
        return false;
    x->values = x->memory + x->shift;
    memset(x->values, CANARY, bytes);
    return true;
}

static int64_t place(const matrix *x, int64_t product, int64_t row, int64_t col)
{
    return product * x->apart + row * x->row_step + col * x->column_step;
}

static void fill(matrix *x, random_source *source, values_kind kind)
{
    for (int64_t product = 0; product < x->products; product++)
        for (int64_t i = 0; i < x->rows; i++)
            for (int64_t j = 0; j < x->columns; j++)
                element_store(x->type, x->values, place(x, product, i, j),
                              draw(x->type, source, kind));
}

/* With the kind of data; false when the host is out of memory. */
static bool fill_named(matrix *x, const workload *w, bool is_b, const data_kind *kind,
                       random_source *source)
{
    bool done = true;
    for (int64_t product = 0; product < x->products && done; product++)
        done = workload_fill(w, is_b, kind, random_bits(source), x->values, product);
    return done;
}

/* beta = 0 must not read C. */
static void poison(matrix *c)
{
    const scalar nan = {NAN, NAN};
    for (int64_t product = 0; product < c->products; product++)
        for (int64_t i = 0; i < c->rows; i++)
            for (int64_t j = 0; j < c->columns; j++)
                element_store(c->type, c->values, place(c, product, i, j), nan);
}

/* A, B, C and the bias, as chosen; false when the host is out of memory. */
static bool fill_operands(const workload *w, const values_choice *values, uint64_t seed,
                          operands *all)
{
    random_source source = {seed};
    matrix *const each[] = {&all->a, &all->b, &all->c, &all->bias};
    for (int i = 0; i < 4; i++)
        if (!allocate(each[i]))
            return false;
    if (values->kind == VALUES_DATA) {
        if (!fill_named(&all->a, w, false, values->data->a, &source) ||
            !fill_named(&all->b, w, true, values->data->b, &source))
            return false;
    } else {
        fill(&all->a, &source, values->kind);
        fill(&all->b, &source, values->kind);
    }
    fill(&all->c, &source, values->kind);
    fill(&all->bias, &source, values->kind);
    if (scalar_is_zero(w->beta))
        poison(&all->c);
    for (int i = 0; i < 4; i++)
        memcpy(each[i]->before, each[i]->values, bytes_of(each[i]));
    return true;
}

/* Elements that are not as before, of those between the lines or of all. */
static size_t count_changed(const matrix *x, bool elements_too)
{
    const size_t size = type_bytes(x->type);
    size_t changed = 0;
    for (size_t i = 0; i < x->count; i++) {
        const int64_t inside = (int64_t)i % x->apart;
        const int64_t line = x->by_rows ? x->row_step : x->column_step;
        const bool gap = inside % line >= (x->by_rows ? x->columns : x->rows) ||
                         inside / line >= (x->by_rows ? x->rows : x->columns);
        if (gap || elements_too)
            changed += memcmp(x->values + i * size, x->before + i * size, size) != 0;
    }
    return changed;
}

/* ---- The product ---- */

static bool upload(xgemm_handle *handle, void **memory, size_t shift, const void *from,
                   size_t bytes)
{
    return xgemm_malloc(handle, shift + bytes, memory) == XGEMM_OK &&
           xgemm_upload(handle, (unsigned char *)*memory + shift, from, bytes) == XGEMM_OK;
}

/* The pointers to a batch's matrices. */
static bool upload_list(xgemm_handle *handle, matrix *x)
{
    const size_t step = (size_t)x->apart * type_bytes(x->type);
    const void **pointers = malloc((size_t)x->products * sizeof *pointers);
    for (int64_t i = 0; pointers && i < x->products; i++)
        pointers[i] = x->device + (size_t)i * step;
    const bool done =
        pointers && upload(handle, &x->list, 0, pointers, (size_t)x->products * sizeof *pointers);
    free(pointers);
    return done;
}

static bool to_device(xgemm_handle *handle, matrix *x, bool lists)
{
    x->device = x->values;
    if (xgemm_get_device(handle) >= 0) {
        if (!upload(handle, &x->device_memory, x->shift, x->values, bytes_of(x)))
            return false;
        x->device = (unsigned char *)x->device_memory + x->shift;
    }
    return !lists || upload_list(handle, x);
}

static bool from_device(xgemm_handle *handle, matrix *x)
{
    return x->device == x->values ||
           xgemm_download(handle, x->values, x->device, bytes_of(x)) == XGEMM_OK;
}

static xgemm_status call(xgemm_handle *handle, const workload *w, const operands *all)
{
    workload_scalars scalars;
    const buffers use = {w->lists ? all->a.list : all->a.device,
                         w->lists ? all->b.list : all->b.device,
                         w->lists ? all->c.list : all->c.device, all->bias.device};
    const xgemm_product product = workload_product(w, &use, &scalars);
    return xgemm_gemm(handle, &product);
}

static bool multiply(xgemm_handle *handle, const workload *w, operands *all, xgemm_status *status)
{
    if (!to_device(handle, &all->a, w->lists) || !to_device(handle, &all->b, w->lists) ||
        !to_device(handle, &all->c, w->lists) ||
        (w->has_bias && !to_device(handle, &all->bias, false)))
        return false;
    *status = call(handle, w, all);
    return *status == XGEMM_OK && from_device(handle, &all->a) && from_device(handle, &all->b) &&
           from_device(handle, &all->c) && (!w->has_bias || from_device(handle, &all->bias));
}

static void release(xgemm_handle *handle, matrix *x)
{
    xgemm_free(handle, x->device_memory);
    xgemm_free(handle, x->list);
    free(x->memory);
    free(x->before);
}

/* The math mode that the last product's kernel needs. */
static xgemm_math math_of_last(const xgemm_handle *handle)
{
    xgemm_kernel_info kernel;
    const char *name = xgemm_last_kernel(handle);
    return name && kernel_find(name, &kernel) ? kernel.math : XGEMM_MATH_STRICT;
}

static bool compare(xgemm_handle *handle, const workload *w, const values_choice *values,
                    const operands *all, check_result *result)
{
    const checked_memory memory = {all->a.before, all->b.before, all->c.before, all->bias.before,
                                   all->c.values};
    result->canaries = count_changed(&all->a, true) + count_changed(&all->b, true) +
                       count_changed(&all->c, false) + count_changed(&all->bias, true);
    return compare_products(w, values, math_of_last(handle), &memory, result);
}

bool check_memory(xgemm_handle *handle, double bytes, char *message, size_t message_size)
{
    uint64_t available = UINT64_MAX, total;
    (void)xgemm_memory_info(handle, &available, &total);
    if (bytes <= (double)available)
        return true;
    snprintf(message, message_size, "the matrices and their copies take %s, more than is free",
             bytes_text(bytes));
    return false;
}

bool check_product(xgemm_handle *handle, const workload *w, const values_choice *values,
                   uint64_t seed, check_result *result, char *message, size_t message_size)
{
    memset(result, 0, sizeof *result);
    if (!check_memory(handle, 2.0 * workload_bytes(w), message, message_size))
        return false;
    operands all = operands_of(w);
    bool done = false;
    if (!fill_operands(w, values, seed, &all)) {
        snprintf(message, message_size, "the host is out of memory");
    } else {
        done = multiply(handle, w, &all, &result->status);
        snprintf(message, message_size, "%s", done ? "" : failure_of(handle));
    }
    if (done && !compare(handle, w, values, &all, result)) {
        snprintf(message, message_size, "the host is out of memory");
        done = false;
    }
    release(handle, &all.a);
    release(handle, &all.b);
    release(handle, &all.c);
    release(handle, &all.bias);
    return done;
}
