/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Repeated calls, math modes and workspaces, for every kernel of the device under
 * test.
 */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

START_TEST(same_bits_every_time)
{
    xgemm_handle *one = open_with_kernel(_i), *other = open_with_kernel(_i);
    const shape s = {XGEMM_COL_MAJOR, XGEMM_TRANS,  XGEMM_NO_TRANS, 141, 77, 203,
                     .alpha = 0.7f,   .beta = 0.7f, .gap_c = 2};
    product *first = product_new(one, &s), *again = product_new(other, &s);
    generator from = {5}, same = {5};
    product_fill(first, random_real, &from);
    product_fill(again, random_real, &same);
    product_check(first, BOUND);
    for (int i = 0; i < 3; i++) {
        ck_assert_msg(product_run(again), "%s", again->why);
        ck_assert_mem_eq(first->c.after, again->c.after, first->c.floats * sizeof(float));
    }
    product_free(first);
    product_free(again);
    xgemm_destroy(one);
    xgemm_destroy(other);
}
END_TEST

/* 8 bits of mantissa are exact even when rounded to TF32. */
START_TEST(every_math_mode)
{
    static const xgemm_math modes[] = {XGEMM_MATH_STRICT, XGEMM_MATH_TF32, XGEMM_MATH_DEFAULT};
    xgemm_handle *handle = open_with_kernel(_i);
    for (int i = 0; i < COUNT(modes) * LAYOUTS; i++) {
        shape s = {.m = 67, .n = 130, .k = 33, .alpha = 1.0f, .beta = 1.0f};
        set_layout(&s, i % LAYOUTS);
        ck_assert_int_eq(xgemm_set_math(handle, modes[i / LAYOUTS]), XGEMM_OK);
        if (_i < test_kernels() - 1 && modes[i / LAYOUTS] == XGEMM_MATH_STRICT &&
            test_kernel_info(_i).math != XGEMM_MATH_STRICT)
            ck_assert_int_eq(xgemm_set_kernel(handle, test_kernel(_i)), XGEMM_ERROR_NOT_SUPPORTED);
        else
            check_shape(handle, &s, random_dyadic, EXACT, (uint64_t)i);
    }
    xgemm_destroy(handle);
}
END_TEST

START_TEST(last_kernel_is_told)
{
    const char *name = test_kernel(_i);
    const shape s = {XGEMM_COL_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 5, 6, 7, .alpha = 1.0f};
    const shape nothing[] = {
        {XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 5, 6, 0, .alpha = 1.0f},
        {XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 5, 6, 7, .alpha = 0.0f},
        {XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 0, 6, 7, .alpha = 1.0f},
        {XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 5, 0, 7, .alpha = 1.0f}};
    xgemm_handle *handle = open_with_kernel(_i);
    ck_assert_ptr_null(xgemm_last_kernel(handle));
    for (int i = 0; i < COUNT(nothing); i++) {
        check_shape(handle, &s, random_dyadic, EXACT, 1);
        ck_assert_ptr_nonnull(xgemm_last_kernel(handle));
        if (strcmp(name, "auto") != 0)
            ck_assert_str_eq(xgemm_last_kernel(handle), name);
        check_shape(handle, &nothing[i], random_dyadic, EXACT, 1);
        ck_assert_ptr_null(xgemm_last_kernel(handle));
    }
    xgemm_destroy(handle);
}
END_TEST

/* ---- Workspaces ---- */

enum { BEYOND = 1024 };

/* The bytes that a kernel says it needs when it is given too few; 0 when it needs none. */
static size_t bytes_needed(xgemm_handle *handle, product *p, void *some)
{
    size_t bytes = 0;
    ck_assert_int_eq(xgemm_set_workspace(handle, some, 256), XGEMM_OK);
    if (product_run(p))
        return 0;
    const char *sentence = strstr(xgemm_last_error(handle), "workspace of ");
    ck_assert_msg(sentence && sscanf(sentence, "workspace of %zu bytes", &bytes) == 1, "%s",
                  xgemm_last_error(handle));
    ck_assert_uint_gt(bytes, 256);
    return bytes;
}

static xgemm_status status_of(const product *p)
{
    const shape *s = &p->shape;
    return xgemm_sgemm(p->handle, s->order, s->transa, s->transb, s->m, s->n, s->k, s->alpha,
                       p->a.memory + p->a.first, p->a.ld, p->b.memory + p->b.first, p->b.ld,
                       s->beta, p->c.memory + p->c.first, p->c.ld);
}

/* Exactly so many bytes do, and none beyond them is touched. */
static void check_workspace(xgemm_handle *handle, product *p, size_t bytes)
{
    unsigned char *pattern = malloc(bytes + BEYOND), *after = malloc(bytes + BEYOND);
    void *memory;
    ck_assert(pattern && after);
    memset(pattern, 0x5a, bytes + BEYOND);
    ck_assert_int_eq(xgemm_malloc(handle, bytes + BEYOND, &memory), XGEMM_OK);
    ck_assert_int_eq(xgemm_upload(handle, memory, pattern, bytes + BEYOND), XGEMM_OK);

    ck_assert_int_eq(xgemm_set_workspace(handle, memory, bytes - 1), XGEMM_OK);
    ck_assert_int_eq(status_of(p), XGEMM_ERROR_WORKSPACE);
    ck_assert_int_eq(xgemm_set_workspace(handle, memory, bytes), XGEMM_OK);
    product_check(p, EXACT);
    ck_assert_int_eq(xgemm_download(handle, after, memory, bytes + BEYOND), XGEMM_OK);
    ck_assert_mem_eq(after + bytes, pattern + bytes, BEYOND);
    ck_assert_int_eq(xgemm_set_workspace(handle, NULL, 0), XGEMM_OK);
    xgemm_free(handle, memory);
    free(pattern);
    free(after);
}

START_TEST(workspaces_given)
{
    xgemm_handle *handle = open_with_kernel(_i);
    void *some;
    generator from = {1};
    ck_assert_int_eq(xgemm_malloc(handle, 512, &some), XGEMM_OK);
    for (int layout = 0; layout < LAYOUTS; layout++) {
        shape s = {.m = 33, .n = 65, .k = 31, .alpha = 1.0f, .beta = 1.0f};
        set_layout(&s, layout);
        product *p = product_new(handle, &s);
        product_fill(p, random_dyadic, &from);
        const size_t bytes = bytes_needed(handle, p, some);
        if (bytes)
            check_workspace(handle, p, bytes);
        /* padded is there to need one; a choice of the library makes do with any. */
        if (strcmp(test_kernel(_i), "padded") == 0)
            ck_assert_uint_gt(bytes, 0);
        if (strcmp(test_kernel(_i), "auto") == 0)
            ck_assert_uint_eq(bytes, 0);
        ck_assert_int_eq(xgemm_set_workspace(handle, NULL, 0), XGEMM_OK);
        product_check(p, EXACT);
        product_free(p);
    }
    xgemm_free(handle, some);
    xgemm_destroy(handle);
}
END_TEST

/* The library's own grows and shrinks with the sizes, and is used again. */
START_TEST(workspace_of_the_library)
{
    static const int64_t sizes[] = {5, 70, 33, 129, 1, 128};
    xgemm_handle *handle = open_with_kernel(_i);
    for (int i = 0; i < 2 * COUNT(sizes); i++) {
        const int64_t m = sizes[i % COUNT(sizes)], n = sizes[(i + 1) % COUNT(sizes)];
        const shape s = {XGEMM_ROW_MAJOR, XGEMM_TRANS, XGEMM_NO_TRANS, m, n, 40, .alpha = 1.0f};
        check_shape(handle, &s, random_dyadic, EXACT, (uint64_t)i);
    }
    xgemm_destroy(handle);
}
END_TEST

START_TEST(bad_workspaces_are_refused)
{
    xgemm_handle *handle = open_handle(test_device());
    void *memory;
    ck_assert_int_eq(xgemm_malloc(handle, 4096, &memory), XGEMM_OK);
    for (int shift = 1; shift < 256; shift++) {
        ck_assert_int_eq(xgemm_set_workspace(handle, (char *)memory + shift, 1024),
                         XGEMM_ERROR_INVALID_VALUE);
        ck_assert_ptr_nonnull(strstr(xgemm_last_error(handle), "256"));
    }
    ck_assert_int_eq(xgemm_set_workspace(handle, NULL, 1), XGEMM_ERROR_INVALID_VALUE);
    ck_assert_ptr_nonnull(strstr(xgemm_last_error(handle), "NULL"));
    ck_assert_int_eq(xgemm_set_workspace(handle, (char *)memory + 256, 1024), XGEMM_OK);
    ck_assert_int_eq(xgemm_set_workspace(handle, NULL, 0), XGEMM_OK);
    xgemm_free(handle, memory);
    xgemm_destroy(handle);
}
END_TEST

static Suite *settings(void)
{
    const int kernels = test_kernels();
    Suite *suite = suite_create("settings");
    TCase *calls = add_case(suite, "calls");
    tcase_add_loop_test(calls, same_bits_every_time, 0, kernels);
    tcase_add_loop_test(calls, every_math_mode, 0, kernels);
    tcase_add_loop_test(calls, last_kernel_is_told, 0, kernels);

    TCase *workspaces = add_case(suite, "workspaces");
    tcase_add_loop_test(workspaces, workspaces_given, 0, kernels);
    tcase_add_loop_test(workspaces, workspace_of_the_library, 0, kernels);
    tcase_add_test(workspaces, bad_workspaces_are_refused);
    return suite;
}

int main(void)
{
    return run_suite(settings());
}
