/* SPDX-License-Identifier: BSD-3-Clause */
#include "elements.h"

#include "checking.h"
#include "failure.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_MOST = 3, GAP_MOST = 9, OFFSET_MOST = 16 /* elements */ };

/* A matrix of the whole product, its rows one after the other. */
typedef struct {
    xgemm_type type;
    int64_t rows, columns;
    unsigned char *values;
} whole_matrix;

typedef struct {
    xgemm_handle *handle;
    const problem_options *options;
    whole_matrix a, b, c, bias;
    unsigned char *result; /* of C's type */
} whole;

/* A part of C, and how a call has it. */
typedef struct {
    int64_t row, column;
    workload work; /* of its size */
    int64_t offset, gap, which;
} part;

/* A batch's matrices in the device's memory. */
typedef struct {
    void *memory, *list;
    unsigned char *first;
} placed;

static int64_t below(random_source *source, int64_t limit)
{
    return (int64_t)(random_bits(source) % (uint64_t)limit);
}

static bool fill(whole_matrix *x, xgemm_type type, int64_t rows, int64_t columns,
                 random_source *source)
{
    *x = (whole_matrix){.type = type, .rows = rows, .columns = columns};
    x->values = malloc((size_t)(rows * columns) * type_bytes(type) + 1);
    for (int64_t i = 0; x->values && i < rows * columns; i++)
        element_store(type, x->values, i, scalar_random(type, source));
    return x->values != NULL;
}

static bool whole_fill(whole *w, shape size, uint64_t seed)
{
    const problem_options *const o = w->options;
    const xgemm_type type_c = problem_type_c(o);
    random_source source = {seed};
    const int64_t biases = o->bias_per_row ? size.m : size.n;
    return fill(&w->a, o->type, size.m, size.k, &source) &&
           fill(&w->b, o->type, size.k, size.n, &source) &&
           fill(&w->c, type_c, size.m, size.n, &source) &&
           fill(&w->bias, type_c, 1, biases, &source);
}

static void whole_free(whole *w)
{
    free(w->a.values);
    free(w->b.values);
    free(w->c.values);
    free(w->bias.values);
    free(w->result);
}

static part part_of_all(const whole *w, shape size)
{
    problem_options o = *w->options;
    o.order = XGEMM_ROW_MAJOR;
    o.transa = o.transb = XGEMM_NO_TRANS;
    o.pad = 0, o.batch = 1;
    return (part){.work = problem_workload(&o, size)};
}

/* Alpha and beta are the whole's. */
static part random_part(const whole *w, shape size, random_source *source)
{
    problem_options o = *w->options;
    part p = {.row = below(source, size.m), .column = below(source, size.n)};
    const shape of = {1 + below(source, below(source, 2) ? size.m - p.row : 1),
                      1 + below(source, below(source, 2) ? size.n - p.column : 1), size.k};
    o.order = below(source, 2) ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR;
    o.transa = below(source, 2) ? XGEMM_TRANS : XGEMM_NO_TRANS;
    o.transb = below(source, 2) ? XGEMM_TRANS : XGEMM_NO_TRANS;
    o.pad = below(source, 2) * below(source, GAP_MOST);
    o.batch = 1;
    p.work = problem_workload(&o, of);
    p.offset = below(source, 2) * below(source, OFFSET_MOST);
    p.gap = below(source, GAP_MOST);
    workload_repeat(&p.work, 1 + below(source, BATCH_MOST), p.gap);
    p.work.lists = p.work.batch > 1 && below(source, 2);
    p.which = below(source, p.work.batch);
    return p;
}

/* How a call has a matrix: of which rows and columns, and where these are. */
typedef struct {
    const whole_matrix *from;
    int64_t row, column, rows, columns;
    int64_t row_step, column_step, stride; /* elements */
} placing;

static placing placing_of(const whole_matrix *from, int64_t row, int64_t column, int64_t rows,
                          int64_t columns, bool by_columns, int64_t ld, int64_t stride)
{
    return (placing){from,  row, column, rows, columns, by_columns ? 1 : ld, by_columns ? ld : 1,
                     stride};
}

static size_t bytes_of(const part *p, const placing *x)
{
    const int64_t last = (x->rows - 1) * x->row_step + (x->columns - 1) * x->column_step;
    return (size_t)(p->offset + (p->work.batch - 1) * x->stride + last + 1) *
           type_bytes(x->from->type);
}

/* Copies the batch's matrices, all the same, to the device; what is between them is NaN. */
static bool place(const whole *w, const part *p, const placing *x, placed *to)
{
    const size_t bytes = bytes_of(p, x), element = type_bytes(x->from->type);
    unsigned char *const values = malloc(bytes);
    bool done = values && xgemm_malloc(w->handle, bytes, &to->memory) == XGEMM_OK;
    if (done)
        memset(values, 0xff, bytes);
    for (int64_t i = 0; done && i < p->work.batch * x->rows * x->columns; i++) {
        const int64_t column = i % x->columns, row = i / x->columns % x->rows;
        const int64_t number = i / x->columns / x->rows;
        const int64_t at =
            p->offset + number * x->stride + row * x->row_step + column * x->column_step;
        const int64_t of = (x->row + row) * x->from->columns + x->column + column;
        memcpy(values + (size_t)at * element, x->from->values + (size_t)of * element, element);
    }
    done = done && xgemm_upload(w->handle, to->memory, values, bytes) == XGEMM_OK;
    free(values);
    if (!done)
        return false;
    to->first = (unsigned char *)to->memory + (size_t)p->offset * element;
    const void *list[BATCH_MOST];
    for (int64_t i = 0; i < p->work.batch; i++)
        list[i] = to->first + (size_t)(i * x->stride) * element;
    return !p->work.lists || (xgemm_malloc(w->handle, sizeof list, &to->list) == XGEMM_OK &&
                              xgemm_upload(w->handle, to->list, list, sizeof list) == XGEMM_OK);
}

static void placed_free(const whole *w, placed *x)
{
    xgemm_free(w->handle, x->memory);
    xgemm_free(w->handle, x->list);
}

/* The part's elements of C, row after row, of the batch's product "which". */
static bool collect(const whole *w, const part *p, const placing *x, const placed *from,
                    unsigned char *to)
{
    const size_t bytes = bytes_of(p, x), element = type_bytes(x->from->type);
    unsigned char *const values = malloc(bytes);
    const bool done = values && xgemm_download(w->handle, values, from->memory, bytes) == XGEMM_OK;
    for (int64_t i = 0; done && i < x->rows * x->columns; i++) {
        const int64_t at = p->offset + p->which * x->stride + i / x->columns * x->row_step +
                           i % x->columns * x->column_step;
        memcpy(to + (size_t)i * element, values + (size_t)at * element, element);
    }
    free(values);
    return done;
}

/* Runs the part; its elements in memory of theirs. */
static bool run_part(const whole *w, const part *p, unsigned char *to)
{
    const workload *const of = &p->work;
    const int64_t m = of->size.m, n = of->size.n, k = of->size.k;
    const bool by_columns = of->order == XGEMM_COL_MAJOR;
    const bool per_row = of->bias_per_row;
    const placing a =
        placing_of(&w->a, p->row, 0, m, k, by_columns != (of->transa != XGEMM_NO_TRANS), of->lda,
                   of->stride_a);
    const placing b =
        placing_of(&w->b, 0, p->column, k, n, by_columns != (of->transb != XGEMM_NO_TRANS), of->ldb,
                   of->stride_b);
    const placing c = placing_of(&w->c, p->row, p->column, m, n, by_columns, of->ldc, of->stride_c);
    const placing bias =
        placing_of(&w->bias, 0, per_row ? p->row : p->column, 1, per_row ? m : n, false, 0, 0);
    const part once = {.work = {.batch = 1}};
    placed of_a = {.memory = NULL}, of_b = {.memory = NULL}, of_c = {.memory = NULL},
           of_bias = {.memory = NULL};
    workload_scalars scalars;
    bool done = place(w, p, &a, &of_a) && place(w, p, &b, &of_b) && place(w, p, &c, &of_c) &&
                place(w, &once, &bias, &of_bias);
    if (done) {
        const buffers use = {p->work.lists ? of_a.list : of_a.first,
                             p->work.lists ? of_b.list : of_b.first,
                             p->work.lists ? of_c.list : of_c.first, of_bias.first};
        const xgemm_product call = workload_product(of, &use, &scalars);
        done = xgemm_gemm(w->handle, &call) == XGEMM_OK && collect(w, p, &c, &of_c, to);
    }
    placed_free(w, &of_a);
    placed_free(w, &of_b);
    placed_free(w, &of_c);
    placed_free(w, &of_bias);
    return done;
}

static void note_first(elements_result *result, const whole *w, const part *p, int64_t row,
                       int64_t column)
{
    const workload *const of = &p->work;
    if (*result->first)
        return;
    snprintf(result->first, sizeof result->first,
             "element (%" PRId64 ", %" PRId64 ") of %" PRId64 " x %" PRId64 " x %" PRId64
             " has other bits as one of %" PRId64 " x %" PRId64
             " elements in %s order, %c%c, offset %" PRId64 ", %" PRId64 " product%s%s",
             row, column, w->c.rows, w->c.columns, w->a.columns, of->size.m, of->size.n,
             of->order == XGEMM_COL_MAJOR ? "column" : "row",
             of->transa == XGEMM_NO_TRANS ? 'N' : 'T', of->transb == XGEMM_NO_TRANS ? 'N' : 'T',
             p->offset, of->batch, plural(of->batch), p->work.lists ? " of pointers" : "");
}

static void compare(const whole *w, const part *p, const unsigned char *got,
                    elements_result *result)
{
    const size_t element = type_bytes(w->c.type);
    const int64_t rows = p->work.size.m, columns = p->work.size.n;
    for (int64_t i = 0; i < rows * columns; i++) {
        const int64_t row = p->row + i / columns, column = p->column + i % columns;
        const size_t of = (size_t)(row * w->c.columns + column);
        if (memcmp(w->result + of * element, got + (size_t)i * element, element) == 0)
            continue;
        result->different++;
        note_first(result, w, p, row, column);
    }
    result->parts++;
    result->elements += rows * columns;
}

static bool run_all(whole *w, shape size, int parts, uint64_t seed, elements_result *result)
{
    const size_t bytes = (size_t)(size.m * size.n) * type_bytes(problem_type_c(w->options)) + 1;
    const part all = part_of_all(w, size);
    random_source source = {seed + 1};
    unsigned char *const got = malloc(bytes);
    w->result = malloc(bytes);
    bool done = got && w->result && whole_fill(w, size, seed) && run_part(w, &all, w->result);
    for (int i = 0; i < parts && done; i++) {
        const part p = random_part(w, size, &source);
        done = run_part(w, &p, got);
        if (done)
            compare(w, &p, got, result);
    }
    free(got);
    return done;
}

/* The matrices, and of the largest batch of parts the copies on the host and on the device. */
static double bytes_at_most(const problem_options *o, shape size)
{
    const double m = (double)size.m, n = (double)size.n, k = (double)size.k;
    const double copies = 1.0 + 2.0 * BATCH_MOST;
    return copies * ((m * k + k * n) * (double)type_bytes(o->type) +
                     2.0 * m * n * (double)type_bytes(problem_type_c(o)));
}

bool elements_compare(xgemm_handle *handle, const problem_options *options, shape size, int parts,
                      uint64_t seed, elements_result *result, char *message, size_t message_size)
{
    whole w = {.handle = handle, .options = options};
    if (size.m == 0 || size.n == 0 || size.k == 0)
        return true; /* there are no elements, or no sums */
    if (!check_memory(handle, bytes_at_most(options, size), message, message_size))
        return false;
    const bool done = xgemm_set_reproducible(handle, XGEMM_REPRODUCIBLE_ELEMENT) == XGEMM_OK &&
                      xgemm_set_kernel(handle, NULL) == XGEMM_OK &&
                      run_all(&w, size, parts, seed, result);
    if (!done)
        snprintf(message, message_size, "%s", failure_of(handle));
    whole_free(&w);
    return done;
}
