/* SPDX-License-Identifier: BSD-3-Clause */
#include "batches.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool by_rows(const batch_spec *s)
{
    return s->order == XGEMM_ROW_MAJOR;
}

void put_on_device(xgemm_handle *handle, void **memory, const void *from, size_t bytes)
{
    ck_assert_int_eq(xgemm_malloc(handle, bytes, memory), XGEMM_OK);
    ck_assert_int_eq(xgemm_upload(handle, *memory, from, bytes), XGEMM_OK);
}

/* Everything NaN; elements are set afterwards. */
static operand operand_new(const batch_spec *s, int64_t rows, int64_t columns, int64_t between,
                           bool shared)
{
    operand x = {.rows = rows, .columns = columns};
    const int64_t outer = by_rows(s) ? rows : columns, inner = by_rows(s) ? columns : rows;
    x.ld = (inner > 0 ? inner : 1) + s->gap;
    x.stride = shared ? 0 : outer * x.ld + between;
    x.floats = (size_t)(s->shift + (shared ? 1 : s->count) * (outer * x.ld + between) + 64);
    x.before = malloc(x.floats * sizeof(float));
    x.after = malloc(x.floats * sizeof(float));
    ck_assert(x.before && x.after);
    for (size_t i = 0; i < x.floats; i++)
        x.before[i] = NAN;
    return x;
}

static size_t offset_of(const batch *b, const operand *x, int64_t which, int64_t row,
                        int64_t column)
{
    const int64_t start = b->s.shift + which * x->stride;
    return (size_t)(start + (by_rows(&b->s) ? row * x->ld + column : column * x->ld + row));
}

static void fill(const batch *b, operand *x, float (*draw)(generator *), generator *from)
{
    for (int64_t which = 0; which < (x->stride ? b->s.count : 1); which++)
        for (int64_t i = 0; i < x->rows; i++)
            for (int64_t j = 0; j < x->columns; j++)
                x->before[offset_of(b, x, which, i, j)] = draw(from);
}

static void to_device(batch *b, operand *x)
{
    void *memory;
    put_on_device(b->handle, &memory, x->before, x->floats * sizeof(float));
    x->memory = memory;
    if (!b->s.pointer_arrays)
        return;
    const float *pointers[COUNT_MAX];
    for (int64_t i = 0; i < b->s.count; i++)
        pointers[i] = x->memory + offset_of(b, x, b->order[i], 0, 0);
    put_on_device(b->handle, &x->pointers, pointers, (size_t)b->s.count * sizeof *pointers);
}

batch *batch_new(xgemm_handle *handle, const batch_spec *s, float (*draw)(generator *),
                 uint64_t seed)
{
    generator from = {seed};
    batch *b = calloc(1, sizeof *b);
    ck_assert(b && s->count <= COUNT_MAX);
    b->s = *s;
    b->handle = handle;
    const bool ta = s->transa != XGEMM_NO_TRANS, tb = s->transb != XGEMM_NO_TRANS;
    b->a = operand_new(s, ta ? s->k : s->m, ta ? s->m : s->k, s->between_a, s->shared_a);
    b->b = operand_new(s, tb ? s->n : s->k, tb ? s->k : s->n, s->between_b, s->shared_b);
    b->c = operand_new(s, s->m, s->n, s->between_c, false);
    for (int i = 0; i < COUNT_MAX; i++)
        b->order[i] = (int)((3 * i + 1) % (s->count ? s->count : 1)); /* not ascending */
    if (s->count % 3 == 0)
        for (int i = 0; i < COUNT_MAX; i++)
            b->order[i] = (int)s->count - 1 - i % (int)(s->count ? s->count : 1);
    /* What must not be read stays NaN. */
    if (s->alpha != 0.0f) {
        fill(b, &b->a, draw, &from);
        fill(b, &b->b, draw, &from);
    }
    if (s->beta != 0.0f)
        fill(b, &b->c, draw, &from);
    to_device(b, &b->a);
    to_device(b, &b->b);
    to_device(b, &b->c);
    return b;
}

static void operand_free(xgemm_handle *handle, operand *x)
{
    xgemm_free(handle, x->memory);
    xgemm_free(handle, x->pointers);
    free(x->before);
    free(x->after);
}

void batch_free(batch *b)
{
    operand_free(b->handle, &b->a);
    operand_free(b->handle, &b->b);
    operand_free(b->handle, &b->c);
    free(b);
}

xgemm_status batch_call(const batch *b)
{
    const batch_spec *s = &b->s;
    if (s->pointer_arrays)
        return xgemm_sgemm_batched(b->handle, s->order, s->transa, s->transb, s->m, s->n, s->k,
                                   s->alpha, b->a.pointers, b->a.ld, b->b.pointers, b->b.ld,
                                   s->beta, b->c.pointers, b->c.ld, s->count);
    return xgemm_sgemm_strided_batched(b->handle, s->order, s->transa, s->transb, s->m, s->n, s->k,
                                       s->alpha, b->a.memory + s->shift, b->a.ld, b->a.stride,
                                       b->b.memory + s->shift, b->b.ld, b->b.stride, s->beta,
                                       b->c.memory + s->shift, b->c.ld, b->c.stride, s->count);
}

static void from_device(const batch *b, operand *x)
{
    ck_assert_int_eq(xgemm_download(b->handle, x->after, x->memory, x->floats * sizeof(float)),
                     XGEMM_OK);
}

static double value(const batch *b, const operand *x, bool transposed, int64_t which, int64_t row,
                    int64_t column)
{
    return (double)x->before[transposed ? offset_of(b, x, which, column, row)
                                        : offset_of(b, x, which, row, column)];
}

/* An element of product i; its matrices are those that order says. */
static void check_element(const batch *b, int64_t which, int64_t row, int64_t column)
{
    const batch_spec *s = &b->s;
    const size_t at = offset_of(b, &b->c, which, row, column);
    double sum = 0.0, mass = 0.0;
    for (int64_t l = 0; s->alpha != 0.0f && l < s->k; l++) {
        const double term = value(b, &b->a, s->transa != XGEMM_NO_TRANS, which, row, l) *
                            value(b, &b->b, s->transb != XGEMM_NO_TRANS, which, l, column);
        sum += term;
        mass += fabs(term);
    }
    double want = (double)s->alpha * sum, bound = fabs((double)s->alpha) * mass;
    if (s->beta != 0.0f) {
        want += (double)s->beta * (double)b->c.before[at];
        bound += fabs((double)s->beta * (double)b->c.before[at]);
    }
    const double error = fabs((double)b->c.after[at] - want);
    ck_assert_msg(error <= ((double)s->k + 4.0) * (double)FLT_EPSILON / 2.0 * bound,
                  "product %lld, (%lld, %lld): %.9g instead of %.9g", (long long)which,
                  (long long)row, (long long)column, (double)b->c.after[at], want);
}

/* All that is no element of C is as it was. */
static void check_rest(const batch *b)
{
    const size_t bytes = b->c.floats * sizeof(float);
    float *expected = malloc(bytes);
    ck_assert(expected != NULL);
    memcpy(expected, b->c.before, bytes);
    for (int64_t which = 0; which < b->s.count; which++)
        for (int64_t i = 0; i < b->s.m; i++)
            for (int64_t j = 0; j < b->s.n; j++) {
                const size_t at = offset_of(b, &b->c, which, i, j);
                expected[at] = b->c.after[at];
            }
    ck_assert_msg(memcmp(expected, b->c.after, bytes) == 0, "what is between C's elements changed");
    free(expected);
    ck_assert(memcmp(b->a.before, b->a.after, b->a.floats * sizeof(float)) == 0);
    ck_assert(memcmp(b->b.before, b->b.after, b->b.floats * sizeof(float)) == 0);
}

void batch_run(batch *b)
{
    const xgemm_status status = batch_call(b);
    ck_assert_msg(status == XGEMM_OK, "%s", xgemm_last_error(b->handle));
    from_device(b, &b->a);
    from_device(b, &b->b);
    from_device(b, &b->c);
}

void batch_check_results(batch *b)
{
    batch_run(b);
    for (int64_t which = 0; which < b->s.count; which++)
        for (int64_t i = 0; i < b->s.m; i++)
            for (int64_t j = 0; j < b->s.n; j++)
                check_element(b, which, i, j);
    check_rest(b);
}

void batch_check(xgemm_handle *handle, const batch_spec *s, uint64_t seed)
{
    batch *b = batch_new(handle, s, random_real, seed);
    batch_check_results(b);
    batch_free(b);
}

void batch_set_layout(batch_spec *s, int layout)
{
    shape like = {.m = 0};
    set_layout(&like, layout);
    s->order = like.order;
    s->transa = like.transa;
    s->transb = like.transb;
}
