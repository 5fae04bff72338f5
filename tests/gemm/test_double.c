/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels for F64, C32 and C64 of lib/families/double/, by name: every tile, layout and way;
 * and C32 by real products, of lib/families/complex/.
 */
#include "typed.h"

#include <stdlib.h>
#include <string.h>

static const xgemm_type types[] = {XGEMM_F64, XGEMM_C64, XGEMM_C32};
static const char *const kernels[] = {"pipelined-128x128", "pipelined-64x128", "pipelined-32x64"};
static const xgemm_transpose transposes[] = {XGEMM_NO_TRANS, XGEMM_TRANS, XGEMM_CONJ_TRANS};
/* Around the tiles; even sizes have copies and stores of 16 bytes, and long k is split. */
static const int shapes[][3] = {{130, 70, 65}, {64, 260, 50},  {257, 129, 33}, {1, 1, 1},
                                {40, 300, 90}, {128, 128, 16}, {3, 5, 700},    {66, 130, 260},
                                {17, 1, 520},  {1, 40, 300}};
/* What the simulator is asked for: few multiprocessors have waves, many split k. */
static const char *const orders[] = {"multiprocessors=2", "multiprocessors=24,late",
                                     "multiprocessors=3,reverse", "multiprocessors=24,check"};

/* A handle of the device under test with that kernel; NULL: it is not for the device. */
static xgemm_handle *open_kernel(const char *kernel, int order)
{
    xgemm_handle *handle;
    if (test_device() == XGEMM_DEVICE_SIM)
        setenv("XGEMM_SIM", orders[order], 1);
    const xgemm_status status = xgemm_create(&handle, test_device());
    if (status == XGEMM_ERROR_NOT_SUPPORTED && order == COUNT(orders) - 1)
        return NULL; /* a build that cannot trace */
    ck_assert_int_eq(status, XGEMM_OK);
    ck_assert_msg(xgemm_set_kernel(handle, kernel) == XGEMM_OK, "%s", xgemm_last_error(handle));
    return handle;
}

/* Number "run" of a type and shape: every layout and conjugate, alignments, factors, batches. */
static typed_spec mixed(xgemm_type type, const int size[3], int run)
{
    static const double factors[][2] = {{1.0, 0.0}, {-0.75, 0.0}, {0.5, -1.25}, {0.0, 0.0}};
    typed_spec s = typed_spec_of(type, size[0], size[1], size[2]);
    s.order = run % 2 ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR;
    s.transa = transposes[run / 2 % 3];
    s.transb = transposes[run / 6 % 3];
    s.gap = run % 4;
    s.count = run % 7 == 4 ? 3 : 1;
    s.pointer_arrays = run % 14 == 4;
    s.shared_b = run % 14 == 11;
    s.device_scalars = run % 11 == 2;
    memcpy(s.alpha, factors[run % 3], sizeof s.alpha);
    memcpy(s.beta, factors[run % 5 < 2 ? run % 5 + 1 : 3], sizeof s.beta);
    if (!typed_is_complex(type))
        s.alpha[1] = s.beta[1] = 0.0;
    s.type_bias = run % 8 == 5 ? type : (xgemm_type)0;
    s.bias_per_row = run % 16 == 5;
    if (type == XGEMM_F64 && run % 9 == 3)
        s.activation = XGEMM_SILU;
    return s;
}

/* Every fifth run for each shape, or few, or one. */
static int step_of_effort(void)
{
    return test_effort() >= 100 ? 5 : test_effort() >= 5 ? 60 : 36 * COUNT(shapes);
}

/* Each kernel and type, in an order of the simulator's. */
START_TEST(kernel)
{
    const xgemm_type type = types[_i % COUNT(types)];
    const char *const name = kernels[_i / COUNT(types) % COUNT(kernels)];
    xgemm_handle *const handle = open_kernel(name, _i / COUNT(types) / COUNT(kernels));
    const int runs = 36, step = step_of_effort();
    for (int run = _i % step; handle && run < runs * COUNT(shapes); run += step) {
        const typed_spec s = mixed(type, shapes[run / runs], run % runs);
        typed_check(handle, &s, (uint64_t)run);
        const char *const ran = xgemm_last_kernel(handle);
        ck_assert(!ran || strcmp(ran, name) == 0);
    }
    xgemm_destroy(handle);
    unsetenv("XGEMM_SIM");
}
END_TEST

/* Complex products as real ones of tensor cores: every layout, conjugate, factor and bias. */
START_TEST(real_products)
{
    static const char *const names[] = {"fp16x3-128x64", "fp16x3-128x256"};
    const char *const name = names[_i % COUNT(names)];
    xgemm_handle *const handle = open_kernel(name, _i / COUNT(names));
    const int runs = 36, step = step_of_effort();
    for (int run = _i % step; handle && run < runs * COUNT(shapes); run += step) {
        typed_spec s = mixed(XGEMM_C32, shapes[run / runs], run % runs);
        s.pointer_arrays = 0;
        typed_check(handle, &s, (uint64_t)run);
        ck_assert_str_eq(xgemm_last_kernel(handle), name);
    }
    xgemm_destroy(handle);
    unsetenv("XGEMM_SIM");
}
END_TEST

/* A product in row order, without transposes, as it is planned on an H200 of the catalogue. */
static xgemm_plan plan_of(xgemm_handle *handle, xgemm_product *p)
{
    xgemm_device gpu = {.struct_size = sizeof gpu};
    xgemm_plan plan = {.struct_size = sizeof plan, .device = &gpu};
    ck_assert_int_eq(xgemm_device_find("H200 SXM", &gpu), XGEMM_OK);
    p->lda = p->k, p->ldb = p->ldc = p->n;
    ck_assert_msg(xgemm_gemm_plan(handle, p, &plan) == XGEMM_OK, "%s", xgemm_last_error(handle));
    plan.device = NULL;
    return plan;
}

/* Large tiles for large products, small ones for small products, and k split where tiles are few.
 */
START_TEST(choices)
{
    static const struct {
        int64_t m, n, k;
        const char *kernel;
        int tile_m[3], tile_n[3]; /* of each type; 0: any */
        bool split;
    } wanted[] = {
        {8192, 8192, 8192, "pipelined-128x128", {128, 64, 64}, {128, 128, 128}, true},
        {64, 64, 64, "pipelined-32x64", {0}, {0}, false},
        {4096, 1, 4096, "pipelined-32x64", {64, 64, 64}, {16, 16, 16}, true},
        {16, 4096, 4096, "pipelined-32x64", {16, 16, 16}, {64, 64, 64}, true},
        {64, 64, 100000, NULL, {0}, {0}, true},
    };
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_SIM);
    ck_assert_int_eq(xgemm_set_math(handle, XGEMM_MATH_STRICT), XGEMM_OK);
    for (int i = 0; i < COUNT(wanted); i++)
        for (int type = 0; type < COUNT(types); type++) {
            xgemm_product p = XGEMM_PRODUCT_INIT;
            p.m = wanted[i].m, p.n = wanted[i].n, p.k = wanted[i].k;
            p.type_a = p.type_b = p.type_c = types[type];
            const xgemm_plan plan = plan_of(handle, &p);
            ck_assert(!wanted[i].kernel || strcmp(plan.kernel, wanted[i].kernel) == 0);
            ck_assert(!wanted[i].tile_m[type] || plan.tile_m == wanted[i].tile_m[type]);
            ck_assert(!wanted[i].tile_n[type] || plan.tile_n == wanted[i].tile_n[type]);
            ck_assert_int_eq(plan.split_k > 1, wanted[i].split);
            ck_assert_int_eq(plan.launches, wanted[i].split ? 2 : 1);
        }
    xgemm_destroy(handle);
}
END_TEST

/* Large products of C32 are real ones in DEFAULT, with a launch more where alpha is not 1. */
START_TEST(real_choices)
{
    static const float alphas[][2] = {{1.0f, 0.0f}, {1.0f, 0.5f}};
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_SIM);
    for (int i = 0; i < COUNT(alphas); i++) {
        xgemm_product p = XGEMM_PRODUCT_INIT;
        p.m = p.n = p.k = 4096;
        p.type_a = p.type_b = p.type_c = XGEMM_C32;
        p.alpha = alphas[i];
        const xgemm_plan plan = plan_of(handle, &p);
        ck_assert_str_eq(plan.kernel, "fp16x3-128x256");
        ck_assert_int_eq(plan.launches, 3 + i);
        p.m = p.n = p.k = 64;
        ck_assert_str_eq(plan_of(handle, &p).kernel, "pipelined-32x64");
    }
    xgemm_destroy(handle);
}
END_TEST

/*
 * Any alignment that the interface takes is theirs, and pointer arrays; what is too large is the
 * general one's, and theirs to refuse by name.
 */
START_TEST(alignment)
{
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_SIM);
    xgemm_product p = XGEMM_PRODUCT_INIT;
    static const float memory[2] = {0.0f, 0.0f};
    ck_assert_int_eq(xgemm_set_math(handle, XGEMM_MATH_STRICT), XGEMM_OK);
    p.m = p.n = p.k = 1000;
    p.type_a = p.type_b = p.type_c = XGEMM_C32;
    const char *const base = (const char *)memory;
    p.a = base + ((uintptr_t)base % 8 == 0 ? 4 : 0);
    ck_assert_str_eq(plan_of(handle, &p).kernel, "pipelined-128x128");
    p.a = NULL;
    p.m = INT64_C(1) << 30, p.n = p.k = 16;
    ck_assert_str_eq(plan_of(handle, &p).kernel, "general");
    ck_assert_int_eq(xgemm_set_kernel(handle, "pipelined-64x128"), XGEMM_OK);
    xgemm_plan plan = {.struct_size = sizeof plan};
    ck_assert_int_eq(xgemm_gemm_plan(handle, &p, &plan), XGEMM_ERROR_NOT_SUPPORTED);
    p.m = p.n = p.k = 1000;
    p.flags = XGEMM_POINTER_ARRAYS, p.batch_count = 2;
    for (int i = 0; i < COUNT(types); i++) {
        p.type_a = p.type_b = p.type_c = types[i];
        ck_assert_str_eq(plan_of(handle, &p).kernel, "pipelined-64x128");
    }
    xgemm_destroy(handle);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("double");
    TCase *numbers = add_case(suite, "kernels");
    if (test_device() != XGEMM_DEVICE_CPU)
        tcase_add_loop_test(numbers, kernel, 0,
                            COUNT(types) * COUNT(kernels) *
                                (test_device() == XGEMM_DEVICE_SIM ? COUNT(orders) : 1));
    if (test_device() != XGEMM_DEVICE_CPU)
        tcase_add_loop_test(numbers, real_products, 0,
                            2 * (test_device() == XGEMM_DEVICE_SIM ? COUNT(orders) : 1));
    TCase *plans = add_case(suite, "plans");
    tcase_add_test(plans, choices);
    tcase_add_test(plans, real_choices);
    tcase_add_test(plans, alignment);
    return run_suite(suite);
}
