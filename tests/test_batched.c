/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Batches, strided and from lists of pointers: every product of one against
 * float64, what must not be read or written, and what is refused.
 */
#include "support.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUT_S = 1200, COUNT_MAX = 8 };

/* ---- Batches in guarded memory ---- */

typedef struct {
    xgemm_order order;
    xgemm_transpose transa, transb;
    int64_t m, n, k, count;
    float alpha, beta;
    int64_t gap;                             /* leading dimensions beyond what is needed */
    int64_t between_a, between_b, between_c; /* floats between two matrices */
    bool shared_a, shared_b;                 /* stride 0 */
    int shift;                               /* floats past an aligned address */
    bool lists;
} spec;

/* One operand of all products. */
typedef struct {
    int64_t rows, columns, ld, stride;
    size_t floats;
    float *before, *after, *memory;
    void *list; /* on the device; NULL for strided batches */
} operand;

typedef struct {
    spec s;
    xgemm_handle *handle;
    operand a, b, c;
    int order[COUNT_MAX]; /* of of lists: the matrix of product i */
} batch;

static bool by_rows(const spec *s)
{
    return s->order == XGEMM_ROW_MAJOR;
}

static void put(xgemm_handle *handle, void **memory, const void *from, size_t bytes)
{
    ck_assert_int_eq(xgemm_malloc(handle, bytes, memory), XGEMM_OK);
    ck_assert_int_eq(xgemm_upload(handle, *memory, from, bytes), XGEMM_OK);
}

/* Everything NaN; elements are set afterwards. */
static operand operand_new(const spec *s, int64_t rows, int64_t columns, int64_t between,
                           bool shared)
{
    operand x = {.rows = rows, .columns = columns};
    const int64_t lines = by_rows(s) ? rows : columns, width = by_rows(s) ? columns : rows;
    x.ld = (width > 0 ? width : 1) + s->gap;
    x.stride = shared ? 0 : lines * x.ld + between;
    x.floats = (size_t)(s->shift + (shared ? 1 : s->count) * (lines * x.ld + between) + 64);
    x.before = malloc(x.floats * sizeof(float));
    x.after = malloc(x.floats * sizeof(float));
    ck_assert(x.before && x.after);
    for (size_t i = 0; i < x.floats; i++)
        x.before[i] = NAN;
    return x;
}

static size_t place(const batch *b, const operand *x, int64_t which, int64_t row, int64_t column)
{
    const int64_t start = b->s.shift + which * x->stride;
    return (size_t)(start + (by_rows(&b->s) ? row * x->ld + column : column * x->ld + row));
}

static void fill(const batch *b, operand *x, float (*draw)(generator *), generator *from)
{
    for (int64_t which = 0; which < (x->stride ? b->s.count : 1); which++)
        for (int64_t i = 0; i < x->rows; i++)
            for (int64_t j = 0; j < x->columns; j++)
                x->before[place(b, x, which, i, j)] = draw(from);
}

static void to_device(batch *b, operand *x)
{
    void *memory;
    put(b->handle, &memory, x->before, x->floats * sizeof(float));
    x->memory = memory;
    if (!b->s.lists)
        return;
    const float *pointers[COUNT_MAX];
    for (int64_t i = 0; i < b->s.count; i++)
        pointers[i] = x->memory + place(b, x, b->order[i], 0, 0);
    put(b->handle, &x->list, pointers, (size_t)b->s.count * sizeof *pointers);
}

static batch *batch_new(xgemm_handle *handle, const spec *s, float (*draw)(generator *),
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
    xgemm_free(handle, x->list);
    free(x->before);
    free(x->after);
}

static void batch_free(batch *b)
{
    operand_free(b->handle, &b->a);
    operand_free(b->handle, &b->b);
    operand_free(b->handle, &b->c);
    free(b);
}

static xgemm_status batch_call(const batch *b)
{
    const spec *s = &b->s;
    if (s->lists)
        return xgemm_sgemm_batched(b->handle, s->order, s->transa, s->transb, s->m, s->n, s->k,
                                   s->alpha, b->a.list, b->a.ld, b->b.list, b->b.ld, s->beta,
                                   b->c.list, b->c.ld, s->count);
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

static double value(const batch *b, const operand *x, bool turned, int64_t which, int64_t row,
                    int64_t column)
{
    return (double)
        x->before[turned ? place(b, x, which, column, row) : place(b, x, which, row, column)];
}

/* An element of product i; its matrices are those that order says. */
static void check_element(const batch *b, int64_t which, int64_t row, int64_t column)
{
    const spec *s = &b->s;
    const size_t at = place(b, &b->c, which, row, column);
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
                const size_t at = place(b, &b->c, which, i, j);
                expected[at] = b->c.after[at];
            }
    ck_assert_msg(memcmp(expected, b->c.after, bytes) == 0, "what is between C's elements changed");
    free(expected);
    ck_assert(memcmp(b->a.before, b->a.after, b->a.floats * sizeof(float)) == 0);
    ck_assert(memcmp(b->b.before, b->b.after, b->b.floats * sizeof(float)) == 0);
}

static void batch_run(batch *b)
{
    const xgemm_status status = batch_call(b);
    ck_assert_msg(status == XGEMM_OK, "%s", xgemm_last_error(b->handle));
    from_device(b, &b->a);
    from_device(b, &b->b);
    from_device(b, &b->c);
}

static void batch_check(batch *b)
{
    batch_run(b);
    for (int64_t which = 0; which < b->s.count; which++)
        for (int64_t i = 0; i < b->s.m; i++)
            for (int64_t j = 0; j < b->s.n; j++)
                check_element(b, which, i, j);
    check_rest(b);
}

static void check_spec(xgemm_handle *handle, const spec *s, uint64_t seed)
{
    batch *b = batch_new(handle, s, random_real, seed);
    batch_check(b);
    batch_free(b);
}

static void set_layout_of(spec *s, int layout)
{
    shape like = {.m = 0};
    set_layout(&like, layout);
    s->order = like.order;
    s->transa = like.transa;
    s->transb = like.transb;
}

/* ---- Results ---- */

static const int64_t sizes[][3] = {{1, 1, 1},   {3, 130, 17}, {33, 65, 20}, {64, 64, 64},
                                   {130, 5, 9}, {16, 100, 7}, {36, 68, 33}};

/* A mix over sizes, layouts, factors, gaps and shared operands; all of it at full effort. */
static void run_mix(xgemm_handle *handle, bool lists)
{
    static const float factors[] = {1.0f, 0.0f, -0.7f};
    const int runs = COUNT(sizes) * LAYOUTS * 2, step = test_effort() >= 100 ? 1 : 7;
    for (int run = 0; run < runs; run += step) {
        const int64_t *size = sizes[run % COUNT(sizes)];
        spec s = {.m = size[0],
                  .n = size[1],
                  .k = size[2],
                  .count = 1 + run % 5,
                  .alpha = factors[run % 7 == 3 ? 1 : run % 2 * 2],
                  .beta = factors[run / 3 % 3],
                  .gap = run % 4 == 1   ? 3
                         : run % 4 == 2 ? 4
                                        : 0,
                  .between_a = run % 3 * 4,
                  .between_b = run % 5,
                  .between_c = run % 2 * 3,
                  .shared_a = !lists && run % 6 == 0,
                  .shared_b = !lists && run % 4 == 0,
                  .shift = run % 8 == 5 ? 1 : 0,
                  .lists = lists};
        set_layout_of(&s, run / COUNT(sizes) % LAYOUTS);
        check_spec(handle, &s, (uint64_t)run);
    }
}

/* Whether lists can be computed; on a GPU not by every kernel. */
static bool takes_lists(xgemm_handle *handle)
{
    const spec s = {XGEMM_ROW_MAJOR,
                    XGEMM_NO_TRANS,
                    XGEMM_NO_TRANS,
                    2,
                    2,
                    2,
                    1,
                    1.0f,
                    0.0f,
                    0,
                    0,
                    0,
                    0,
                    false,
                    false,
                    0,
                    true};
    batch *b = batch_new(handle, &s, random_real, 1);
    const xgemm_status status = batch_call(b);
    if (status == XGEMM_ERROR_NOT_SUPPORTED)
        ck_assert_msg(strstr(xgemm_last_error(handle), "cannot compute a batch from lists") != NULL,
                      "%s", xgemm_last_error(handle));
    else
        ck_assert_msg(status == XGEMM_OK, "%s", xgemm_last_error(handle));
    ck_assert(status == XGEMM_OK || test_device() >= 0);
    batch_free(b);
    return status == XGEMM_OK;
}

START_TEST(strided)
{
    xgemm_handle *handle = open_with_kernel(_i);
    run_mix(handle, false);
    xgemm_destroy(handle);
}
END_TEST

START_TEST(lists)
{
    xgemm_handle *handle = open_with_kernel(_i);
    if (takes_lists(handle))
        run_mix(handle, true);
    xgemm_destroy(handle);
}
END_TEST

START_TEST(on_the_cpu)
{
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_CPU);
    run_mix(handle, false);
    run_mix(handle, true);
    xgemm_destroy(handle);
}
END_TEST

/* The simulator stops what leaves its matrices: also those of one product for another's. */
START_TEST(watched)
{
    static const char *const kernels[] = {"auto", "pipelined-32x64", "tma-128x128", "padded",
                                          "skinny"};
    setenv("XGEMM_SIM", "check", 1);
    xgemm_handle *handle;
    if (xgemm_create(&handle, XGEMM_DEVICE_SIM) == XGEMM_ERROR_NOT_SUPPORTED)
        return; /* a build that cannot trace */
    for (int i = 0; i < COUNT(kernels); i++)
        for (int layout = 0; layout < LAYOUTS; layout += 3)
            for (int kind = 0; kind < 4; kind++) {
                spec s = {.m = 36, .n = 68, .k = 33, .count = 3, .alpha = 1.0f};
                s.beta = kind == 1 ? 0.5f : 0.0f;
                s.alpha = kind == 3 ? 0.0f : 1.0f;
                s.gap = kind == 2 ? 1 : 0;
                s.shared_b = kind == 1;
                s.lists = kind >= 2;
                set_layout_of(&s, layout);
                ck_assert_int_eq(xgemm_set_kernel(handle, kernels[i]), XGEMM_OK);
                check_spec(handle, &s, (uint64_t)layout);
            }
    xgemm_destroy(handle);
}
END_TEST

static xgemm_plan plan_of(const batch *b)
{
    const spec *s = &b->s;
    xgemm_plan plan = {.struct_size = sizeof plan};
    const xgemm_status status = xgemm_sgemm_strided_batched_plan(
        b->handle, s->order, s->transa, s->transb, s->m, s->n, s->k, s->alpha,
        b->a.memory + s->shift, b->a.ld, b->a.stride, b->b.memory + s->shift, b->b.ld, b->b.stride,
        s->beta, b->c.memory + s->shift, b->c.ld, b->c.stride, s->count, &plan);
    ck_assert_msg(status == XGEMM_OK, "%s", xgemm_last_error(b->handle));
    return plan;
}

/* With room for the copies of two products at once there are three passes for five. */
START_TEST(passes)
{
    if (test_device() == XGEMM_DEVICE_CPU)
        return;
    xgemm_handle *handle = open_handle(test_device());
    spec s = {.m = 64, .n = 64, .k = 64, .count = 5, .alpha = 1.0f, .beta = -1.0f};
    set_layout_of(&s, 0);
    const size_t copy = 4 * 64 * 96; /* of one A, and a line more than it needs */
    void *workspace;
    ck_assert_int_eq(xgemm_malloc(handle, 2 * copy, &workspace), XGEMM_OK);
    ck_assert_int_eq(xgemm_set_kernel(handle, "pipelined-32x64"), XGEMM_OK);
    batch *b = batch_new(handle, &s, random_real, 5);
    xgemm_plan plan = plan_of(b);
    ck_assert_int_eq(plan.together, 5);
    ck_assert_int_eq(plan.launches, 2); /* copies of A, and products */
    ck_assert_int_eq(xgemm_set_workspace(handle, workspace, 2 * copy), XGEMM_OK);
    plan = plan_of(b);
    ck_assert_int_eq(plan.together, 2);
    ck_assert_int_eq(plan.launches, 6); /* 2, 2 and 1 */
    ck_assert_uint_le(plan.workspace_bytes, 2 * copy);
    batch_check(b);
    batch_free(b);
    xgemm_free(handle, workspace);
    xgemm_destroy(handle);
}
END_TEST

/* A few products with a long k: parts of each are summed. */
START_TEST(split)
{
    if (test_device() == XGEMM_DEVICE_CPU)
        return;
    xgemm_handle *handle = open_handle(test_device());
    ck_assert_int_eq(xgemm_set_kernel(handle, "pipelined-words-32x64"), XGEMM_OK);
    for (int layout = 0; layout < LAYOUTS; layout += 5) {
        spec s = {.m = 20, .n = 40, .k = 1500, .count = 3, .alpha = 0.5f, .beta = 1.0f, .gap = 1};
        set_layout_of(&s, layout);
        batch *b = batch_new(handle, &s, random_real, 5);
        const xgemm_plan plan = plan_of(b);
        ck_assert_int_gt(plan.split_k, 1);
        ck_assert_int_eq(plan.together, 3);
        ck_assert_int_eq(plan.launches, 2);
        batch_check(b);
        batch_free(b);
    }
    xgemm_destroy(handle);
}
END_TEST

/* With no memory for sums: two parts, which pairs of blocks add up among them. */
START_TEST(split_in_pairs)
{
    if (test_device() == XGEMM_DEVICE_CPU)
        return;
    xgemm_handle *handle = open_handle(test_device());
    void *workspace;
    ck_assert_int_eq(xgemm_malloc(handle, 64, &workspace), XGEMM_OK);
    ck_assert_int_eq(xgemm_set_workspace(handle, workspace, 64), XGEMM_OK);
    for (int layout = 0; layout < LAYOUTS; layout += 5) {
        spec s = {.m = 20, .n = 40, .k = 1500, .count = 3, .alpha = 0.5f, .beta = 1.0f, .gap = 1};
        set_layout_of(&s, layout);
        batch *b = batch_new(handle, &s, random_real, 5);
        const xgemm_plan plan = plan_of(b);
        if (test_device() == XGEMM_DEVICE_SIM) { /* others may have no clusters */
            ck_assert_int_eq(plan.split_k, 2);
            ck_assert_int_eq(plan.launches, 1);
            ck_assert_int_eq((int)plan.workspace_bytes, 0);
        }
        batch_check(b);
        batch_free(b);
    }
    xgemm_free(handle, workspace);
    xgemm_destroy(handle);
}
END_TEST

/* Two runs, and a run with a plan that was kept while another took its turn. */
START_TEST(same_bits)
{
    xgemm_handle *handle = open_handle(test_device());
    for (int kind = 0; kind < 2; kind++) {
        spec s = {.m = 37, .n = 70, .k = 200, .count = 4, .alpha = 0.3f, .lists = kind == 1};
        set_layout_of(&s, 2);
        batch *b = batch_new(handle, &s, random_real, 5);
        const size_t bytes = b->c.floats * sizeof(float);
        float *first = malloc(bytes);
        ck_assert(first != NULL);
        batch_run(b);
        memcpy(first, b->c.after, bytes);
        const spec other = {.m = 3,
                            .n = 4,
                            .k = 5,
                            .count = 2,
                            .alpha = 1.0f,
                            .order = XGEMM_COL_MAJOR,
                            .transa = XGEMM_TRANS,
                            .transb = XGEMM_NO_TRANS};
        check_spec(handle, &other, 1);
        batch_run(b);
        ck_assert(memcmp(first, b->c.after, bytes) == 0);
        free(first);
        batch_free(b);
    }
    xgemm_destroy(handle);
}
END_TEST

/* Columns of one matrix of C in turn: their lines are interleaved. */
START_TEST(side_by_side)
{
    enum { M = 9, N = 12, K = 5, PRODUCTS = 4, LD = PRODUCTS * N };
    float a[PRODUCTS * M * K], b[K * N], c[M * LD], *device[3];
    generator from = {7};
    xgemm_handle *handle = open_with_kernel(_i);
    for (int i = 0; i < COUNT(a); i++)
        a[i] = random_dyadic(&from);
    for (int i = 0; i < COUNT(b); i++)
        b[i] = random_dyadic(&from);
    const struct {
        void *from;
        size_t bytes;
    } arrays[] = {{a, sizeof a}, {b, sizeof b}, {c, sizeof c}};
    memset(c, 0xff, sizeof c);
    for (int i = 0; i < 3; i++) {
        void *memory;
        put(handle, &memory, arrays[i].from, arrays[i].bytes);
        device[i] = memory;
    }
    const xgemm_status status = xgemm_sgemm_strided_batched(
        handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, M, N, K, 1.0f, device[0], K, M * K,
        device[1], N, 0, 0.0f, device[2], LD, N, PRODUCTS);
    ck_assert_msg(status == XGEMM_OK, "%s", xgemm_last_error(handle));
    ck_assert_int_eq(xgemm_download(handle, c, device[2], sizeof c), XGEMM_OK);
    for (int which = 0; which < PRODUCTS; which++)
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++) {
                float sum = 0.0f;
                for (int l = 0; l < K; l++)
                    sum += a[which * M * K + i * K + l] * b[l * N + j];
                ck_assert_float_eq(c[i * LD + which * N + j], sum);
            }
    for (int i = 0; i < 3; i++)
        xgemm_free(handle, device[i]);
    xgemm_destroy(handle);
}
END_TEST

/* More products than a grid has blocks along z, scaled and (the simulator takes seconds)
 * multiplied. */
START_TEST(more_than_a_grid)
{
    enum { PRODUCTS = 65536 + 3 };
    xgemm_handle *handle = open_handle(test_device());
    const size_t bytes = PRODUCTS * sizeof(float);
    float *host = malloc(bytes);
    void *a, *c;
    ck_assert(host != NULL);
    for (int i = 0; i < PRODUCTS; i++)
        host[i] = (float)i;
    put(handle, &a, host, bytes);
    put(handle, &c, host, bytes);
    ck_assert_int_eq(xgemm_sgemm_strided_batched(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS,
                                                 XGEMM_NO_TRANS, 1, 1, 0, 1.0f, NULL, 1, 0, NULL, 1,
                                                 0, 3.0f, c, 1, 1, PRODUCTS),
                     XGEMM_OK);
    ck_assert_int_eq(xgemm_download(handle, host, c, bytes), XGEMM_OK);
    for (int i = 0; i < PRODUCTS; i++)
        ck_assert_float_eq(host[i], 3.0f * (float)i);
    if (test_effort() >= 100) {
        ck_assert_int_eq(xgemm_sgemm_strided_batched(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS,
                                                     XGEMM_NO_TRANS, 1, 1, 1, 2.0f, a, 1, 1, a, 1,
                                                     0, 1.0f, c, 1, 1, PRODUCTS),
                         XGEMM_OK);
        ck_assert_int_eq(xgemm_download(handle, host, c, bytes), XGEMM_OK);
        for (int i = 0; i < PRODUCTS; i++)
            ck_assert_float_eq(host[i], 3.0f * (float)i); /* B is a[0], which is 0 */
        ck_assert_int_eq(xgemm_sgemm_strided_batched(
                             handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 1, 1, 1, 2.0f,
                             a, 1, 1, (const float *)a + 1, 1, 0, 1.0f, c, 1, 1, PRODUCTS),
                         XGEMM_OK);
        ck_assert_int_eq(xgemm_download(handle, host, c, bytes), XGEMM_OK);
        for (int i = 0; i < PRODUCTS; i++)
            ck_assert_float_eq(host[i], 5.0f * (float)i);
    }
    free(host);
    xgemm_free(handle, a);
    xgemm_free(handle, c);
    xgemm_destroy(handle);
}
END_TEST

/* ---- What is refused, and what does nothing ---- */

typedef struct {
    xgemm_status status;
    const char *part;
    int64_t m, n, k, lda, stride_a, stride_b, ldc, stride_c, count;
} refusal;

static const float somewhere[64];

static xgemm_status call_refused(xgemm_handle *handle, const refusal *r, xgemm_order order)
{
    static float c[64];
    return xgemm_sgemm_strided_batched(handle, order, XGEMM_NO_TRANS, XGEMM_NO_TRANS, r->m, r->n,
                                       r->k, 1.0f, somewhere, r->lda, r->stride_a, somewhere, 8,
                                       r->stride_b, 0.0f, c, r->ldc, r->stride_c, r->count);
}

#define HUGE_SIZE ((int64_t)1 << 62)

START_TEST(refused)
{
    static const refusal refusals[] = {
        {XGEMM_ERROR_INVALID_VALUE, "batch_count is -1; it must be at least 0", 2, 2, 2, 2, 4, 4, 2,
         4, -1},
        {XGEMM_ERROR_INVALID_VALUE, "stride_a is -4; a stride must be at least 0", 2, 2, 2, 2, -4,
         4, 2, 4, 2},
        {XGEMM_ERROR_INVALID_VALUE, "stride_b is -1; a stride must be at least 0", 2, 2, 2, 2, 4,
         -1, 2, 4, 2},
        {XGEMM_ERROR_INVALID_VALUE, "stride_c is -1; a stride must be at least 0", 2, 2, 2, 2, 4, 4,
         2, -1, 2},
        {XGEMM_ERROR_INVALID_VALUE, "stride_c is 0; with ldc = 2 the products of a batch would", 2,
         2, 2, 2, 4, 4, 2, 0, 2},
        {XGEMM_ERROR_INVALID_VALUE, "stride_c is 3; with ldc = 2", 2, 2, 2, 2, 4, 4, 2, 3, 2},
        {XGEMM_ERROR_INVALID_VALUE, "stride_c is 4; with ldc = 3", 2, 2, 2, 2, 4, 4, 3, 4, 2},
        {XGEMM_ERROR_INVALID_VALUE, "lda is 1; with transa = N in row order", 2, 2, 2, 1, 4, 4, 2,
         4, 2},
        {XGEMM_ERROR_INVALID_VALUE, "m is -1", -1, 2, 2, 2, 4, 4, 2, 4, 2},
        {XGEMM_ERROR_OVERFLOW, "a has 3 matrices 4611686018427387904 elements apart", 2, 2, 2, 2,
         HUGE_SIZE, 4, 2, 4, 3},
        {XGEMM_ERROR_OVERFLOW, "b has 4611686018427387904 matrices 4 elements apart", 2, 2, 2, 2, 0,
         4, 2, 4, HUGE_SIZE},
        {XGEMM_ERROR_OVERFLOW, "c has 9223372036854775807 matrices 4 elements apart", 2, 2, 2, 2, 0,
         0, 2, 4, INT64_MAX},
    };
    xgemm_handle *handle = open_handle(test_device());
    for (int i = 0; i < COUNT(refusals); i++) {
        const refusal *r = &refusals[i];
        const xgemm_status status = call_refused(handle, r, XGEMM_ROW_MAJOR);
        assert_refused(handle, status, r->status, "xgemm_sgemm_strided_batched: ", r->part);
    }
    xgemm_destroy(handle);
    ck_assert_int_eq(call_refused(NULL, &refusals[0], XGEMM_ROW_MAJOR), XGEMM_ERROR_NULL_POINTER);
    ck_assert_str_eq(xgemm_last_error(NULL), "xgemm_sgemm_strided_batched: handle is NULL");
}
END_TEST

static void assert_list_refused(xgemm_handle *handle, const void *a, const void *b, const void *c,
                                int64_t count, xgemm_status wanted, const char *part)
{
    const xgemm_status status =
        xgemm_sgemm_batched(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 2, 2, 2, 1.0f,
                            a, 2, b, 2, 0.0f, (float *const *)(uintptr_t)c, 2, count);
    assert_refused(handle, status, wanted, "xgemm_sgemm_batched: ", part);
}

START_TEST(refused_lists)
{
    const xgemm_status null = XGEMM_ERROR_NULL_POINTER, invalid = XGEMM_ERROR_INVALID_VALUE;
    static float c[8] = {1.0f, 2.0f};
    const float *good[2] = {somewhere, somewhere}, *none[2] = {somewhere, NULL};
    const float *odd[2] = {somewhere, (const float *)((uintptr_t)somewhere + 2)};
    float *to[2] = {c, c + 4};
    xgemm_handle *handle = open_handle(test_device());
    assert_list_refused(handle, NULL, good, to, 2, null,
                        "a is NULL, and pointers to 2 matrices are to be read there");
    assert_list_refused(handle, good, NULL, to, 2, null, "b is NULL");
    assert_list_refused(handle, good, good, NULL, 2, null, "c is NULL");
    assert_list_refused(handle, good, good, to, -3, invalid, "batch_count is -3");
    assert_list_refused(handle, (const char *)good + 4, good, to, 1, invalid,
                        "which is not aligned to the 8 bytes of a pointer");
    if (test_device() < 0) {
        assert_list_refused(handle, none, good, to, 2, null, "a[1] is NULL");
        assert_list_refused(handle, good, none, to, 2, null, "b[1] is NULL");
        assert_list_refused(handle, good, good, none, 2, null, "c[1] is NULL");
        assert_list_refused(handle, good, odd, to, 2, invalid, "b[1] is ");
        assert_list_refused(handle, good, odd, to, 2, invalid, "not aligned to the 4 bytes");
    }
    ck_assert(c[0] == 1.0f && c[1] == 2.0f);
    xgemm_destroy(handle);
    assert_list_refused(NULL, good, good, to, 2, null, "handle is NULL");
}
END_TEST

/* Nothing is read or written, and NULL is fine. */
START_TEST(empty)
{
    xgemm_handle *handle = open_with_kernel(_i);
    for (int i = 0; i < 5; i++) {
        const int64_t m = i == 1 ? 0 : 3, n = i == 2 ? 0 : 3, k = i == 3 ? 0 : 3;
        const int64_t count = i == 0 ? 0 : 2;
        const float alpha = i == 4 ? 0.0f : 1.0f, beta = i == 3 || i == 4 ? 1.0f : 0.5f;
        ck_assert_int_eq(xgemm_sgemm_strided_batched(handle, XGEMM_COL_MAJOR, XGEMM_TRANS,
                                                     XGEMM_NO_TRANS, m, n, k, alpha, NULL, 3, 9,
                                                     NULL, 3, 9, beta, NULL, 3, 9, count),
                         XGEMM_OK);
        ck_assert_int_eq(xgemm_sgemm_batched(handle, XGEMM_COL_MAJOR, XGEMM_TRANS, XGEMM_NO_TRANS,
                                             m, n, k, alpha, NULL, 3, NULL, 3, beta, NULL, 3,
                                             count),
                         XGEMM_OK);
        ck_assert_ptr_null(xgemm_last_kernel(handle));
    }
    xgemm_destroy(handle);
}
END_TEST

static Suite *batched(void)
{
    Suite *suite = suite_create("batched");
    TCase *cases = new_case(suite, "batches", TIMEOUT_S);
    tcase_add_loop_test(cases, strided, 0, test_kernels());
    tcase_add_loop_test(cases, lists, 0, test_kernels());
    tcase_add_loop_test(cases, side_by_side, 0, test_kernels());
    tcase_add_loop_test(cases, empty, 0, test_kernels());
    tcase_add_test(cases, on_the_cpu);
    tcase_add_test(cases, watched);
    tcase_add_test(cases, passes);
    tcase_add_test(cases, split);
    tcase_add_test(cases, split_in_pairs);
    tcase_add_test(cases, same_bits);
    tcase_add_test(cases, more_than_a_grid);
    tcase_add_test(cases, refused);
    tcase_add_test(cases, refused_lists);
    return suite;
}

int main(void)
{
    return run_suite(batched());
}
