/* SPDX-License-Identifier: BSD-3-Clause */
#include "checking.h"

#include "random.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A matrix in host memory with the step between its lines, and the copy it began as. */
typedef struct {
    float *values, *before, *device;
    int64_t rows, columns, row_step, column_step;
    size_t count;
} matrix;

static const float canary = -0x1.5a5a5ap-60f;

const char *values_name(values_kind kind)
{
    static const char *const names[VALUES_COUNT] = {"random", "dyadic", "special"};
    return names[kind];
}

static matrix matrix_of(int64_t rows, int64_t columns, int64_t ld, bool row_lines)
{
    const int64_t lines = row_lines ? rows : columns;
    return (matrix){.rows = rows,
                    .columns = columns,
                    .row_step = row_lines ? ld : 1,
                    .column_step = row_lines ? 1 : ld,
                    .count = (size_t)(lines * ld)};
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

/* The canary everywhere, then the elements. */
static void fill(matrix *x, random_source *source, values_kind kind)
{
    for (size_t i = 0; i < x->count; i++)
        x->values[i] = canary;
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = 0; j < x->columns; j++)
            x->values[i * x->row_step + j * x->column_step] = draw(source, kind);
    memcpy(x->before, x->values, x->count * sizeof(float));
}

/* beta = 0 must not read C. */
static void poison(matrix *c)
{
    for (int64_t i = 0; i < c->rows; i++)
        for (int64_t j = 0; j < c->columns; j++)
            c->before[i * c->row_step + j * c->column_step] =
                c->values[i * c->row_step + j * c->column_step] = NAN;
}

static double at(const float *values, const matrix *x, int64_t row, int64_t col)
{
    return (double)values[row * x->row_step + col * x->column_step];
}

static size_t count_changed(const matrix *x, bool elements_too)
{
    size_t changed = 0;
    for (size_t i = 0; i < x->count; i++) {
        const int64_t place = (int64_t)i;
        const bool by_rows = x->column_step == 1;
        const int64_t line = by_rows ? x->row_step : x->column_step;
        const bool gap = place % line >= (by_rows ? x->columns : x->rows);
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

static void compare(const workload *w, values_kind kind, const matrix *a, const matrix *b,
                    const matrix *c, check_result *result)
{
    const bool exact = kind == VALUES_DYADIC && is_unit(w->alpha) && is_unit(w->beta);
    const bool product = w->alpha != 0.0f;
    const double gamma = ((double)w->size.k + 4.0) * 0x1p-24;
    for (int64_t i = 0; i < c->rows; i++)
        for (int64_t j = 0; j < c->columns; j++) {
            double sum = 0.0, mass = 0.0, want = 0.0, bound = 0.0;
            for (int64_t l = 0; product && l < w->size.k; l++) {
                const double term = at(a->values, a, i, l) * at(b->values, b, l, j);
                sum += term;
                mass += fabs(term);
            }
            if (product && w->size.k > 0) {
                want = (double)w->alpha * sum;
                bound = fabs((double)w->alpha) * mass;
            }
            if (w->beta != 0.0f) {
                want += (double)w->beta * at(c->before, c, i, j);
                bound += fabs((double)w->beta * at(c->before, c, i, j));
            }
            /* Half the least subnormal for each rounding below the normal range. */
            bound = gamma * bound + ((double)w->size.k + 2.0) * 0x1p-150;
            compare_element(exact, at(c->values, c, i, j), want, bound, i, j, result);
        }
}

static bool to_device(xgemm_handle *handle, matrix *x)
{
    void *memory = x->values;
    const size_t bytes = x->count * sizeof(float);
    if (xgemm_get_device(handle) >= 0 && (xgemm_malloc(handle, bytes, &memory) != XGEMM_OK ||
                                          xgemm_upload(handle, memory, x->values, bytes)))
        return false;
    x->device = memory;
    return true;
}

static bool from_device(xgemm_handle *handle, matrix *x)
{
    return x->device == x->values ||
           xgemm_download(handle, x->values, x->device, x->count * sizeof(float)) == XGEMM_OK;
}

static bool multiply(xgemm_handle *handle, const workload *w, matrix *a, matrix *b, matrix *c)
{
    return to_device(handle, a) && to_device(handle, b) && to_device(handle, c) &&
           xgemm_sgemm(handle, w->order, w->transa, w->transb, w->size.m, w->size.n, w->size.k,
                       w->alpha, a->device, w->lda, b->device, w->ldb, w->beta, c->device,
                       w->ldc) == XGEMM_OK &&
           from_device(handle, a) && from_device(handle, b) && from_device(handle, c);
}

static void release(xgemm_handle *handle, matrix *x)
{
    if (x->device && x->device != x->values)
        xgemm_free(handle, x->device);
    free(x->values);
    free(x->before);
}

bool check_product(xgemm_handle *handle, const workload *w, values_kind kind, uint64_t seed,
                   check_result *result, char *message, size_t message_size)
{
    random_source source = {seed};
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
    matrix a = matrix_of(s->m, s->k, w->lda, by_rows == (w->transa == XGEMM_NO_TRANS));
    matrix b = matrix_of(s->k, s->n, w->ldb, by_rows == (w->transb == XGEMM_NO_TRANS));
    matrix c = matrix_of(s->m, s->n, w->ldc, by_rows);
    if (!allocate(&a) || !allocate(&b) || !allocate(&c)) {
        snprintf(message, message_size, "the host is out of memory");
    } else {
        fill(&a, &source, kind);
        fill(&b, &source, kind);
        fill(&c, &source, kind);
        if (w->beta == 0.0f)
            poison(&c);
        done = multiply(handle, w, &a, &b, &c);
        snprintf(message, message_size, "%s", done ? "" : xgemm_last_error(handle));
    }
    if (done) {
        compare(w, kind, &a, &b, &c, result);
        result->canaries =
            count_changed(&a, true) + count_changed(&b, true) + count_changed(&c, false);
    }
    release(handle, &a);
    release(handle, &b);
    release(handle, &c);
    return done;
}
