/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products that are refused, with which status and sentence, and that these
 * leave C as it was.
 */
#include "calls.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#define HUGE_SIZE ((int64_t)1 << 62)

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

/* The same in column order and with transposes, where the leading dimension is of another side. */
START_TEST(sizes_that_overflow_transposed)
{
    memory m = memory_new(test_device());
    for (int layout = 0; layout < LAYOUTS; layout++) {
        call c = good_call(layout);
        const int64_t inner = (int64_t)1 << 30, outer = (int64_t)1 << 31;
        const bool m_is_outer = contiguous_side(&c, 0) == 'k';
        c.m = m_is_outer ? outer : inner;
        c.k = m_is_outer ? inner : outer;
        c.n = 1;
        c.lda = inner, c.ldb = outer, c.ldc = outer;
        assert_call_refused(&m, &c, XGEMM_ERROR_OVERFLOW,
                            c.order == XGEMM_ROW_MAJOR ? "a has 2147483648 rows"
                                                       : "a has 2147483648 columns");
        c.m = 0;
        if (m_is_outer) /* nothing lies there */
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

static Suite *arguments(void)
{
    Suite *suite = suite_create("arguments");
    TCase *cases = add_case(suite, "products");
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
    tcase_add_test(cases, sizes_that_overflow_transposed);
    tcase_add_test(cases, more_blocks_than_a_grid_holds);
    return suite;
}

int main(void)
{
    return run_suite(arguments());
}
