/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the functions refuse, with which status and sentence, and that a
 * refused product leaves C as it was. Whatever changes the environment does so
 * in the child in which Check runs the test.
 */
#include "support.h"

#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HUGE_SIZE ((int64_t)1 << 62)

static void assert_says(const char *sentence, const char *part)
{
    ck_assert_msg(strstr(sentence, part) != NULL, "\"%s\" lacks \"%s\"", sentence, part);
}

/* A failure of a handle's function: the status, and the sentence with the function's name. */
static void assert_refused(const xgemm_handle *handle, xgemm_status status, xgemm_status wanted,
                           const char *function, const char *part)
{
    ck_assert_msg(status == wanted, "%s gives %s, not %s; wanted: %s", function,
                  xgemm_status_name(status), xgemm_status_name(wanted), part);
    const char *sentence = xgemm_last_error(handle);
    ck_assert_msg(strncmp(sentence, function, strlen(function)) == 0,
                  "\"%s\" does not begin with %s", sentence, function);
    assert_says(sentence, part);
}

/* ---- Products that are refused ---- */

enum { A_NULL = 1, B_NULL = 2, C_NULL = 4, A_ODD = 8, B_ODD = 16, C_ODD = 32 };

typedef struct {
    xgemm_order order;
    xgemm_transpose transa, transb;
    int64_t m, n, k, lda, ldb, ldc;
    float alpha, beta;
    unsigned pointers;
} call;

/* Memory in which any call with sizes up to SIDE works, in any layout. */
enum { SIDE = 16, FLOATS = SIDE * SIDE };

typedef struct {
    xgemm_handle *handle;
    float *a, *b, *c;
} memory;

static float *new_floats(xgemm_handle *handle, const float *contents)
{
    void *result;
    ck_assert_int_eq(xgemm_malloc(handle, FLOATS * sizeof(float), &result), XGEMM_OK);
    ck_assert_int_eq(xgemm_upload(handle, result, contents, FLOATS * sizeof(float)), XGEMM_OK);
    return result;
}

static void fill_contents(float contents[FLOATS])
{
    generator from = {1};
    for (int i = 0; i < FLOATS; i++)
        contents[i] = random_dyadic(&from);
}

static memory memory_new(int device)
{
    float contents[FLOATS];
    fill_contents(contents);
    memory m = {.handle = open_handle(device)};
    m.a = new_floats(m.handle, contents);
    m.b = new_floats(m.handle, contents);
    m.c = new_floats(m.handle, contents);
    return m;
}

static void memory_free(memory *m)
{
    xgemm_free(m->handle, m->a);
    xgemm_free(m->handle, m->b);
    xgemm_free(m->handle, m->c);
    xgemm_destroy(m->handle);
}

static bool c_is_unchanged(const memory *m)
{
    float contents[FLOATS], now[FLOATS];
    fill_contents(contents);
    ck_assert_int_eq(xgemm_download(m->handle, now, m->c, sizeof now), XGEMM_OK);
    return memcmp(contents, now, sizeof now) == 0;
}

static float *pointer_of(float *data, bool null, bool odd)
{
    return null ? NULL : (float *)(void *)((char *)data + (odd ? 2 : 0));
}

static xgemm_status perform(const memory *m, const call *c)
{
    const unsigned p = c->pointers;
    return xgemm_sgemm(m->handle, c->order, c->transa, c->transb, c->m, c->n, c->k, c->alpha,
                       pointer_of(m->a, p & A_NULL, p & A_ODD), c->lda,
                       pointer_of(m->b, p & B_NULL, p & B_ODD), c->ldb, c->beta,
                       pointer_of(m->c, p & C_NULL, p & C_ODD), c->ldc);
}

static void assert_call_refused(const memory *m, const call *c, xgemm_status wanted,
                                const char *part)
{
    assert_refused(m->handle, perform(m, c), wanted, "xgemm_sgemm: ", part);
    ck_assert_msg(c_is_unchanged(m), "C has changed, though: %s", xgemm_last_error(m->handle));
}

static void assert_call_works(const memory *m, const call *c)
{
    ck_assert_msg(perform(m, c) == XGEMM_OK, "%s", xgemm_last_error(m->handle));
    ck_assert_int_eq(xgemm_synchronize(m->handle), XGEMM_OK);
}

/* m, n, k = 3, 4, 5 and leading dimensions of SIDE. */
static call good_call(int layout)
{
    shape s;
    set_layout(&s, layout);
    const call c = {s.order, s.transa, s.transb, 3, 4, 5, SIDE, SIDE, SIDE, 1.0f, 0.5f, 0};
    return c;
}

START_TEST(negative_sizes)
{
    memory m = memory_new(test_device());
    static const int64_t values[] = {-1, -2, INT32_MIN, INT64_MIN};
    for (int i = 0; i < 3 * COUNT(values) * LAYOUTS; i++) {
        call c = good_call(i % LAYOUTS);
        const int64_t value = values[i / LAYOUTS % COUNT(values)];
        const int which = i / LAYOUTS / COUNT(values);
        char part[64];
        *(which == 0 ? &c.m : which == 1 ? &c.n : &c.k) = value;
        snprintf(part, sizeof part, "%c is %" PRId64 "; a size must be at least 0", "mnk"[which],
                 value);
        assert_call_refused(&m, &c, XGEMM_ERROR_INVALID_VALUE, part);
    }
    memory_free(&m);
}
END_TEST

/* Negative sizes are refused where another size is 0, too. */
START_TEST(negative_and_zero_sizes)
{
    memory m = memory_new(test_device());
    call c = good_call(0);
    c.m = 0, c.n = -1;
    assert_call_refused(&m, &c, XGEMM_ERROR_INVALID_VALUE, "n is -1");
    c.n = 4, c.k = -1;
    assert_call_refused(&m, &c, XGEMM_ERROR_INVALID_VALUE, "k is -1");
    memory_free(&m);
}
END_TEST

START_TEST(unknown_orders)
{
    memory m = memory_new(test_device());
    static const int values[] = {0, 1, 100, 103, 111, -1, INT_MAX};
    for (int i = 0; i < COUNT(values); i++) {
        call c = good_call(0);
        char part[32];
        snprintf(part, sizeof part, "order is %d;", values[i]);
        c.order = (xgemm_order)values[i];
        assert_call_refused(&m, &c, XGEMM_ERROR_INVALID_VALUE, part);
        c.m = 0;
        assert_call_refused(&m, &c, XGEMM_ERROR_INVALID_VALUE, part);
    }
    memory_free(&m);
}
END_TEST

START_TEST(unknown_transposes)
{
    memory m = memory_new(test_device());
    static const int values[] = {0, 'N', 110, 114, 101, -1, INT_MAX};
    for (int i = 0; i < 2 * COUNT(values); i++) {
        call c = good_call(0);
        char part[32];
        const int value = values[i / 2];
        snprintf(part, sizeof part, "trans%c is %d;", "ab"[i % 2], value);
        *(i % 2 ? &c.transb : &c.transa) = (xgemm_transpose)value;
        assert_call_refused(&m, &c, XGEMM_ERROR_INVALID_VALUE, part);
        c.n = 0;
        assert_call_refused(&m, &c, XGEMM_ERROR_INVALID_VALUE, part);
    }
    memory_free(&m);
}
END_TEST

/* ---- Leading dimensions ---- */

/* The contiguous side of a matrix of the call: its name in the sentence, and its size. */
static char contiguous_side(const call *c, int which)
{
    static const char sides[3][2] = {{'m', 'k'}, {'k', 'n'}, {'m', 'n'}};
    const xgemm_transpose trans = which == 0 ? c->transa : which == 1 ? c->transb : XGEMM_NO_TRANS;
    return sides[which][(c->order == XGEMM_ROW_MAJOR) == (trans == XGEMM_NO_TRANS)];
}

static int64_t size_of_side(const call *c, char side)
{
    return side == 'm' ? c->m : side == 'n' ? c->n : c->k;
}

static int64_t *ld_of(call *c, int which)
{
    return which == 0 ? &c->lda : which == 1 ? &c->ldb : &c->ldc;
}

/* The whole sentence, since this is the error that is made most. */
static void expect_sentence(char *text, size_t size, call *c, int which)
{
    const char side = contiguous_side(c, which);
    const int64_t least = size_of_side(c, side), ld = *ld_of(c, which);
    const xgemm_transpose trans = which == 0 ? c->transa : c->transb;
    char with[32] = "";
    if (which < 2)
        snprintf(with, sizeof with, "with trans%c = %c ", "ab"[which],
                 trans == XGEMM_NO_TRANS ? 'N'
                 : trans == XGEMM_TRANS  ? 'T'
                                         : 'C');
    if (least < 1)
        snprintf(text, size, "ld%c is %" PRId64 "; a leading dimension must be at least 1",
                 "abc"[which], ld);
    else
        snprintf(text, size, "ld%c is %" PRId64 "; %sin %s order it must be at least %c = %" PRId64,
                 "abc"[which], ld, with, c -> order == XGEMM_ROW_MAJOR ? "row" : "column", side,
                 least);
}

static void check_ld(const memory *m, const call *good, int which)
{
    call c = *good;
    const int64_t size = size_of_side(&c, contiguous_side(&c, which));
    const int64_t least = size > 1 ? size : 1;
    const int64_t small[] = {least - 1, 0, -1, -least, INT64_MIN};
    char part[128];
    for (int i = 0; i < COUNT(small); i++) {
        *ld_of(&c, which) = small[i];
        expect_sentence(part, sizeof part, &c, which);
        assert_call_refused(m, &c, XGEMM_ERROR_INVALID_VALUE, part);
    }
}

static void set_least_lds(call *c)
{
    for (int which = 0; which < 3; which++) {
        const int64_t size = size_of_side(c, contiguous_side(c, which));
        *ld_of(c, which) = size > 1 ? size : 1;
    }
}

/* In each layout, with each size 0 or not, alpha too. */
START_TEST(leading_dimensions_too_small)
{
    memory m = memory_new(test_device());
    for (int i = 0; i < 16 * LAYOUTS; i++) {
        const int zero = i / LAYOUTS;
        call c = good_call(i % LAYOUTS);
        c.m = zero & 1 ? 0 : c.m;
        c.n = zero & 2 ? 0 : c.n;
        c.k = zero & 4 ? 0 : c.k;
        c.alpha = zero & 8 ? 0.0f : c.alpha;
        if (i % 3 == 0 && c.transa == XGEMM_TRANS)
            c.transa = XGEMM_CONJ_TRANS;
        if (i % 3 == 1 && c.transb == XGEMM_TRANS)
            c.transb = XGEMM_CONJ_TRANS;
        for (int which = 0; which < 3; which++)
            check_ld(&m, &c, which);
    }
    memory_free(&m);
}
END_TEST

START_TEST(least_leading_dimensions)
{
    for (int i = 0; i < 8 * LAYOUTS; i++) {
        memory m = memory_new(test_device());
        const int zero = i / LAYOUTS;
        call c = good_call(i % LAYOUTS);
        c.m = zero & 1 ? 0 : c.m;
        c.n = zero & 2 ? 0 : c.n;
        c.k = zero & 4 ? 0 : c.k;
        set_least_lds(&c);
        assert_call_works(&m, &c);
        ck_assert_int_eq(c_is_unchanged(&m), c.m == 0 || c.n == 0);
        memory_free(&m);
    }
}
END_TEST

/* ---- Pointers ---- */

START_TEST(null_where_memory_is_read)
{
    memory m = memory_new(test_device());
    for (int i = 0; i < 3 * LAYOUTS; i++) {
        call c = good_call(i % LAYOUTS);
        char part[32];
        c.pointers = 1u << i / LAYOUTS;
        snprintf(part, sizeof part, "%c is NULL", "abc"[i / LAYOUTS]);
        assert_call_refused(&m, &c, XGEMM_ERROR_NULL_POINTER, part);
        c.beta = 0.0f;
        assert_call_refused(&m, &c, XGEMM_ERROR_NULL_POINTER, part);
    }
    call c = good_call(0);
    c.pointers = A_NULL | B_NULL | C_NULL;
    assert_call_refused(&m, &c, XGEMM_ERROR_NULL_POINTER, "is NULL");
    c.pointers = C_NULL;
    c.k = 0;
    assert_call_refused(&m, &c, XGEMM_ERROR_NULL_POINTER, "c is NULL");
    c.k = 5, c.alpha = 0.0f;
    assert_call_refused(&m, &c, XGEMM_ERROR_NULL_POINTER, "c is NULL");
    memory_free(&m);
}
END_TEST

START_TEST(null_where_nothing_is_read)
{
    memory m = memory_new(test_device());
    for (int i = 0; i < 2 * 2 * LAYOUTS; i++) {
        call c = good_call(i % LAYOUTS);
        c.pointers = A_NULL | B_NULL;
        c.beta = i / LAYOUTS % 2 ? 0.0f : 0.5f;
        if (i / LAYOUTS / 2)
            c.k = 0;
        else
            c.alpha = 0.0f;
        assert_call_works(&m, &c);
    }
    for (int i = 0; i < 2 * LAYOUTS; i++) {
        call c = good_call(i % LAYOUTS);
        c.pointers = A_NULL | B_NULL | C_NULL;
        *(i / LAYOUTS ? &c.m : &c.n) = 0;
        assert_call_works(&m, &c);
    }
    for (int i = 0; i < 2 * LAYOUTS; i++) { /* beta = 1 leaves C as it is */
        call c = good_call(i % LAYOUTS);
        c.pointers = A_NULL | B_NULL | C_NULL;
        c.beta = 1.0f;
        if (i / LAYOUTS)
            c.k = 0;
        else
            c.alpha = 0.0f;
        assert_call_works(&m, &c);
    }
    memory_free(&m);
}
END_TEST

START_TEST(addresses_of_no_float)
{
    memory m = memory_new(test_device());
    for (int i = 0; i < 3; i++) {
        call c = good_call(0);
        char part[16];
        c.pointers = (unsigned)A_ODD << i;
        snprintf(part, sizeof part, "%c is 0x", "abc"[i]);
        assert_call_refused(&m, &c, XGEMM_ERROR_INVALID_VALUE, part);
        assert_says(xgemm_last_error(m.handle), "aligned");
    }
    memory_free(&m);
}
END_TEST

/* ---- Sizes that do not fit ---- */

/* Nothing is read here, but the pointers are checked last: NULL says that the sizes passed. */
START_TEST(sizes_that_overflow)
{
    static const struct {
        int64_t m, n, k, lda, ldb, ldc;
        const char *part; /* NULL: it does fit */
    } rows[] = {
        {(int64_t)1 << 30, 1, (int64_t)1 << 31, (int64_t)1 << 31, 1, 1, "a has"},
        {(int64_t)1 << 30, 1, ((int64_t)1 << 31) - 1, ((int64_t)1 << 31) - 1, 1, 1, NULL},
        {1, (int64_t)1 << 31, (int64_t)1 << 30, (int64_t)1 << 30, (int64_t)1 << 31,
         (int64_t)1 << 31, "b has"},
        {(int64_t)1 << 31, (int64_t)1 << 30, 1, 1, (int64_t)1 << 30, (int64_t)1 << 30, "c has"},
        {(int64_t)1 << 31, (int64_t)1 << 30, 0, 1, (int64_t)1 << 30, (int64_t)1 << 30, "c has"},
        {HUGE_SIZE, 1, 1, 1, 1, 1, "a has"},
        {HUGE_SIZE, 1, 0, 1, 1, 4, "c has"}, /* 2^64 elements wrap around to 0 */
        {3, 1, 1, HUGE_SIZE, 1, 1, "a has"},
        {2, 1, 1, INT64_MAX, 1, 1, "a has"},
        {2, 1, 1, 1, 1, INT64_MAX, "c has"},
        {1, 1, 2, 2, INT64_MAX, 1, "b has"},
        {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, "a has"},
        {1, INT64_MAX, 1, 1, INT64_MAX, INT64_MAX, "b has"},
        {1, 1, INT64_MAX, INT64_MAX, 1, 1, "a has"},
        {1, 1, 1, INT64_MAX, INT64_MAX, INT64_MAX, NULL}, /* one line: no step is taken */
        {1, 1, (int64_t)1 << 60, (int64_t)1 << 60, 1, 1, NULL},
    };
    memory m = memory_new(test_device());
    for (int i = 0; i < COUNT(rows); i++) {
        call c = {XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, rows[i].m,
                  rows[i].n,       rows[i].k,      rows[i].lda,    rows[i].ldb,
                  rows[i].ldc,     1.0f,           1.0f,           A_NULL | B_NULL | C_NULL};
        if (rows[i].part)
            assert_call_refused(&m, &c, XGEMM_ERROR_OVERFLOW, rows[i].part);
        else
            assert_call_refused(&m, &c, XGEMM_ERROR_NULL_POINTER, "is NULL");
    }
    memory_free(&m);
}
END_TEST

/* The same in column order and with transposes, where other sides are the lines. */
START_TEST(sizes_that_overflow_turned)
{
    memory m = memory_new(test_device());
    for (int layout = 0; layout < LAYOUTS; layout++) {
        call c = good_call(layout);
        const int64_t line = (int64_t)1 << 30, lines = (int64_t)1 << 31;
        const bool m_is_lines = contiguous_side(&c, 0) == 'k';
        c.m = m_is_lines ? lines : line;
        c.k = m_is_lines ? line : lines;
        c.n = 1;
        c.lda = line, c.ldb = lines, c.ldc = lines;
        assert_call_refused(&m, &c, XGEMM_ERROR_OVERFLOW, "a has 2147483648 lines");
        c.m = 0;
        if (m_is_lines) /* nothing lies there */
            assert_call_works(&m, &c);
    }
    memory_free(&m);
}
END_TEST

/* Rows and columns whose tiles are more than a grid holds; the call must not begin. */
START_TEST(more_blocks_than_a_grid_holds)
{
    if (test_device() == XGEMM_DEVICE_CPU)
        return;
    memory m = memory_new(test_device());
    call c = good_call(0);
    c.m = c.k = 1;
    c.n = c.ldb = c.ldc = (int64_t)1 << 40;
    ck_assert_int_eq(xgemm_set_kernel(m.handle, "tiled16"), XGEMM_OK);
    assert_call_refused(&m, &c, XGEMM_ERROR_NOT_SUPPORTED, "more than a grid holds");
    memory_free(&m);
}
END_TEST

/* ---- Kernels ---- */

/* The sentence about an unknown kernel lists all that the device runs. */
static void assert_lists_kernels(const char *sentence, int device)
{
    int indices[64];
    const int count = kernels_of(device, indices, COUNT(indices));
    for (int i = 0; i < count; i++) {
        xgemm_kernel_info info = {.struct_size = sizeof info};
        ck_assert_int_eq(xgemm_kernel_get(indices[i], &info), XGEMM_OK);
        assert_says(sentence, info.name);
    }
    assert_says(sentence, "auto");
}

START_TEST(unknown_kernels)
{
    static const char *const names[] = {"", "nonsense", "NAIVE", "naive ", "Auto", "%s%n", "ref"};
    memory m = memory_new(test_device());
    ck_assert_int_eq(xgemm_set_kernel(m.handle, test_kernel(0)), XGEMM_OK);
    for (int i = 0; i < COUNT(names); i++) {
        char part[32];
        snprintf(part, sizeof part, "\"%s\"", names[i]);
        assert_refused(m.handle, xgemm_set_kernel(m.handle, names[i]), XGEMM_ERROR_UNKNOWN_KERNEL,
                       "xgemm_set_kernel: ", part);
        assert_lists_kernels(xgemm_last_error(m.handle), test_device());
    }
    const call c = good_call(0);
    assert_call_works(&m, &c);
    ck_assert_str_eq(xgemm_last_kernel(m.handle), test_kernel(0)); /* the setting is as before */
    memory_free(&m);
}
END_TEST

START_TEST(long_kernel_name)
{
    xgemm_handle *handle = open_handle(test_device());
    char name[5000];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    assert_refused(handle, xgemm_set_kernel(handle, name), XGEMM_ERROR_UNKNOWN_KERNEL,
                   "xgemm_set_kernel: ", "xxxx");
    assert_lists_kernels(xgemm_last_error(handle), test_device());
    xgemm_destroy(handle);
}
END_TEST

/* A kernel that the device under test does not run. */
static const char *foreign_kernel(void)
{
    return test_device() == XGEMM_DEVICE_CPU ? "naive" : "reference";
}

START_TEST(kernels_of_other_devices)
{
    memory m = memory_new(test_device());
    ck_assert_int_eq(xgemm_set_kernel(m.handle, test_kernel(0)), XGEMM_OK);
    assert_refused(m.handle, xgemm_set_kernel(m.handle, foreign_kernel()),
                   XGEMM_ERROR_NOT_SUPPORTED, "xgemm_set_kernel: ", foreign_kernel());
    const call c = good_call(0);
    assert_call_works(&m, &c);
    ck_assert_str_eq(xgemm_last_kernel(m.handle), test_kernel(0));
    memory_free(&m);
}
END_TEST

START_TEST(automatic_kernel)
{
    memory m = memory_new(test_device());
    const call c = good_call(0);
    ck_assert_int_eq(xgemm_set_kernel(m.handle, "auto"), XGEMM_OK);
    assert_call_works(&m, &c);
    ck_assert_int_eq(xgemm_set_kernel(m.handle, NULL), XGEMM_OK);
    assert_call_works(&m, &c);
    ck_assert_ptr_nonnull(xgemm_last_kernel(m.handle));
    memory_free(&m);
}
END_TEST

START_TEST(table_of_kernels)
{
    const int count = xgemm_kernel_count();
    xgemm_kernel_info info = {.struct_size = sizeof info}, other = info;
    ck_assert_int_gt(count, 0);
    for (int i = 0; i < count; i++) {
        ck_assert_int_eq(xgemm_kernel_get(i, &info), XGEMM_OK);
        ck_assert_uint_eq(info.struct_size, sizeof info);
        ck_assert(*info.name && *info.summary);
        for (int j = 0; j < i; j++) {
            ck_assert_int_eq(xgemm_kernel_get(j, &other), XGEMM_OK);
            ck_assert_str_ne(info.name, other.name);
        }
        if (info.devices & (XGEMM_RUNS_ON_SIM | XGEMM_RUNS_ON_CUDA))
            ck_assert(info.tile_m > 0 && info.tile_n > 0 && info.tile_k > 0 && info.threads > 0 &&
                      info.threads <= 1024 && info.flop_per_byte > 0.0);
    }
    const int outside[] = {-1, count, INT_MAX, INT_MIN};
    for (int i = 0; i < COUNT(outside); i++)
        assert_refused(NULL, xgemm_kernel_get(outside[i], &info), XGEMM_ERROR_INVALID_VALUE,
                       "xgemm_kernel_get: ", "index is");
    assert_refused(NULL, xgemm_kernel_get(0, NULL), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_kernel_get: ", "info is NULL");
}
END_TEST

START_TEST(resources_of_kernels)
{
    xgemm_handle *handle = open_handle(test_device());
    xgemm_kernel_resources resources = {.struct_size = sizeof resources};
    const char *name = test_kernel(0), *function = "xgemm_kernel_resources_get: ";
    const xgemm_status status = xgemm_kernel_resources_get(handle, name, &resources);
    if (test_device() >= 0) {
        ck_assert_msg(status == XGEMM_OK, "%s", xgemm_last_error(handle));
        ck_assert(resources.registers > 0 && resources.binary_version > 0);
    } else {
        assert_refused(handle, status, XGEMM_ERROR_NOT_SUPPORTED, function, "GPU");
    }
    assert_refused(handle, xgemm_kernel_resources_get(handle, "nonsense", &resources),
                   XGEMM_ERROR_UNKNOWN_KERNEL, function, "nonsense");
    assert_refused(handle, xgemm_kernel_resources_get(handle, foreign_kernel(), &resources),
                   XGEMM_ERROR_NOT_SUPPORTED, function, foreign_kernel());
    assert_refused(handle, xgemm_kernel_resources_get(handle, NULL, &resources),
                   XGEMM_ERROR_NULL_POINTER, function, "name is NULL");
    assert_refused(handle, xgemm_kernel_resources_get(handle, name, NULL), XGEMM_ERROR_NULL_POINTER,
                   function, "resources is NULL");
    resources.struct_size = 0;
    assert_refused(handle, xgemm_kernel_resources_get(handle, name, &resources),
                   XGEMM_ERROR_INVALID_VALUE, function, "struct_size is 0");
    xgemm_destroy(handle);
}
END_TEST

/* ---- The environment ---- */

static void assert_create_refused(int device, xgemm_status wanted, const char *part)
{
    xgemm_handle *handle = (xgemm_handle *)(uintptr_t)8;
    assert_refused(NULL, xgemm_create(&handle, device), wanted, "xgemm_create: ", part);
    ck_assert_ptr_null(handle);
}

START_TEST(nonsense_in_xgemm_device)
{
    static const char *const values[] = {
        "nonsense", "-1",  "-2",   "1x",   "0x0", " 0",          "0 ",
        "+0",       "CPU", "cpu ", "sim0", "1.0", "99999999999", "99999999999999999999999"};
    for (int i = 0; i < COUNT(values); i++) {
        char part[64];
        snprintf(part, sizeof part, "XGEMM_DEVICE=\"%s\"", values[i]);
        ck_assert_int_eq(setenv("XGEMM_DEVICE", values[i], 1), 0);
        assert_create_refused(XGEMM_DEVICE_AUTO, XGEMM_ERROR_ENVIRONMENT, part);
        assert_says(xgemm_last_error(NULL), "cpu, sim");
        xgemm_destroy(open_handle(test_device())); /* a device that is named does not need it */
    }
}
END_TEST

START_TEST(devices_in_the_environment)
{
    static const struct {
        const char *value;
        int device;
    } rows[] = {{"cpu", XGEMM_DEVICE_CPU}, {"sim", XGEMM_DEVICE_SIM}};
    for (int i = 0; i < COUNT(rows); i++) {
        ck_assert_int_eq(setenv("XGEMM_DEVICE", rows[i].value, 1), 0);
        xgemm_handle *handle = open_handle(XGEMM_DEVICE_AUTO);
        ck_assert_int_eq(xgemm_get_device(handle), rows[i].device);
        xgemm_destroy(handle);
    }
    static const char *const automatic[] = {"", "auto"};
    for (int i = 0; i < COUNT(automatic); i++) {
        ck_assert_int_eq(setenv("XGEMM_DEVICE", automatic[i], 1), 0);
        xgemm_handle *handle = open_handle(XGEMM_DEVICE_AUTO);
        ck_assert(xgemm_get_device(handle) == 0 || xgemm_get_device(handle) == XGEMM_DEVICE_CPU);
        xgemm_destroy(handle);
    }
}
END_TEST

static void assert_absent(xgemm_status status)
{
    ck_assert_msg(status == XGEMM_ERROR_NO_DRIVER || status == XGEMM_ERROR_NO_DEVICE ||
                      status == XGEMM_ERROR_DRIVER_TOO_OLD || status == XGEMM_ERROR_NOT_SUPPORTED,
                  "%s", xgemm_status_name(status));
}

START_TEST(absent_gpus)
{
    xgemm_handle *handle = (xgemm_handle *)(uintptr_t)8;
    ck_assert_int_eq(setenv("XGEMM_DEVICE", "1000", 1), 0);
    assert_absent(xgemm_create(&handle, XGEMM_DEVICE_AUTO));
    ck_assert_ptr_null(handle);
    assert_absent(xgemm_create(&handle, 1000));
    assert_says(xgemm_last_error(NULL), "xgemm_create: ");
    if (xgemm_device_count() > 0)
        return;
    assert_absent(xgemm_create(&handle, 0));
    ck_assert_ptr_null(handle);
    ck_assert_uint_gt(strlen(xgemm_last_error(NULL)), strlen("xgemm_create: "));
}
END_TEST

START_TEST(unknown_devices)
{
    static const int devices[] = {-4, -7, -1000, INT_MIN};
    for (int i = 0; i < COUNT(devices); i++) {
        char part[32];
        snprintf(part, sizeof part, "no device %d", devices[i]);
        assert_create_refused(devices[i], XGEMM_ERROR_NO_DEVICE, part);
        assert_says(xgemm_last_error(NULL), "XGEMM_DEVICE_AUTO (-1), _CPU (-2) or _SIM (-3)");
    }
    assert_refused(NULL, xgemm_create(NULL, test_device()), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_create: ", "handle is NULL");
}
END_TEST

START_TEST(nonsense_in_xgemm_kernel)
{
    const char *const values[] = {"nonsense", "Naive", " ", foreign_kernel()};
    for (int i = 0; i < COUNT(values); i++) {
        char part[64];
        snprintf(part, sizeof part, "XGEMM_KERNEL=\"%s\"", values[i]);
        ck_assert_int_eq(setenv("XGEMM_KERNEL", values[i], 1), 0);
        assert_create_refused(test_device(), XGEMM_ERROR_ENVIRONMENT, part);
        assert_lists_kernels(xgemm_last_error(NULL), test_device());
    }
}
END_TEST

START_TEST(kernels_in_the_environment)
{
    const call c = good_call(0);
    for (int i = 0; i < test_kernels() - 1; i++) {
        ck_assert_int_eq(setenv("XGEMM_KERNEL", test_kernel(i), 1), 0);
        memory m = memory_new(test_device());
        assert_call_works(&m, &c);
        ck_assert_str_eq(xgemm_last_kernel(m.handle), test_kernel(i));
        memory_free(&m);
    }
    static const char *const automatic[] = {"", "auto"};
    for (int i = 0; i < COUNT(automatic); i++) {
        ck_assert_int_eq(setenv("XGEMM_KERNEL", automatic[i], 1), 0);
        xgemm_destroy(open_handle(test_device()));
    }
}
END_TEST

START_TEST(long_values_in_the_environment)
{
    char value[5000];
    memset(value, '9', sizeof value);
    value[sizeof value - 1] = '\0';
    ck_assert_int_eq(setenv("XGEMM_DEVICE", value, 1), 0);
    assert_create_refused(XGEMM_DEVICE_AUTO, XGEMM_ERROR_ENVIRONMENT, "999");
    ck_assert_int_eq(unsetenv("XGEMM_DEVICE"), 0);
    ck_assert_int_eq(setenv("XGEMM_KERNEL", value, 1), 0);
    assert_create_refused(test_device(), XGEMM_ERROR_ENVIRONMENT, "999");
    assert_lists_kernels(xgemm_last_error(NULL), test_device());
}
END_TEST

/* ---- Statuses and versions ---- */

START_TEST(statuses_have_names)
{
    static const struct {
        xgemm_status status;
        const char *name, *sentence;
    } rows[] = {
#define ROW(name, value, sentence) {XGEMM_##name, "XGEMM_" #name, sentence},
        XGEMM_STATUS_MAP(ROW)
#undef ROW
    };
    for (int i = 0; i < COUNT(rows); i++) {
        ck_assert_int_eq(rows[i].status, -i);
        ck_assert_str_eq(xgemm_status_name(rows[i].status), rows[i].name);
        ck_assert_str_eq(xgemm_strerror(rows[i].status), rows[i].sentence);
    }
    static const int unknown[] = {1, -COUNT(rows), -1000, INT_MAX, INT_MIN};
    for (int i = 0; i < COUNT(unknown); i++) {
        ck_assert_str_eq(xgemm_status_name((xgemm_status)unknown[i]), "unknown");
        ck_assert_str_eq(xgemm_strerror((xgemm_status)unknown[i]), "unknown status");
    }
}
END_TEST

START_TEST(version_is_that_of_the_headers)
{
    char text[64];
    snprintf(text, sizeof text, "%d.%d.%d", XGEMM_VERSION_MAJOR, XGEMM_VERSION_MINOR,
             XGEMM_VERSION_PATCH);
    ck_assert_str_eq(xgemm_version(), text);
    ck_assert_int_eq(XGEMM_VERSION_NUMBER, XGEMM_VERSION_MAJOR * 1000000 +
                                               XGEMM_VERSION_MINOR * 1000 + XGEMM_VERSION_PATCH);
}
END_TEST

/* ---- Structs that say their size ---- */

enum { SPARE = 64 };

typedef xgemm_status (*getter)(void *);

static xgemm_status get_device(void *result)
{
    return xgemm_device_get(XGEMM_DEVICE_CPU, result);
}

static xgemm_status get_kernel(void *result)
{
    return xgemm_kernel_get(0, result);
}

/* With that struct_size: the call works and writes nothing from there on, and not past size. */
static void check_struct_size(getter get, size_t size, size_t struct_size)
{
    unsigned char *bytes = malloc(size + SPARE);
    ck_assert_ptr_nonnull(bytes);
    memset(bytes, 0xa5, size + SPARE);
    memcpy(bytes, &struct_size, sizeof struct_size);
    ck_assert_msg(get(bytes) == XGEMM_OK, "%s", xgemm_last_error(NULL));
    ck_assert_mem_eq(bytes, &struct_size, sizeof struct_size);
    for (size_t i = struct_size < size ? struct_size : size; i < size + SPARE; i++)
        ck_assert_msg(bytes[i] == 0xa5, "byte %zu of a struct of %zu was written", i, struct_size);
    free(bytes);
}

static void check_sizes(getter get, size_t size, const char *function)
{
    const size_t good[] = {sizeof(size_t), sizeof(size_t) + 1, size / 2,    size - 1,
                           size,           size + 1,           size + SPARE};
    for (int i = 0; i < COUNT(good); i++)
        check_struct_size(get, size, good[i]);
    for (size_t small = 0; small < sizeof(size_t); small++) {
        size_t *whole = calloc(1, size);
        char part[32];
        ck_assert_ptr_nonnull(whole);
        *whole = small;
        snprintf(part, sizeof part, "struct_size is %zu", small);
        assert_refused(NULL, get(whole), XGEMM_ERROR_INVALID_VALUE, function, part);
        free(whole);
    }
}

START_TEST(struct_sizes)
{
    check_sizes(get_device, sizeof(xgemm_device), "xgemm_device_get: ");
    check_sizes(get_kernel, sizeof(xgemm_kernel_info), "xgemm_kernel_get: ");
}
END_TEST

START_TEST(devices_are_described)
{
    static const int devices[] = {XGEMM_DEVICE_CPU, XGEMM_DEVICE_SIM};
    xgemm_device device = {.struct_size = sizeof device};
    for (int i = 0; i < COUNT(devices); i++) {
        ck_assert_int_eq(xgemm_device_get(devices[i], &device), XGEMM_OK);
        ck_assert_int_eq(device.ordinal, devices[i]);
        ck_assert(*device.name && *device.detail);
        ck_assert(device.multiprocessors > 0 && device.memory_bytes > 0);
    }
    const int count = xgemm_device_count();
    ck_assert_int_ge(count, 0);
    for (int i = 0; i < count; i++) {
        ck_assert_int_eq(xgemm_device_get(i, &device), XGEMM_OK);
        ck_assert_int_eq(device.ordinal, i);
        ck_assert(device.compute_capability > 0 && device.peak_fp32_gflops > 0.0);
    }
    assert_absent(xgemm_device_get(count, &device));
    static const int unknown[] = {XGEMM_DEVICE_AUTO, -4, -7, INT_MIN};
    for (int i = 0; i < COUNT(unknown); i++)
        assert_refused(NULL, xgemm_device_get(unknown[i], &device), XGEMM_ERROR_NO_DEVICE,
                       "xgemm_device_get: ", "no device");
    assert_refused(NULL, xgemm_device_get(XGEMM_DEVICE_CPU, NULL), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_device_get: ", "device is NULL");
}
END_TEST

/* ---- Handles ---- */

static void assert_no_handle(xgemm_status status, const char *function)
{
    assert_refused(NULL, status, XGEMM_ERROR_NULL_POINTER, function, ": handle is NULL");
}

START_TEST(null_handles)
{
    float x = 2.0f;
    void *address = NULL;
    uint64_t bytes = 0;
    xgemm_timer *timer = NULL;
    xgemm_kernel_resources resources = {.struct_size = sizeof resources};
    xgemm_destroy(NULL);
    assert_no_handle(xgemm_set_stream(NULL, NULL), "xgemm_set_stream");
    assert_no_handle(xgemm_set_math(NULL, XGEMM_MATH_STRICT), "xgemm_set_math");
    assert_no_handle(xgemm_set_kernel(NULL, "auto"), "xgemm_set_kernel");
    assert_no_handle(xgemm_set_workspace(NULL, NULL, 0), "xgemm_set_workspace");
    assert_no_handle(xgemm_synchronize(NULL), "xgemm_synchronize");
    assert_no_handle(xgemm_make_current(NULL), "xgemm_make_current");
    assert_no_handle(xgemm_kernel_resources_get(NULL, "naive", &resources),
                     "xgemm_kernel_resources_get");
    assert_no_handle(xgemm_malloc(NULL, 16, &address), "xgemm_malloc");
    assert_no_handle(xgemm_free(NULL, NULL), "xgemm_free");
    assert_no_handle(xgemm_upload(NULL, &x, &x, 0), "xgemm_upload");
    assert_no_handle(xgemm_download(NULL, &x, &x, 0), "xgemm_download");
    assert_no_handle(xgemm_memory_info(NULL, &bytes, &bytes), "xgemm_memory_info");
    assert_no_handle(xgemm_timer_create(NULL, &timer), "xgemm_timer_create");
    assert_no_handle(xgemm_sgemm(NULL, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 1, 1, 1,
                                 1.0f, &x, 1, &x, 1, 0.0f, &x, 1),
                     "xgemm_sgemm");
    ck_assert(x == 2.0f);
    ck_assert_int_eq(xgemm_get_device(NULL), XGEMM_DEVICE_AUTO);
    ck_assert_ptr_null(xgemm_last_kernel(NULL));
}
END_TEST

START_TEST(settings_of_a_handle)
{
    xgemm_handle *handle = open_handle(test_device());
    static const int unknown[] = {-1, 3, INT_MAX};
    ck_assert_str_eq(xgemm_last_error(handle), "");
    ck_assert_int_eq(xgemm_get_device(handle), test_device());
    for (int i = 0; i < COUNT(unknown); i++) {
        char part[32];
        snprintf(part, sizeof part, "math is %d;", unknown[i]);
        assert_refused(handle, xgemm_set_math(handle, (xgemm_math)unknown[i]),
                       XGEMM_ERROR_INVALID_VALUE, "xgemm_set_math: ", part);
    }
    ck_assert_int_eq(xgemm_set_stream(handle, NULL), XGEMM_OK);
    if (test_device() < 0)
        assert_refused(handle, xgemm_set_stream(handle, &handle), XGEMM_ERROR_NOT_SUPPORTED,
                       "xgemm_set_stream: ", "no streams");
    ck_assert_int_eq(xgemm_make_current(handle), XGEMM_OK);
    ck_assert_int_eq(xgemm_synchronize(handle), XGEMM_OK);
    xgemm_destroy(handle);
}
END_TEST

/* A handle keeps its sentence to itself. */
START_TEST(sentences_belong_to_handles)
{
    xgemm_handle *one = open_handle(test_device()), *other = open_handle(XGEMM_DEVICE_CPU);
    ck_assert_int_eq(xgemm_set_kernel(one, "first"), XGEMM_ERROR_UNKNOWN_KERNEL);
    ck_assert_str_eq(xgemm_last_error(other), "");
    ck_assert_str_eq(xgemm_last_error(NULL), "");
    ck_assert_int_eq(xgemm_set_kernel(other, "second"), XGEMM_ERROR_UNKNOWN_KERNEL);
    ck_assert_int_eq(xgemm_set_kernel(one, NULL), XGEMM_OK);
    assert_says(xgemm_last_error(one), "\"first\"");
    assert_says(xgemm_last_error(other), "\"second\"");
    xgemm_destroy(one);
    xgemm_destroy(other);
}
END_TEST

/* ---- Memory ---- */

START_TEST(memory_round_trip)
{
    static const size_t sizes[] = {1, 3, 255, 256, 257, 100003};
    xgemm_handle *handle = open_handle(test_device());
    for (int i = 0; i < COUNT(sizes); i++) {
        unsigned char *out = malloc(sizes[i]), *back = calloc(1, sizes[i]);
        void *there;
        generator from = {(uint64_t)i};
        ck_assert(out && back);
        for (size_t j = 0; j < sizes[i]; j++)
            out[j] = (unsigned char)random_bits(&from);
        ck_assert_int_eq(xgemm_malloc(handle, sizes[i], &there), XGEMM_OK);
        ck_assert_uint_eq((uintptr_t)there % 256, 0);
        ck_assert_int_eq(xgemm_upload(handle, there, out, sizes[i]), XGEMM_OK);
        ck_assert_int_eq(xgemm_download(handle, back, there, sizes[i]), XGEMM_OK);
        ck_assert_mem_eq(out, back, sizes[i]);
        ck_assert_int_eq(xgemm_free(handle, there), XGEMM_OK);
        free(out);
        free(back);
    }
    xgemm_destroy(handle);
}
END_TEST

START_TEST(memory_arguments)
{
    xgemm_handle *handle = open_handle(test_device());
    void *there = handle;
    char here = 0;
    uint64_t available = 0, total = 0;
    ck_assert_int_eq(xgemm_malloc(handle, 0, &there), XGEMM_OK);
    ck_assert_ptr_null(there);
    ck_assert_int_eq(xgemm_free(handle, NULL), XGEMM_OK);
    ck_assert_int_eq(xgemm_upload(handle, NULL, NULL, 0), XGEMM_OK);
    ck_assert_int_eq(xgemm_download(handle, NULL, NULL, 0), XGEMM_OK);
    assert_refused(handle, xgemm_malloc(handle, 1, NULL), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_malloc: ", "memory is NULL");
    assert_refused(handle, xgemm_upload(handle, NULL, &here, 1), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_upload: ", "device is NULL");
    assert_refused(handle, xgemm_upload(handle, &here, NULL, 1), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_upload: ", "host is NULL");
    assert_refused(handle, xgemm_download(handle, NULL, &here, 1), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_download: ", "host is NULL");
    assert_refused(handle, xgemm_download(handle, &here, NULL, 1), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_download: ", "device is NULL");
    assert_refused(handle, xgemm_memory_info(handle, NULL, &total), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_memory_info: ", "free_bytes is NULL");
    assert_refused(handle, xgemm_memory_info(handle, &available, NULL), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_memory_info: ", "total_bytes is NULL");
    ck_assert_int_eq(xgemm_memory_info(handle, &available, &total), XGEMM_OK);
    ck_assert(available > 0 && available <= total);
    xgemm_destroy(handle);
}
END_TEST

START_TEST(memory_that_nobody_has)
{
    xgemm_handle *handle = open_handle(test_device());
    void *there = handle;
    const bool gpu = test_device() >= 0;
    assert_refused(handle, xgemm_malloc(handle, gpu ? (size_t)1 << 60 : SIZE_MAX, &there),
                   gpu ? XGEMM_ERROR_OUT_OF_DEVICE_MEMORY : XGEMM_ERROR_OUT_OF_MEMORY,
                   "xgemm_malloc: ", "bytes");
    ck_assert_ptr_null(there);
    xgemm_destroy(handle);
}
END_TEST

/* ---- Timers ---- */

static void assert_not_measured(const xgemm_handle *handle, xgemm_timer *timer)
{
    double microseconds = -1.0;
    assert_refused(handle, xgemm_timer_elapsed(timer, &microseconds), XGEMM_ERROR_INVALID_VALUE,
                   "xgemm_timer_elapsed: ", "not started and stopped");
    ck_assert(microseconds == -1.0);
}

START_TEST(timers)
{
    xgemm_handle *handle = open_handle(test_device());
    xgemm_timer *timer;
    double microseconds = -1.0;
    ck_assert_int_eq(xgemm_timer_create(handle, &timer), XGEMM_OK);
    ck_assert_ptr_nonnull(timer);
    assert_not_measured(handle, timer);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(xgemm_timer_start(timer), XGEMM_OK);
        assert_not_measured(handle, timer);
        const shape s = {XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 40, 40, 40,
                         .alpha = 1.0f};
        check_shape(handle, &s, random_dyadic, EXACT, 1);
        ck_assert_int_eq(xgemm_timer_stop(timer), XGEMM_OK);
        ck_assert_int_eq(xgemm_timer_elapsed(timer, &microseconds), XGEMM_OK);
        ck_assert(microseconds > 0.0 && microseconds < 60e6);
    }
    assert_refused(handle, xgemm_timer_elapsed(timer, NULL), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_timer_elapsed: ", "microseconds is NULL");
    xgemm_timer_destroy(timer);
    xgemm_destroy(handle);
}
END_TEST

START_TEST(timer_stopped_before_it_starts)
{
    xgemm_handle *handle = open_handle(test_device());
    xgemm_timer *timer;
    ck_assert_int_eq(xgemm_timer_create(handle, &timer), XGEMM_OK);
    xgemm_timer_stop(timer);
    assert_not_measured(handle, timer);
    ck_assert_int_eq(xgemm_timer_start(timer), XGEMM_OK);
    assert_not_measured(handle, timer);
    xgemm_timer_destroy(timer);
    xgemm_destroy(handle);
}
END_TEST

START_TEST(null_timers)
{
    xgemm_handle *handle = open_handle(test_device());
    double microseconds;
    xgemm_timer_destroy(NULL);
    assert_refused(handle, xgemm_timer_create(handle, NULL), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_timer_create: ", "timer is NULL");
    assert_refused(NULL, xgemm_timer_start(NULL), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_timer_start: ", "timer is NULL");
    assert_refused(NULL, xgemm_timer_stop(NULL), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_timer_stop: ", "timer is NULL");
    assert_refused(NULL, xgemm_timer_elapsed(NULL, &microseconds), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_timer_elapsed: ", "timer is NULL");
    xgemm_destroy(handle);
}
END_TEST

static TCase *new_case(Suite *suite, const char *name)
{
    TCase *cases = tcase_create(name);
    tcase_set_timeout(cases, 300);
    suite_add_tcase(suite, cases);
    return cases;
}

static void add_products(TCase *cases)
{
    tcase_add_test(cases, negative_sizes);
    tcase_add_test(cases, negative_and_zero_sizes);
    tcase_add_test(cases, unknown_orders);
    tcase_add_test(cases, unknown_transposes);
    tcase_add_test(cases, leading_dimensions_too_small);
    tcase_add_test(cases, least_leading_dimensions);
    tcase_add_test(cases, null_where_memory_is_read);
    tcase_add_test(cases, null_where_nothing_is_read);
    tcase_add_test(cases, addresses_of_no_float);
    tcase_add_test(cases, sizes_that_overflow);
    tcase_add_test(cases, sizes_that_overflow_turned);
    tcase_add_test(cases, more_blocks_than_a_grid_holds);
}

static Suite *arguments(void)
{
    Suite *suite = suite_create("arguments");
    add_products(new_case(suite, "products"));

    TCase *kernels = new_case(suite, "kernels");
    tcase_add_test(kernels, unknown_kernels);
    tcase_add_test(kernels, long_kernel_name);
    tcase_add_test(kernels, kernels_of_other_devices);
    tcase_add_test(kernels, automatic_kernel);
    tcase_add_test(kernels, table_of_kernels);
    tcase_add_test(kernels, resources_of_kernels);

    TCase *environment = new_case(suite, "environment");
    tcase_add_test(environment, nonsense_in_xgemm_device);
    tcase_add_test(environment, devices_in_the_environment);
    tcase_add_test(environment, absent_gpus);
    tcase_add_test(environment, unknown_devices);
    tcase_add_test(environment, nonsense_in_xgemm_kernel);
    tcase_add_test(environment, kernels_in_the_environment);
    tcase_add_test(environment, long_values_in_the_environment);

    TCase *rest = new_case(suite, "everything else");
    tcase_add_test(rest, statuses_have_names);
    tcase_add_test(rest, version_is_that_of_the_headers);
    tcase_add_test(rest, struct_sizes);
    tcase_add_test(rest, devices_are_described);
    tcase_add_test(rest, null_handles);
    tcase_add_test(rest, settings_of_a_handle);
    tcase_add_test(rest, sentences_belong_to_handles);
    tcase_add_test(rest, memory_round_trip);
    tcase_add_test(rest, memory_arguments);
    tcase_add_test(rest, memory_that_nobody_has);
    tcase_add_test(rest, timers);
    tcase_add_test(rest, timer_stopped_before_it_starts);
    tcase_add_test(rest, null_timers);
    return suite;
}

int main(void)
{
    return run_suite(arguments());
}
