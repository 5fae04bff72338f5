/* SPDX-License-Identifier: BSD-3-Clause */
#include "checking.h"
#include "failure.h"
#include "kernel_list.h"

#include "random.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A matrix in host memory with the step between its lines, and the copy it began as;
 * of a batch, as many of them, apart elements from one to the next.
 */
typedef struct {
    float *values, *before, *device;
    void *list; /* of pointers, on the device */
    int64_t rows, columns, row_step, column_step;
    int64_t products, apart;
    bool by_rows;
    size_t count;
} matrix;

static const float canary = -0x1.5a5a5ap-60f;

const char *values_name(const values_choice *values)
{
    static const char *const names[VALUES_COUNT] = {"random", "dyadic", "special"};
    return values->kind == VALUES_DATA ? values->data->name : names[values->kind];
}

static matrix matrix_of(const workload *w, int64_t rows, int64_t columns, int64_t ld,
                        int64_t stride, bool row_lines)
{
    const int64_t lines = row_lines ? rows : columns;
    const int64_t apart = w->batch > 1 ? stride : lines * ld;
    return (matrix){.products = w->batch,
                    .apart = apart,
                    .by_rows = row_lines,
                    .rows = rows,
                    .columns = columns,
                    .row_step = row_lines ? ld : 1,
                    .column_step = row_lines ? 1 : ld,
                    .count = (size_t)(w->batch * apart)};
}

static float draw(random_source *source, values_kind kind)
{
    const uint64_t bits = random_bits(source);
    if (kind == VALUES_DYADIC)
        return (float)((int)(bits % 257) - 128) * 0x1p-7f;
    if (kind == VALUES_SPECIAL) {
        switch (bits % 400) {
        case 0:
            return INFINITY;
        case 1:
            return -INFINITY;
        case 2:
            return NAN;
        case 3:
            return 0x1p-140f;
        case 4:
        case 5:
            return -0.0f;
        default:
            break;
        }
    }
    return random_float(source);
}

static bool allocate(matrix *x)
{
    const size_t bytes = (x->count ? x->count : 1) * sizeof(float);
    x->values = malloc(bytes);
    x->before = malloc(bytes);
    return x->values && x->before;
}

static int64_t place(const matrix *x, int64_t product, int64_t row, int64_t col)
{
    return product * x->apart + row * x->row_step + col * x->column_step;
}

/* The canary everywhere, then the elements. */
static void fill(matrix *x, random_source *source, values_kind kind)
{
    for (size_t i = 0; i < x->count; i++)
        x->values[i] = canary;
    for (int64_t product = 0; product < x->products; product++)
        for (int64_t i = 0; i < x->rows; i++)
            for (int64_t j = 0; j < x->columns; j++)
                x->values[place(x, product, i, j)] = draw(source, kind);
    memcpy(x->before, x->values, x->count * sizeof(float));
}

/* The canary everywhere, then the kind of data; false when the host is out of memory. */
static bool fill_named(matrix *x, const workload *w, bool is_b, const data_kind *kind,
                       random_source *source)
{
    bool done = true;
    for (size_t i = 0; i < x->count; i++)
        x->values[i] = canary;
    for (int64_t product = 0; product < x->products && done; product++) {
        const data_operand to = workload_operand(w, is_b, x->values, product);
        done = data_fill(kind, random_bits(source), &to);
    }
    memcpy(x->before, x->values, x->count * sizeof(float));
    return done;
}

/* beta = 0 must not read C. */
static void poison(matrix *c)
{
    for (int64_t product = 0; product < c->products; product++)
        for (int64_t i = 0; i < c->rows; i++)
            for (int64_t j = 0; j < c->columns; j++)
                c->before[place(c, product, i, j)] = c->values[place(c, product, i, j)] = NAN;
}

static double at(const float *values, const matrix *x, int64_t product, int64_t row, int64_t col)
{
    return (double)values[place(x, product, row, col)];
}

static size_t count_changed(const matrix *x, bool elements_too)
{
    size_t changed = 0;
    for (size_t i = 0; i < x->count; i++) {
        const int64_t inside = (int64_t)i % x->apart;
        const int64_t line = x->by_rows ? x->row_step : x->column_step;
        const bool gap = inside % line >= (x->by_rows ? x->columns : x->rows) ||
                         inside / line >= (x->by_rows ? x->rows : x->columns);
        if (gap || elements_too)
            changed += memcmp(&x->values[i], &x->before[i], sizeof(float)) != 0;
    }
    return changed;
}

static bool same_kind(double got, double want)
{
    if (isnan(want))
        return isnan(got);
    if (isinf(want))
        return got == want;
    return isfinite(got);
}

static void compare_element(bool exact, double got, double want, double bound, int64_t row,
                            int64_t col, check_result *result)
{
    /* A finite sum beyond FP32 is Inf there, in whatever order it was formed. */
    if (isfinite(want) && fabs(want) > (double)0x1.fffffep127f)
        want = copysign(INFINITY, want);
    const double error = isfinite(got) && isfinite(want) ? fabs(got - want) : 0.0;
    const double part =
        exact ? (got == want ? 0.0 : INFINITY) : (error == 0.0 ? 0.0 : error / bound);
    result->elements++;
    if (part > result->worst)
        result->worst = part;
    if (!same_kind(got, want) || (isfinite(want) && part > 1.0)) {
        if (result->wrong++ == 0) {
            result->row = row, result->col = col;
            result->got = got, result->want = want;
        }
    }
}

static bool is_unit(float factor)
{
    return factor == 0.0f || fabsf(factor) == 1.0f;
}

/* The math mode that the last product's kernel needs. */
static xgemm_math math_of_last(const xgemm_handle *handle)
{
    xgemm_kernel_info kernel;
    const char *name = xgemm_last_kernel(handle);
    return name && kernel_find(name, &kernel) ? kernel.math : XGEMM_MATH_STRICT;
}

/* What an element's error may be: a part of its mass, and an absolute part for subnormal sums. */
typedef struct {
    double part, absolute;
} tolerance;

static tolerance tolerance_of(const workload *w, values_kind kind, xgemm_math math)
{
    /* Half the least subnormal for each rounding below the normal range. */
    tolerance t = {((double)w->size.k + 4.0) * 0x1p-24, ((double)w->size.k + 2.0) * 0x1p-150};
    /* Both inputs are rounded to TF32, by 2^-11 each. */
    if (math == XGEMM_MATH_TF32)
        t.part += 0x1p-10;
    if (math == XGEMM_MATH_DEFAULT && kind == VALUES_DATA)
        t = (tolerance){fmax(2.0 * t.part, 0x1p-20), 2.0 * t.absolute};
    return t;
}

/*
 * Whether a partial sum may exceed FP32 where C64 does not, or where it is Inf, by the terms'
 * magnitudes before and after alpha. NaN comes from the operands, and stays.
 */
static bool may_overflow(double sum_mass, double mass, double want)
{
    const double most = (double)0x1.fffffep127f / 4.0;
    return !isnan(want) && !(sum_mass <= most && mass <= most);
}

static void compare_product(const workload *w, const values_choice *values, xgemm_math math,
                            const matrix *a, const matrix *b, const matrix *c, int64_t product,
                            check_result *result)
{
    const bool exact = values->kind == VALUES_DYADIC && is_unit(w->alpha) && is_unit(w->beta);
    const bool overflows =
        values->kind == VALUES_DATA && data_pair_has(values->data, DATA_OVERFLOWS);
    const bool multiplied = w->alpha != 0.0f;
    const tolerance allowed = tolerance_of(w, values->kind, math);
    for (int64_t i = 0; i < c->rows; i++)
        for (int64_t j = 0; j < c->columns; j++) {
            double sum = 0.0, mass = 0.0, want = 0.0, bound = 0.0;
            for (int64_t l = 0; multiplied && l < w->size.k; l++) {
                const double term =
                    at(a->values, a, product, i, l) * at(b->values, b, product, l, j);
                sum += term;
                mass += fabs(term);
            }
            if (multiplied && w->size.k > 0) {
                want = (double)w->alpha * sum;
                bound = fabs((double)w->alpha) * mass;
            }
            if (w->beta != 0.0f) {
                want += (double)w->beta * at(c->before, c, product, i, j);
                bound += fabs((double)w->beta * at(c->before, c, product, i, j));
            }
            if (overflows && may_overflow(mass, bound, want))
                continue;
            bound = allowed.part * bound + allowed.absolute;
            compare_element(exact, at(c->values, c, product, i, j), want, bound, i, j, result);
        }
}

static void compare(const workload *w, const values_choice *values, xgemm_math math,
                    const matrix *a, const matrix *b, const matrix *c, check_result *result)
{
    for (int64_t product = 0; product < w->batch; product++)
        compare_product(w, values, math, a, b, c, product, result);
}

static bool upload(xgemm_handle *handle, void **memory, const void *from, size_t bytes)
{
    return xgemm_malloc(handle, bytes, memory) == XGEMM_OK &&
           xgemm_upload(handle, *memory, from, bytes) == XGEMM_OK;
}

/* The pointers to a batch's matrices. */
static bool upload_list(xgemm_handle *handle, matrix *x)
{
    const float **pointers = malloc((size_t)x->products * sizeof *pointers);
    for (int64_t i = 0; pointers && i < x->products; i++)
        pointers[i] = x->device + i * x->apart;
    const bool done =
        pointers && upload(handle, &x->list, pointers, (size_t)x->products * sizeof *pointers);
    free(pointers);
    return done;
}

static bool to_device(xgemm_handle *handle, const workload *w, matrix *x)
{
    void *memory = x->values;
    if (xgemm_get_device(handle) >= 0 &&
        !upload(handle, &memory, x->values, x->count * sizeof(float)))
        return false;
    x->device = memory;
    return !w->lists || upload_list(handle, x);
}

static bool from_device(xgemm_handle *handle, matrix *x)
{
    return x->device == x->values ||
           xgemm_download(handle, x->values, x->device, x->count * sizeof(float)) == XGEMM_OK;
}

static xgemm_status call(xgemm_handle *handle, const workload *w, const matrix *a, const matrix *b,
                         const matrix *c)
{
    const shape *s = &w->size;
    if (w->lists)
        return xgemm_sgemm_batched(handle, w->order, w->transa, w->transb, s->m, s->n, s->k,
                                   w->alpha, a->list, w->lda, b->list, w->ldb, w->beta, c->list,
                                   w->ldc, w->batch);
    if (w->batch > 1)
        return xgemm_sgemm_strided_batched(handle, w->order, w->transa, w->transb, s->m, s->n, s->k,
                                           w->alpha, a->device, w->lda, w->stride_a, b->device,
                                           w->ldb, w->stride_b, w->beta, c->device, w->ldc,
                                           w->stride_c, w->batch);
    return xgemm_sgemm(handle, w->order, w->transa, w->transb, s->m, s->n, s->k, w->alpha,
                       a->device, w->lda, b->device, w->ldb, w->beta, c->device, w->ldc);
}

static bool multiply(xgemm_handle *handle, const workload *w, matrix *a, matrix *b, matrix *c,
                     xgemm_status *status)
{
    if (!to_device(handle, w, a) || !to_device(handle, w, b) || !to_device(handle, w, c))
        return false;
    *status = call(handle, w, a, b, c);
    return *status == XGEMM_OK && from_device(handle, a) && from_device(handle, b) &&
           from_device(handle, c);
}

static void release(xgemm_handle *handle, matrix *x)
{
    if (x->device && x->device != x->values)
        xgemm_free(handle, x->device);
    xgemm_free(handle, x->list);
    free(x->values);
    free(x->before);
}

/* A, B and C, as chosen; false when the host is out of memory. */
static bool fill_operands(const workload *w, const values_choice *values, uint64_t seed, matrix *a,
                          matrix *b, matrix *c)
{
    random_source source = {seed};
    if (!allocate(a) || !allocate(b) || !allocate(c))
        return false;
    if (values->kind == VALUES_DATA) {
        if (!fill_named(a, w, false, values->data->a, &source) ||
            !fill_named(b, w, true, values->data->b, &source))
            return false;
    } else {
        fill(a, &source, values->kind);
        fill(b, &source, values->kind);
    }
    fill(c, &source, values->kind);
    if (w->beta == 0.0f)
        poison(c);
    return true;
}

bool check_product(xgemm_handle *handle, const workload *w, const values_choice *values,
                   uint64_t seed, check_result *result, char *message, size_t message_size)
{
    uint64_t available = UINT64_MAX, total;
    bool done = false;

    memset(result, 0, sizeof *result);
    (void)xgemm_memory_info(handle, &available, &total);
    if (2.0 * workload_bytes(w) > (double)available) {
        snprintf(message, message_size, "the matrices and their copies take %s, more than is free",
                 bytes_text(2.0 * workload_bytes(w)));
        return false;
    }
    const bool by_rows = w->order == XGEMM_ROW_MAJOR;
    const shape *s = &w->size;
    /* op(A) is m × k: a transposed operand's lines run the other way. */
    matrix a =
        matrix_of(w, s->m, s->k, w->lda, w->stride_a, by_rows == (w->transa == XGEMM_NO_TRANS));
    matrix b =
        matrix_of(w, s->k, s->n, w->ldb, w->stride_b, by_rows == (w->transb == XGEMM_NO_TRANS));
    matrix c = matrix_of(w, s->m, s->n, w->ldc, w->stride_c, by_rows);
    if (!fill_operands(w, values, seed, &a, &b, &c)) {
        snprintf(message, message_size, "the host is out of memory");
    } else {
        done = multiply(handle, w, &a, &b, &c, &result->status);
        snprintf(message, message_size, "%s", done ? "" : failure_of(handle));
    }
    if (done) {
        compare(w, values, math_of_last(handle), &a, &b, &c, result);
        result->canaries =
            count_changed(&a, true) + count_changed(&b, true) + count_changed(&c, false);
    }
    release(handle, &a);
    release(handle, &b);
    release(handle, &c);
    return done;
}
