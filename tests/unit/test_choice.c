/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The choice of a kernel passes over what it can prove to be slower: it must choose what planning
 * with each kernel by its name would choose. And what is predicted, on any GPU of the catalogue, is
 * not below what its peaks allow.
 */
#include "support.h"

#include <math.h>
#include <stdio.h>

static const char *const gpus[] = {"H200 SXM", "H100 SXM5", "A100 SXM4 80GB", "B200"};
static const xgemm_math modes[] = {XGEMM_MATH_STRICT, XGEMM_MATH_DEFAULT, XGEMM_MATH_TF32};

/* Sizes of up to 2^12, as often small as large; some are one more than a multiple of 128. */
static int64_t random_size(generator *from)
{
    const double exponent = 12.0 * (double)random_below(from, 1000) / 1000.0;
    const int64_t size = (int64_t)exp2(exponent);
    return random_below(from, 4) > 0 ? size : size / 128 * 128 + 1;
}

typedef struct {
    xgemm_transpose transa, transb;
    int64_t m, n, k, pad, batch_count;
} request;

static request random_request(generator *from)
{
    request r = {random_below(from, 2) > 0 ? XGEMM_TRANS : XGEMM_NO_TRANS,
                 random_below(from, 2) > 0 ? XGEMM_TRANS : XGEMM_NO_TRANS,
                 random_size(from),
                 random_size(from),
                 random_size(from),
                 (int64_t)random_below(from, 2),
                 1};
    if (random_below(from, 4) == 0)
        r.batch_count = 2 + (int64_t)random_below(from, 60);
    return r;
}

static xgemm_plan plan_of(xgemm_handle *handle, const request *r, const xgemm_device *gpu)
{
    xgemm_plan plan = {.struct_size = sizeof plan, .device = gpu};
    const int64_t lda = (r->transa == XGEMM_TRANS ? r->m : r->k) + r->pad;
    const int64_t ldb = (r->transb == XGEMM_TRANS ? r->k : r->n) + r->pad;
    const int64_t a_rows = r->transa == XGEMM_TRANS ? r->k : r->m;
    const int64_t b_rows = r->transb == XGEMM_TRANS ? r->n : r->k, ldc = r->n + r->pad;
    const xgemm_status status = xgemm_sgemm_strided_batched_plan(
        handle, XGEMM_ROW_MAJOR, r->transa, r->transb, r->m, r->n, r->k, 1.0f, NULL, lda,
        a_rows * lda, NULL, ldb, b_rows * ldb, 0.0f, NULL, ldc, r->m * ldc, r->batch_count, &plan);
    if (status)
        plan.microseconds = 0.0; /* no kernel of this GPU */
    return plan;
}

/* Whether the kernel has a model, and may be chosen in the mode. */
static bool may_be_chosen(const xgemm_kernel_info *kernel, xgemm_math math, const request *r)
{
    if (kernel->math == XGEMM_MATH_STRICT)
        return true;
    if (kernel->math == XGEMM_MATH_DEFAULT)
        return math != XGEMM_MATH_STRICT && r->k >= 64;
    return math == XGEMM_MATH_TF32;
}

static void check_choice(xgemm_handle *handle, const request *r, xgemm_math math,
                         const xgemm_device *gpu)
{
    ck_assert_int_eq(xgemm_set_kernel(handle, NULL), XGEMM_OK);
    const xgemm_plan chosen = plan_of(handle, r, gpu);
    double least = INFINITY;
    const char *fastest = "none";
    for (int i = 0; i < xgemm_kernel_count(); i++) {
        xgemm_kernel_info kernel = {.struct_size = sizeof kernel};
        ck_assert_int_eq(xgemm_kernel_get(i, &kernel), XGEMM_OK);
        if (!may_be_chosen(&kernel, math, r) || xgemm_set_kernel(handle, kernel.name))
            continue; /* the last, for the CPU's */
        const double us = plan_of(handle, r, gpu).microseconds;
        if (us > 0.0 && us < least) {
            least = us;
            fastest = kernel.name;
        }
    }
    ck_assert_msg(chosen.microseconds == least,
                  "%s, %lld x %lld x %lld, batch %lld: %s takes %.3f us, %s %.3f", gpu->name,
                  (long long)r->m, (long long)r->n, (long long)r->k, (long long)r->batch_count,
                  chosen.kernel, chosen.microseconds, fastest, least);
}

START_TEST(is_the_fastest)
{
    enum { REQUESTS = 100 };
    generator from = {(uint64_t)_i + 1};
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_SIM);
    xgemm_device gpu = {.struct_size = sizeof gpu};
    ck_assert_int_eq(xgemm_device_find(gpus[_i / COUNT(modes)], &gpu), XGEMM_OK);
    const xgemm_math math = modes[_i % COUNT(modes)];
    ck_assert_int_eq(xgemm_set_math(handle, math), XGEMM_OK);
    for (int i = 0; i < REQUESTS; i++) {
        const request r = random_request(&from);
        check_choice(handle, &r, math, &gpu);
    }
    xgemm_destroy(handle);
}
END_TEST

/* The products that a kernel's tensor cores compute in place of one of FP32; 0: it uses none. */
static int tensor_products(const char *kernel)
{
    int products;
    return sscanf(kernel, "%*2c16x%d-", &products) == 1 ? products : 0;
}

/* What the GPU takes at its peaks, if its L2 holds as much of the operands as it can. */
static double roof_us(const xgemm_device *gpu, const request *r, const char *kernel)
{
    const double m = (double)r->m, n = (double)r->n, k = (double)r->k;
    const double count = (double)r->batch_count;
    const double bytes = 4.0 * count * (m * k + k * n + m * n) - (double)gpu->l2_bytes;
    const int products = tensor_products(kernel);
    const bool known = products && gpu->peak_fp16_gflops > 0.0; /* or taken to be no slower */
    const double peak = known ? gpu->peak_fp16_gflops / products : gpu->peak_fp32_gflops;
    return 1e-3 * fmax(2.0 * count * m * n * k / peak, bytes / gpu->peak_bandwidth_gbs);
}

/* Sizes between 1 and 2^16: large ones reach the peaks. */
START_TEST(is_possible)
{
    enum { REQUESTS = 40 };
    generator from = {(uint64_t)_i + 100};
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_SIM);
    xgemm_device gpu = {.struct_size = sizeof gpu};
    ck_assert_int_eq(xgemm_device_catalog_get(_i, &gpu), XGEMM_OK);
    const bool known = gpu.peak_fp32_gflops > 0.0;
    for (int i = 0; i < REQUESTS && gpu.compute_capability >= 80; i++) {
        request r = random_request(&from);
        r.m *= i % 2 ? 16 : 1;
        r.k *= i % 3 ? 16 : 1;
        ck_assert_int_eq(xgemm_set_math(handle, modes[i % COUNT(modes)]), XGEMM_OK);
        const xgemm_plan plan = plan_of(handle, &r, &gpu);
        ck_assert_int_eq(plan.microseconds > 0.0, known);
        ck_assert_int_eq(plan.measured_on != NULL, known);
        if (known)
            ck_assert_msg(plan.microseconds >= 0.9999 * roof_us(&gpu, &r, plan.kernel),
                          "%s, %s: %lld x %lld x %lld, batch %lld: %.3f us, at least %.3f",
                          gpu.name, plan.kernel, (long long)r.m, (long long)r.n, (long long)r.k,
                          (long long)r.batch_count, plan.microseconds,
                          roof_us(&gpu, &r, plan.kernel));
    }
    xgemm_destroy(handle);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("choice");
    TCase *cases = add_case(suite, "choice");
    tcase_add_loop_test(cases, is_the_fastest, 0, COUNT(gpus) * COUNT(modes));
    tcase_add_loop_test(cases, is_possible, 0, xgemm_device_catalog_count());
    return run_suite(suite);
}
