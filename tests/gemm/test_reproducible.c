/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * XGEMM_REPRODUCIBLE_ELEMENT: random parts of a product, in other layouts, at other places and in
 * batches, have the bits that the whole product has; and the CPU has those of the device under
 * test.
 */
#include "typed.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BATCH = 3, SLACK = 64 /* bytes before a matrix, so that it begins anywhere */ };

static const xgemm_type types[] = {XGEMM_F32,  XGEMM_F64, XGEMM_F16,
                                   XGEMM_BF16, XGEMM_C32, XGEMM_C64};

/* The next number of a sequence, below a limit. */
static int below(uint64_t *state, int limit)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((*state >> 33) % (uint64_t)limit);
}

/* An element of 16 bits, 32 or 64: a number between -2 and 2 whose bits are random. */
static void random_part(uint64_t *state, xgemm_type type, void *to)
{
    const int sign = below(state, 2), bits = below(state, 1 << 30);
    const double x = (sign ? -1.0 : 1.0) * (1.0 + (double)bits / (1 << 30));
    const float f = (float)x;
    uint32_t word;
    memcpy(&word, &f, sizeof word);
    const uint16_t bf16 = (uint16_t)(word >> 16);
    const uint16_t f16 = (uint16_t)((sign ? 0x8000 : 0) | 0x3c00 | (bits & 0x3ff));
    if (type == XGEMM_BF16)
        memcpy(to, &bf16, 2);
    else if (type == XGEMM_F16)
        memcpy(to, &f16, 2);
    else if (type == XGEMM_F64 || type == XGEMM_C64)
        memcpy(to, &x, 8);
    else
        memcpy(to, &f, 4);
}

/* A matrix of that type, row after row. */
static unsigned char *random_matrix(uint64_t *state, xgemm_type type, int rows, int columns)
{
    const size_t bytes = typed_bytes(type), part = bytes / (typed_is_complex(type) ? 2 : 1);
    const size_t all = (size_t)rows * (size_t)columns * bytes;
    unsigned char *const values = allocate(all ? all : 1);
    for (size_t at = 0; at < all; at += part)
        random_part(state, type, values + at);
    return values;
}

/* The whole problem: A is m x k, B k x n and C m x n, row after row. */
typedef struct {
    xgemm_type type, type_c;
    int m, n, k;
    double scalars[4]; /* alpha and beta, each of two parts at most */
    unsigned char *a, *b, *c, *bias, *result;
} whole;

/* A part of it: rows and columns of C, and how the call has them. */
typedef struct {
    int row, rows, column, columns;
    xgemm_order order;
    xgemm_transpose transa, transb;
    int gap, offset, count;
    bool pointer_arrays;
} part;

/* Copies rows x columns elements of a matrix of so many columns to where a call wants them. */
static void place(unsigned char *to, const unsigned char *from, int from_columns, int row,
                  int column, int rows, int columns, bool by_columns, int ld, size_t bytes)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            const size_t at = by_columns ? (size_t)j * (size_t)ld + (size_t)i
                                         : (size_t)i * (size_t)ld + (size_t)j;
            memcpy(to + at * bytes,
                   from + ((size_t)(row + i) * (size_t)from_columns + (size_t)(column + j)) * bytes,
                   bytes);
        }
}

/* A batch's matrices on the device, each of "lines" lines "ld" elements apart. */
typedef struct {
    unsigned char *host;
    void *device, *pointers;
    size_t bytes, element;
    int ld;
    int64_t stride;
    int offset; /* bytes */
} matrices;

static matrices place_all(xgemm_handle *handle, const part *p, const unsigned char *from,
                          int from_columns, int row, int column, int rows, int columns,
                          bool by_columns, size_t element, bool reads)
{
    matrices x = {.element = element,
                  .ld = (by_columns ? rows : columns) + p->gap,
                  .offset = p->offset * (int)element};
    const int lines = by_columns ? columns : rows;
    x.stride = (int64_t)lines * x.ld + p->gap;
    x.bytes = SLACK * element + (size_t)p->count * (size_t)x.stride * element;
    x.host = allocate(x.bytes);
    memset(x.host, 0x7f, x.bytes); /* NaN, and large numbers */
    for (int i = 0; i < p->count && reads; i++)
        place(x.host + x.offset + (size_t)i * (size_t)x.stride * element, from, from_columns, row,
              column, rows, columns, by_columns, x.ld, element);
    ck_assert_int_eq(xgemm_malloc(handle, x.bytes, &x.device), XGEMM_OK);
    ck_assert_int_eq(xgemm_upload(handle, x.device, x.host, x.bytes), XGEMM_OK);
    if (p->pointer_arrays) {
        const void *list[MOST_BATCH];
        for (int i = 0; i < p->count; i++)
            list[i] = (char *)x.device + x.offset + (size_t)i * (size_t)x.stride * element;
        ck_assert_int_eq(xgemm_malloc(handle, sizeof list, &x.pointers), XGEMM_OK);
        ck_assert_int_eq(xgemm_upload(handle, x.pointers, list, sizeof list), XGEMM_OK);
    }
    return x;
}

static void *first_of(const matrices *x)
{
    return x->pointers ? x->pointers : (char *)x->device + x->offset;
}

static void free_all(xgemm_handle *handle, matrices *x)
{
    xgemm_free(handle, x->device);
    xgemm_free(handle, x->pointers);
    free(x->host);
}

/* The call's scalars, of the type that it wants. */
static void scalars_of(const whole *w, double doubles[4], float floats[4], const void *at[2])
{
    const bool is_double = w->type == XGEMM_F64 || w->type == XGEMM_C64;
    for (int i = 0; i < 4; i++)
        doubles[i] = w->scalars[i], floats[i] = (float)w->scalars[i];
    for (int i = 0; i < 2; i++)
        at[i] = is_double ? (const void *)&doubles[2 * i] : (const void *)&floats[2 * i];
}

/* Runs the part; its elements of C, row after row, of the batch's product number "which". */
static unsigned char *run_part(xgemm_handle *handle, const whole *w, const part *p, int which)
{
    const bool columns_first = p->order == XGEMM_COL_MAJOR;
    const size_t bytes = typed_bytes(w->type), c_bytes = typed_bytes(w->type_c);
    matrices a = place_all(handle, p, w->a, w->k, p->row, 0, p->rows, w->k,
                           columns_first != (p->transa != XGEMM_NO_TRANS), bytes, true);
    matrices b = place_all(handle, p, w->b, w->n, 0, p->column, w->k, p->columns,
                           columns_first != (p->transb != XGEMM_NO_TRANS), bytes, true);
    matrices c = place_all(handle, p, w->c, w->n, p->row, p->column, p->rows, p->columns,
                           columns_first, c_bytes, true);
    matrices bias = {.device = NULL};
    part one = *p;
    one.count = 1, one.pointer_arrays = false, one.gap = 0;
    double doubles[4];
    float floats[4];
    const void *scalars[2];
    scalars_of(w, doubles, floats, scalars);
    xgemm_product call = XGEMM_PRODUCT_INIT;
    call.order = p->order;
    call.transa = p->transa, call.transb = p->transb;
    call.m = p->rows, call.n = p->columns, call.k = w->k;
    call.type_a = call.type_b = w->type;
    call.type_c = w->type_c;
    call.alpha = scalars[0], call.beta = scalars[1];
    call.a = first_of(&a), call.lda = a.ld, call.stride_a = a.stride;
    call.b = first_of(&b), call.ldb = b.ld, call.stride_b = b.stride;
    call.c = first_of(&c), call.ldc = c.ld, call.stride_c = c.stride;
    call.batch_count = p->count;
    call.flags = p->pointer_arrays ? (unsigned)XGEMM_POINTER_ARRAYS : 0;
    if (w->bias) {
        bias =
            place_all(handle, &one, w->bias, w->n, 0, p->column, 1, p->columns, false, bytes, true);
        call.bias = first_of(&bias), call.type_bias = w->type;
    }
    ck_assert_msg(xgemm_gemm(handle, &call) == XGEMM_OK, "%s", xgemm_last_error(handle));
    ck_assert_int_eq(xgemm_download(handle, c.host, c.device, c.bytes), XGEMM_OK);
    unsigned char *const result =
        allocate((size_t)p->rows * (size_t)p->columns * c_bytes + 1 /* of nothing */);
    const unsigned char *const from =
        c.host + c.offset + (size_t)which * (size_t)c.stride * c_bytes;
    for (int i = 0; i < p->rows; i++)
        for (int j = 0; j < p->columns; j++) {
            const size_t at = columns_first ? (size_t)j * (size_t)c.ld + (size_t)i
                                            : (size_t)i * (size_t)c.ld + (size_t)j;
            memcpy(result + ((size_t)i * (size_t)p->columns + (size_t)j) * c_bytes,
                   from + at * c_bytes, c_bytes);
        }
    free_all(handle, &a);
    free_all(handle, &b);
    free_all(handle, &c);
    free_all(handle, &bias);
    return result;
}

static xgemm_handle *open_by_element(int device)
{
    xgemm_handle *const handle = open_handle(device);
    ck_assert_int_eq(xgemm_set_reproducible(handle, XGEMM_REPRODUCIBLE_ELEMENT), XGEMM_OK);
    return handle;
}

/* A problem, by a number; alpha and beta are 1 and 0 in some. */
static whole whole_of(xgemm_type type, uint64_t seed, int m, int n, int k)
{
    uint64_t state = seed * 77 + (uint64_t)type;
    whole w = {.type = type, .type_c = type, .m = m, .n = n, .k = k, .scalars = {1.0}};
    const bool is_half = type == XGEMM_F16 || type == XGEMM_BF16;
    if (is_half && seed % 3 == 0)
        w.type_c = XGEMM_F32;
    if (seed % 2) {
        w.scalars[0] = 0.7, w.scalars[2] = -1.3;
        if (typed_is_complex(type))
            w.scalars[1] = 0.4, w.scalars[3] = 0.9;
    }
    w.a = random_matrix(&state, type, m, k);
    w.b = random_matrix(&state, type, k, n);
    w.c = random_matrix(&state, w.type_c, m, n);
    if (seed % 4 >= 2)
        w.bias = random_matrix(&state, type, 1, n);
    return w;
}

static void whole_free(whole *w)
{
    free(w->a);
    free(w->b);
    free(w->c);
    free(w->bias);
    free(w->result);
}

static part all_of(const whole *w)
{
    return (part){0, w->m, 0, w->n, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS,
                  0, 0,    1, false};
}

static part random_part_of(const whole *w, uint64_t *state)
{
    part p = all_of(w);
    p.row = below(state, w->m);
    p.rows = 1 + below(state, below(state, 2) ? w->m - p.row : 1);
    p.column = below(state, w->n);
    p.columns = 1 + below(state, below(state, 2) ? w->n - p.column : 1);
    p.order = below(state, 2) ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR;
    p.transa = below(state, 2) ? XGEMM_TRANS : XGEMM_NO_TRANS;
    p.transb = below(state, 2) ? XGEMM_TRANS : XGEMM_NO_TRANS;
    p.gap = below(state, 2) * below(state, 9);
    p.offset = below(state, 2) * below(state, SLACK);
    p.count = 1 + below(state, MOST_BATCH);
    p.pointer_arrays = p.count > 1 && below(state, 2);
    return p;
}

static void compare(const whole *w, const part *p, const unsigned char *got, int trial)
{
    const size_t bytes = typed_bytes(w->type_c);
    for (int i = 0; i < p->rows; i++)
        for (int j = 0; j < p->columns; j++) {
            const size_t of = (size_t)(p->row + i) * (size_t)w->n + (size_t)(p->column + j);
            const size_t at = (size_t)i * (size_t)p->columns + (size_t)j;
            ck_assert_msg(
                memcmp(w->result + of * bytes, got + at * bytes, bytes) == 0,
                "%s, trial %d: element (%d, %d) of %d x %d x %d has other bits in rows "
                "%d + %d, columns %d + %d, order %d, transposes %d and %d, gap %d, offset "
                "%d, batch %d%s",
                typed_name(w->type), trial, p->row + i, p->column + j, w->m, w->n, w->k, p->row,
                p->rows, p->column, p->columns, (int)p->order, (int)p->transa, (int)p->transb,
                p->gap, p->offset, p->count, p->pointer_arrays ? " of pointer arrays" : "");
        }
}

/*
 * Parts of a few problems, of which the last has a k that would be split; the whole by a kernel,
 * the parts by others.
 */
static void check_parts(xgemm_type type, const char *const *kernels, int kernel_count, int trials)
{
    static const int sizes[][3] = {{70, 90, 33}, {5, 300, 129}, {130, 70, 16}, {40, 72, 1100}};
    xgemm_handle *handle = open_by_element(test_device());
    for (int i = 0; i < COUNT(sizes); i++) {
        whole w = whole_of(type, (uint64_t)i, sizes[i][0], sizes[i][1], sizes[i][2]);
        const part all = all_of(&w);
        uint64_t state = 99 + (uint64_t)i;
        ck_assert_int_eq(xgemm_set_kernel(handle, kernels[0]), XGEMM_OK);
        w.result = run_part(handle, &w, &all, 0);
        for (int trial = 0; trial < trials; trial++) {
            const part p = random_part_of(&w, &state);
            ck_assert_int_eq(xgemm_set_kernel(handle, kernels[trial % kernel_count]), XGEMM_OK);
            unsigned char *got = run_part(handle, &w, &p, below(&state, p.count));
            compare(&w, &p, got, trial);
            free(got);
        }
        whole_free(&w);
    }
    xgemm_destroy(handle);
}

START_TEST(parts_have_the_bits_of_the_whole)
{
    static const char *const kernels[] = {"auto"};
    check_parts(types[_i], kernels, COUNT(kernels), test_effort() >= 100 ? 40 : 5);
}
END_TEST

/* mma.sync, which auto does not take where there is wgmma: all of its tiles have the same bits. */
START_TEST(parts_by_mma)
{
    static const char *const kernels[] = {"pipelined-128x128", "pipelined-64x128",
                                          "pipelined-32x64"};
    check_parts(_i ? XGEMM_BF16 : XGEMM_F16, kernels, COUNT(kernels),
                test_effort() >= 100 ? 40 : 6);
}
END_TEST

/* The chain of fused multiply-adds: the device's bits are the CPU's, in each math mode. */
START_TEST(the_cpu_has_the_same_bits)
{
    static const xgemm_type chains[] = {XGEMM_F32, XGEMM_F64, XGEMM_C32, XGEMM_C64};
    static const xgemm_math modes[] = {XGEMM_MATH_STRICT, XGEMM_MATH_DEFAULT, XGEMM_MATH_TF32};
    static const int sizes[][3] = {{67, 131, 40}, {1, 50, 300}, {129, 33, 25}, {20, 260, 1}};
    xgemm_handle *device = open_by_element(test_device()), *cpu = open_by_element(XGEMM_DEVICE_CPU);
    for (int i = 0; i < COUNT(sizes); i++) {
        whole w = whole_of(chains[_i], (uint64_t)i, sizes[i][0], sizes[i][1], sizes[i][2]);
        const part all = all_of(&w);
        ck_assert_int_eq(xgemm_set_math(device, modes[i % COUNT(modes)]), XGEMM_OK);
        w.result = run_part(cpu, &w, &all, 0);
        unsigned char *got = run_part(device, &w, &all, 0);
        compare(&w, &all, got, i);
        free(got);
        whole_free(&w);
    }
    xgemm_destroy(device);
    xgemm_destroy(cpu);
}
END_TEST

START_TEST(what_is_refused)
{
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_CPU);
    const float one = 1.0f;
    float c = 0.0f;
    assert_refused(handle, xgemm_set_reproducible(handle, (xgemm_reproducible)2),
                   XGEMM_ERROR_INVALID_VALUE, "xgemm_set_reproducible", "reproducible is 2");
    ck_assert_int_eq(xgemm_set_reproducible(NULL, XGEMM_REPRODUCIBLE_RUN),
                     XGEMM_ERROR_NULL_POINTER);
    ck_assert_int_eq(xgemm_set_reproducible(handle, XGEMM_REPRODUCIBLE_ELEMENT), XGEMM_OK);
    ck_assert_int_eq(xgemm_set_kernel(handle, "reference"), XGEMM_OK);
    assert_refused(handle,
                   xgemm_sgemm(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 1, 1, 1,
                               1.0f, &one, 1, &one, 1, 0.0f, &c, 1),
                   XGEMM_ERROR_NOT_SUPPORTED, "xgemm_sgemm", "kernel reference does not");
    xgemm_destroy(handle);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reproducible");
    TCase *parts = new_case(suite, "parts", 60), *cpu = new_case(suite, "cpu", 60);
    tcase_add_loop_test(parts, parts_have_the_bits_of_the_whole, 0, COUNT(types));
    if (test_device() != XGEMM_DEVICE_CPU)
        tcase_add_loop_test(parts, parts_by_mma, 0, 2);
    tcase_add_loop_test(cpu, the_cpu_has_the_same_bits, 0, 4);
    tcase_add_test(add_case(suite, "refused"), what_is_refused);
    return run_suite(suite);
}
