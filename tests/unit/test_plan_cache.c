/* SPDX-License-Identifier: BSD-3-Clause */
/* A plan that a handle keeps serves the calls that it is for, and no others. */
#include "support.h"

#include <stdlib.h>

/* A kept plan is for other matrices too, but not for others' alignment, kernel or workspace. */
START_TEST(kept)
{
    xgemm_handle *handle = open_handle(test_device());
    for (int i = 0; i < 24; i++) {
        shape s = {.m = 40 + i % 3, .n = 36, .k = 20 + 4 * (i % 2), .alpha = 1.0f, .beta = 0.5f};
        s.shift_a = i % 5 == 3, s.shift_b = i % 4 == 2, s.shift_c = i % 7 == 1;
        s.gap_a = i / 12;
        set_layout(&s, i / 6);
        ck_assert_int_eq(xgemm_set_kernel(handle, i % 4 ? NULL : test_kernel(0)), XGEMM_OK);
        check_shape(handle, &s, random_real, BOUND, (uint64_t)i);
        check_shape(handle, &s, random_real, BOUND, (uint64_t)i + 100);
        if (i % 4 == 0)
            ck_assert_str_eq(xgemm_last_kernel(handle), test_kernel(0));
    }
    xgemm_destroy(handle);
}
END_TEST

/* The same plan for two sets of matrices that are there at once. */
START_TEST(kept_for_others)
{
    xgemm_handle *handle = open_with_kernel(_i);
    generator from = {3};
    const shape s = {.order = XGEMM_COL_MAJOR,
                     .transa = XGEMM_TRANS,
                     .transb = XGEMM_NO_TRANS,
                     .m = 40,
                     .n = 33,
                     .k = 70,
                     .alpha = 1.0f,
                     .beta = 1.0f};
    product *sets[3];
    for (int i = 0; i < COUNT(sets); i++) {
        sets[i] = product_new(handle, &s);
        product_fill(sets[i], random_dyadic, &from);
    }
    for (int i = 0; i < COUNT(sets); i++)
        product_check(sets[i], EXACT);
    for (int i = 0; i < COUNT(sets); i++)
        product_free(sets[i]);
    xgemm_destroy(handle);
}
END_TEST

/* A's memory as B and B's as A: each has an address of its own. */
START_TEST(kept_while_they_change_places)
{
    xgemm_handle *handle = open_with_kernel(_i);
    generator from = {4};
    const shape s = {.order = XGEMM_ROW_MAJOR,
                     .transa = XGEMM_NO_TRANS,
                     .transb = XGEMM_NO_TRANS,
                     .m = 35,
                     .n = 35,
                     .k = 35,
                     .alpha = 1.0f};
    product *p = product_new(handle, &s);
    product_fill(p, random_dyadic, &from);
    product_check(p, EXACT);
    const matrix a = p->a;
    p->a = p->b;
    p->b = a;
    product_check(p, EXACT);
    product_free(p);
    xgemm_destroy(handle);
}
END_TEST

static xgemm_status run_at(xgemm_handle *handle, const float *a, const float *b, float *c)
{
    return xgemm_sgemm(handle, XGEMM_ROW_MAJOR, XGEMM_TRANS, XGEMM_NO_TRANS, 32, 32, 32, 1.0f, a,
                       32, b, 32, 0.0f, c, 32);
}

/* The first address there that a workspace may begin at. */
static float *aligned(float *memory)
{
    while ((uintptr_t)memory % 256)
        memory++;
    return memory;
}

/* An operand that is not aligned needs a copy, also after one that is. */
START_TEST(kept_by_alignment)
{
    static float zeros[32 * 32 + 64], workspace[128];
    float *const at = aligned(zeros), *const room = aligned(workspace);
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_SIM);
    float *c = malloc(32 * 32 * sizeof *c);
    ck_assert(c != NULL);
    ck_assert_int_eq(xgemm_set_kernel(handle, "pipelined-32x64"), XGEMM_OK);
    ck_assert_int_eq(xgemm_set_workspace(handle, room, 64), XGEMM_OK);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(run_at(handle, at, at, c), XGEMM_OK);
        ck_assert_int_eq(run_at(handle, at, at, c), XGEMM_OK);
        ck_assert_int_eq(run_at(handle, at + 1, at, c), XGEMM_ERROR_WORKSPACE);
        ck_assert_int_eq(run_at(handle, at, at + 2, c), XGEMM_ERROR_WORKSPACE);
    }
    /* Nor is a plan for one workspace, or kernel, one for another. */
    ck_assert_int_eq(xgemm_set_workspace(handle, NULL, 0), XGEMM_OK);
    ck_assert_int_eq(run_at(handle, at + 1, at, c), XGEMM_OK);
    ck_assert_int_eq(xgemm_set_workspace(handle, room, 64), XGEMM_OK);
    ck_assert_int_eq(run_at(handle, at + 1, at, c), XGEMM_ERROR_WORKSPACE);
    ck_assert_int_eq(xgemm_set_kernel(handle, "tiled16"), XGEMM_OK);
    ck_assert_int_eq(run_at(handle, at + 1, at, c), XGEMM_OK);
    ck_assert_str_eq(xgemm_last_kernel(handle), "tiled16");
    free(c);
    xgemm_destroy(handle);
}
END_TEST

/* More sizes than plans are kept, again and again, and one that is used all the time. */
START_TEST(kept_at_most)
{
    enum { SIZES = 1100, EVERY = 7 };
    static float a[SIZES + 1], c[SIZES + 1];
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_CPU);
    for (int i = 0; i <= SIZES; i++)
        a[i] = (float)(i % 11);
    for (int i = 0; i < 2 * SIZES; i++) {
        const int m = i % EVERY == 0 ? SIZES + 1 : 1 + i % SIZES;
        const float b = (float)(i % 5);
        ck_assert_int_eq(xgemm_sgemm(handle, XGEMM_COL_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, m, 1,
                                     1, 1.0f, a, m, &b, 1, 0.0f, c, m),
                         XGEMM_OK);
        for (int row = 0; row < m; row++)
            ck_assert(c[row] == a[row] * b);
    }
    xgemm_destroy(handle);
}
END_TEST

static Suite *plan_cache(void)
{
    Suite *suite = suite_create("plan cache");
    TCase *cases = add_case(suite, "plans");
    tcase_add_test(cases, kept);
    tcase_add_loop_test(cases, kept_for_others, 0, test_kernels());
    tcase_add_loop_test(cases, kept_while_they_change_places, 0, test_kernels());
    tcase_add_test(cases, kept_by_alignment);
    tcase_add_test(cases, kept_at_most);
    return suite;
}

int main(void)
{
    return run_suite(plan_cache());
}
