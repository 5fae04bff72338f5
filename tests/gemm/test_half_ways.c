/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ways in which one kernel computes products of 16-bit operands, by their shape: a matrix times a
 * vector; parts of k of one tile, by the CTAs of a cluster and by the warpgroups of one; and C that
 * TMA stores. Lines that begin anywhere, every layout, type of C and epilogue.
 */
#include "typed.h"

#include <stdlib.h>
#include <string.h>

static typed_spec spec_of(xgemm_type type, const int size[3], int run)
{
    static const xgemm_type types[] = {XGEMM_F32, XGEMM_F16, XGEMM_BF16};
    static const int gaps[] = {0, 8, 3, 2};
    typed_spec s = typed_spec_of(type, size[0], size[1], size[2]);
    s.order = run % 2 ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR;
    s.transa = run / 2 % 2 ? XGEMM_TRANS : XGEMM_NO_TRANS;
    s.transb = run / 3 % 2 ? XGEMM_TRANS : XGEMM_NO_TRANS;
    s.gap = gaps[run % COUNT(gaps)];
    s.type_c = types[run % COUNT(types)];
    s.alpha[0] = run % 3 == 2 ? -0.75 : 1.0;
    s.beta[0] = run % 5 == 3 ? 0.5 : 0.0;
    s.device_scalars = run % 7 == 2;
    s.type_bias = run % 4 == 1 ? types[run / 4 % COUNT(types)] : (xgemm_type)0;
    s.bias_per_row = run % 8 == 5;
    s.activation = run % 4 ? (xgemm_activation)(run % 5) : (xgemm_activation)0;
    return s;
}

/* Shapes in turn, on a GPU or on the simulator in one of two orders. */
static void check_shapes(const char *kernel, const int shapes[][3], int count, int products,
                         int turn)
{
    const xgemm_type type = turn % 2 ? XGEMM_BF16 : XGEMM_F16;
    const int step = test_effort() >= 100 ? 1 : 5;
    if (test_device() == XGEMM_DEVICE_SIM)
        setenv("XGEMM_SIM", turn / 2 % 2 ? "late" CHECKED : "shuffle=7", 1);
    xgemm_handle *handle = open_handle(test_device());
    ck_assert_int_eq(xgemm_set_math(handle, XGEMM_MATH_TF32), XGEMM_OK); /* it allows all kernels */
    ck_assert_int_eq(xgemm_set_kernel(handle, kernel), XGEMM_OK);
    for (int run = turn % step; run < 2 * count; run += step) {
        typed_spec s = spec_of(type, shapes[run % count], run + turn);
        s.count = products;
        typed_check(handle, &s, (uint64_t)run);
        const char *const ran = xgemm_last_kernel(handle);
        ck_assert(!ran || strcmp(ran, kernel) == 0);
    }
    xgemm_destroy(handle);
    unsetenv("XGEMM_SIM");
}

/* By each major, by loads of 8, 2 and 1 element, with k divided or not. */
START_TEST(vectors)
{
    static const int shapes[][3] = {{1, 300, 600},  {1, 77, 4100}, {500, 1, 96},  {130, 1, 2050},
                                    {1, 64, 9000},  {1, 1, 1},     {9, 1, 5},     {1, 40, 2045},
                                    {64, 1, 16384}, {1, 7, 20000}, {333, 1, 1026}};
    check_shapes("skinny", shapes, COUNT(shapes), 1, _i);
}
END_TEST

START_TEST(shared_k)
{
    static const int shapes[][3] = {{64, 130, 1500}, {40, 64, 2100}, {128, 128, 800},
                                    {130, 200, 520}, {16, 72, 2050}, {64, 64, 6000},
                                    {200, 130, 513}};
    check_shapes("fp16x1-128x128", shapes, COUNT(shapes), 1, _i);
}
END_TEST

/* Rows and columns that no box ends with, and of which C has more or less than a tile. */
START_TEST(stores)
{
    static const int shapes[][3] = {{130, 72, 64},  {64, 264, 40},  {257, 136, 33}, {8, 8, 8},
                                    {300, 264, 20}, {128, 520, 16}, {17, 24, 100},  {1, 640, 30}};
    check_shapes(_i % 2 ? "fp16x1-128x256" : "fp16x1-128x128", shapes, COUNT(shapes),
                 _i / 2 % 2 ? 3 : 1, _i / 2);
}
END_TEST

static Suite *half_ways(void)
{
    Suite *suite = suite_create("half ways");
    TCase *ways = add_case(suite, "ways");
    tcase_add_loop_test(ways, vectors, 0, 4);
    tcase_add_loop_test(ways, shared_k, 0, 4);
    tcase_add_loop_test(ways, stores, 0, 8);
    return suite;
}

int main(void)
{
    return run_suite(half_ways());
}
