/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans of products that no memory holds: of every element type, layout and kind of batch, for GPUs
 * of several compute capabilities and the other devices. Each is refused with a sentence, or its
 * figures are possible ones; nothing overflows on the way, which UndefinedBehaviorSanitizer sees.
 */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int64_t m, n, k, batch;
} huge;

#define TWO(power) ((int64_t)1 << (power))

static const huge problems[] = {
    {TWO(38), 64, 64, 1},
    {64, TWO(38), 64, 1},
    {64, 64, TWO(38), 1},
    {1, TWO(38), 1, 1},
    {TWO(38), 1, 1, 1},
    {1, 1, TWO(55), 1},
    {TWO(30), TWO(30), TWO(20), 1},
    {TWO(30), TWO(20), TWO(30), 1},
    {TWO(20), TWO(30), TWO(30), 1},
    {TWO(29) - 1, TWO(29) - 1, TWO(29) - 1, 1},
    {TWO(31) + 1, TWO(30) - 1, 17, 1},
    {128, 128, 128, TWO(40)},
    {1, 1, 1, TWO(55)},
    {4096, 4096, 64, TWO(31)},
    {TWO(24), 3, TWO(24), TWO(8)},
    {3, 5, 7, TWO(59) + 3},
    {TWO(30), TWO(30), 64, TWO(16) - 1}, /* by pointers; elements of others cannot be numbered */
    {TWO(30) - 1, TWO(31) + 1, TWO(20), TWO(31)},
    {TWO(38), 64, TWO(20), TWO(40)},
    {3, TWO(55), 5, TWO(20)},
    {TWO(54), 1, 64, TWO(16)},
    {64, 64, TWO(50), TWO(40)},
};

/* "" is the device of the handle. */
static const char *const gpus[] = {"H200", "A100 SXM4 80GB", "V100 SXM2 32GB", "sm_75", ""};

static int64_t bytes_of(xgemm_type type)
{
    static const int bytes[] = {0, 4, 8, 2, 2, 8, 16};
    return bytes[type];
}

enum { TRANSPOSES = 4, FORMS = 4, TYPES = 6 };
typedef enum { TIGHT, PADDED, SHARED, POINTERS } form;

/* The leading dimension of rows x columns as stored; with 0 columns 1. */
static int64_t leading(int64_t rows, int64_t columns, xgemm_order order, form how)
{
    return (order == XGEMM_ROW_MAJOR ? columns : rows) + (how == PADDED);
}

/* Products of this shape as a caller describes them, in the given layout. */
static xgemm_product product_of(const huge *h, xgemm_type type, xgemm_order order, int transposes,
                                form how)
{
    xgemm_product p = XGEMM_PRODUCT_INIT;
    const bool ta = transposes & 1, tb = transposes & 2;
    p.order = order;
    p.transa = ta ? XGEMM_TRANS : XGEMM_NO_TRANS;
    p.transb = tb ? XGEMM_TRANS : XGEMM_NO_TRANS;
    p.m = h->m, p.n = h->n, p.k = h->k;
    p.batch_count = h->batch;
    p.type_a = p.type_b = p.type_c = type;
    p.lda = leading(ta ? h->k : h->m, ta ? h->m : h->k, order, how);
    p.ldb = leading(tb ? h->n : h->k, tb ? h->k : h->n, order, how);
    p.ldc = leading(h->m, h->n, order, how);
    p.stride_a = how == SHARED ? 0 : h->m * h->k;
    p.stride_b = h->k * h->n;
    p.stride_c = p.ldc * (order == XGEMM_ROW_MAJOR ? h->m : h->n);
    p.flags = how == POINTERS ? XGEMM_POINTER_ARRAYS : 0;
    return p;
}

/* Whether the elements of a caller's matrices can be numbered at all. */
static bool can_be_written(const huge *h)
{
    const double most = ldexp(1.0, 62);
    return (double)h->m * (double)h->k < most && (double)h->k * (double)h->n < most &&
           (double)h->m * (double)h->n < most;
}

static void assert_possible(const xgemm_plan *plan, const xgemm_product *p, const char *gpu)
{
    ck_assert_msg(plan->kernel != NULL && plan->launches >= 1 && plan->split_k >= 1 &&
                      plan->split_k <= p->k && plan->together >= 1 &&
                      plan->together <= p->batch_count && plan->shared_tiles >= 0,
                  "%s, %s: launches %lld, split_k %lld, together %lld, stream-K tiles %lld", gpu,
                  plan->kernel ? plan->kernel : "no kernel", (long long)plan->launches,
                  (long long)plan->split_k, (long long)plan->together,
                  (long long)plan->shared_tiles);
    /* A workspace is a small multiple of what it is for, or a fixed number of partial sums. */
    const double elements =
        (double)p->m * (double)p->k + (double)p->k * (double)p->n + (double)p->m * (double)p->n;
    ck_assert_msg((double)plan->workspace_bytes <=
                      16.0 * elements * (double)bytes_of(p->type_a) * (double)p->batch_count +
                          ldexp(1.0, 34),
                  "%s, %s: a workspace of %zu bytes", gpu, plan->kernel, plan->workspace_bytes);
    ck_assert_msg(isfinite(plan->microseconds) && plan->microseconds >= 0.0, "%s, %s: %g us", gpu,
                  plan->kernel, plan->microseconds);
    ck_assert_msg((plan->microseconds > 0.0) == (plan->measured_on != NULL),
                  "%s, %s: %g us, measured on %s", gpu, plan->kernel, plan->microseconds,
                  plan->measured_on ? plan->measured_on : "nothing");
}

/* Plans that were possible. */
static int plan_all(xgemm_handle *handle, const huge *h, const char *name)
{
    xgemm_device gpu = {.struct_size = sizeof gpu};
    int planned = 0;
    if (*name)
        ck_assert_int_eq(xgemm_device_find(name, &gpu), XGEMM_OK);
    for (int i = 0; i < TYPES * TRANSPOSES * FORMS * 2; i++) {
        const xgemm_type type = (xgemm_type)(1 + i % TYPES);
        const int transposes = i / TYPES % TRANSPOSES;
        const form how = (form)(i / TYPES / TRANSPOSES % FORMS);
        const xgemm_order order =
            i / TYPES / TRANSPOSES / FORMS ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR;
        const xgemm_product p = product_of(h, type, order, transposes, how);
        xgemm_plan plan = {.struct_size = sizeof plan, .device = *name ? &gpu : NULL};
        const xgemm_status status = xgemm_gemm_plan(handle, &p, &plan);
        if (status == XGEMM_OK) {
            assert_possible(&plan, &p, name);
            planned++;
        } else {
            ck_assert_msg(status == XGEMM_ERROR_NOT_SUPPORTED || status == XGEMM_ERROR_OVERFLOW,
                          "%s: %s", name, xgemm_last_error(handle));
            ck_assert_str_ne(xgemm_last_error(handle), "");
        }
    }
    return planned;
}

START_TEST(every_type_and_layout)
{
    static const int devices[] = {XGEMM_DEVICE_SIM, XGEMM_DEVICE_CPU};
    static const xgemm_math modes[] = {XGEMM_MATH_DEFAULT, XGEMM_MATH_STRICT, XGEMM_MATH_TF32};
    const huge *const h = &problems[_i];
    int planned = 0;
    ck_assert(can_be_written(h));
    for (int d = 0; d < COUNT(devices); d++) {
        xgemm_handle *handle = open_handle(devices[d]);
        for (int mode = 0; mode < COUNT(modes); mode++) {
            ck_assert_int_eq(xgemm_set_math(handle, modes[mode]), XGEMM_OK);
            for (int g = d == 0 ? 0 : COUNT(gpus) - 1; g < COUNT(gpus); g++)
                planned += plan_all(handle, h, gpus[g]);
        }
        xgemm_destroy(handle);
    }
    ck_assert_msg(planned > 0, "no plan of %lld x %lld x %lld is possible", (long long)h->m,
                  (long long)h->n, (long long)h->k);
}
END_TEST

/* Each kernel by its name: its own arithmetic, whatever the choice would be. */
START_TEST(every_kernel)
{
    const huge *const h = &problems[_i];
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_SIM);
    for (int i = 0; i < xgemm_kernel_count(); i++) {
        xgemm_kernel_info info = {.struct_size = sizeof info};
        ck_assert_int_eq(xgemm_kernel_get(i, &info), XGEMM_OK);
        if (!(info.devices & XGEMM_RUNS_ON_SIM))
            continue;
        ck_assert_int_eq(xgemm_set_math(handle, info.math), XGEMM_OK);
        ck_assert_int_eq(xgemm_set_kernel(handle, info.name), XGEMM_OK);
        plan_all(handle, h, "H200");
        plan_all(handle, h, "");
    }
    xgemm_destroy(handle);
}
END_TEST

/* AddressSanitizer's allocator fails as malloc() does, and does not end the program. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

/* Traced with a sample of blocks, which fails for want of memory at the latest. */
START_TEST(traces)
{
    static const char *const kernels[] = {"naive", "tiled16", "pipelined-64x128", "fp16x3-128x64"};
    const huge *const h = &problems[_i];
    const xgemm_trace_problem p = {
        .struct_size = sizeof p, .m = h->m, .n = h->n, .k = h->k, .most_blocks = 1};
    for (int i = 0; i < COUNT(kernels) && h->batch == 1; i++) {
        xgemm_trace_report *report;
        const xgemm_status status = xgemm_trace(kernels[i], &p, NULL, &report);
        if (status == XGEMM_OK)
            xgemm_trace_free(report);
        else
            ck_assert_str_ne(xgemm_last_error(NULL), "");
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("huge_plans");
    TCase *tcase = add_case(suite, "huge");
    tcase_add_loop_test(tcase, every_type_and_layout, 0, COUNT(problems));
    tcase_add_loop_test(tcase, every_kernel, 0, COUNT(problems));
    tcase_add_loop_test(tcase, traces, 0, COUNT(problems));
    return run_suite(suite);
}
