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

static xgemm_plan typed_plan_of(xgemm_handle *handle, const request *r, xgemm_type type,
                                const xgemm_device *gpu)
{
    xgemm_plan plan = {.struct_size = sizeof plan, .device = gpu};
    xgemm_product p = XGEMM_PRODUCT_INIT;
    const int64_t lda = (r->transa == XGEMM_TRANS ? r->m : r->k) + r->pad;
    const int64_t ldb = (r->transb == XGEMM_TRANS ? r->k : r->n) + r->pad;
    const int64_t a_rows = r->transa == XGEMM_TRANS ? r->k : r->m;
    const int64_t b_rows = r->transb == XGEMM_TRANS ? r->n : r->k, ldc = r->n + r->pad;
    p.transa = r->transa, p.transb = r->transb;
    p.m = r->m, p.n = r->n, p.k = r->k, p.batch_count = r->batch_count;
    p.type_a = p.type_b = p.type_c = type;
    p.lda = lda, p.ldb = ldb, p.ldc = ldc;
    p.stride_a = a_rows * lda, p.stride_b = b_rows * ldb, p.stride_c = r->m * ldc;
    const xgemm_status status = xgemm_gemm_plan(handle, &p, &plan);
    if (status)
        plan.microseconds = 0.0; /* no kernel of this GPU */
    return plan;
}

static xgemm_plan plan_of(xgemm_handle *handle, const request *r, const xgemm_device *gpu)
{
    return typed_plan_of(handle, r, XGEMM_F32, gpu);
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

static const struct {
    xgemm_type type;
    double bytes, products; /* of an element; real ones of one of elements */
} types[] = {{XGEMM_F32, 4, 1},  {XGEMM_F64, 8, 1}, {XGEMM_F16, 2, 1},
             {XGEMM_BF16, 2, 1}, {XGEMM_C32, 8, 4}, {XGEMM_C64, 16, 4}};

/* FP64's peak, of tensor cores where they have it, by FP32's: as in the makers' figures below. */
static double fp64_share(const xgemm_device *gpu)
{
    const int cc = gpu->compute_capability;
    return cc == 80 || cc == 90 ? 1.0 : cc == 100 ? 0.5 : 1.0 / 64;
}

static double peak_of(const xgemm_device *gpu, xgemm_type type, const char *kernel)
{
    const int products = tensor_products(kernel);
    const double tensor = gpu->peak_fp16_gflops;
    if (type == XGEMM_F16 || type == XGEMM_BF16)
        return tensor > 0.0 ? tensor : gpu->peak_fp32_gflops;
    if (products && tensor > 0.0) /* doubles by residues: of bytes, two at a time */
        return type == XGEMM_F64 || type == XGEMM_C64 ? 2.0 * tensor : tensor / products;
    return gpu->peak_fp32_gflops * (type == XGEMM_F64 || type == XGEMM_C64 ? fp64_share(gpu) : 1.0);
}

/* What the GPU takes at its peaks, with each matrix once from memory or to it. */
static double roof_us(const xgemm_device *gpu, const request *r, int type, const char *kernel)
{
    const double m = (double)r->m, n = (double)r->n, k = (double)r->k;
    const double count = (double)r->batch_count;
    const double elements = count * (m * k + k * n + m * n);
    const double bytes = types[type].bytes * elements;
    const double flops = types[type].products * 2.0 * count * m * n * k;
    return 1e-3 *
           fmax(flops / peak_of(gpu, types[type].type, kernel), bytes / gpu->peak_bandwidth_gbs);
}

static void check_possible(xgemm_handle *handle, const request *r, int type,
                           const xgemm_device *gpu)
{
    const xgemm_plan plan = typed_plan_of(handle, r, types[type].type, gpu);
    const bool known = gpu->peak_fp32_gflops > 0.0;
    ck_assert_int_eq(plan.microseconds > 0.0, known);
    ck_assert_int_eq(plan.measured_on != NULL, known);
    if (!known)
        return;
    const double least = roof_us(gpu, r, type, plan.kernel);
    ck_assert_msg(plan.microseconds >= 0.9999 * least,
                  "%s, %s, type %d: %lld x %lld x %lld, batch %lld: %.3f us, at least %.3f",
                  gpu->name, plan.kernel, (int)types[type].type, (long long)r->m, (long long)r->n,
                  (long long)r->k, (long long)r->batch_count, plan.microseconds, least);
}

/* Sizes between 1 and 2^16: large ones reach the peaks. */
START_TEST(is_possible)
{
    enum { REQUESTS = 96 };
    generator from = {(uint64_t)_i + 100};
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_SIM);
    xgemm_device gpu = {.struct_size = sizeof gpu};
    ck_assert_int_eq(xgemm_device_catalog_get(_i, &gpu), XGEMM_OK);
    for (int i = 0; i < REQUESTS && gpu.compute_capability >= 80; i++) {
        request r = random_request(&from);
        r.m *= i % 2 ? 16 : 1;
        r.k *= i % 3 ? 16 : 1;
        ck_assert_int_eq(xgemm_set_math(handle, modes[i % COUNT(modes)]), XGEMM_OK);
        check_possible(handle, &r, i / 2 % 2 ? i / 4 % COUNT(types) : 0, &gpu);
    }
    xgemm_destroy(handle);
}
END_TEST

/* The makers' peaks of FP64, of tensor cores where they have it, TFLOP/s. */
static const struct {
    const char *gpu;
    double tflops;
} doubles[] = {{"A100 SXM4 40GB", 19.5},    {"H100 PCIe", 51.2},        {"B200", 40},
               {"GeForce RTX 3090", 0.556}, {"GeForce RTX 4090", 1.29}, {"L4", 0.49}};

START_TEST(doubles_are_possible)
{
    static const request cube = {XGEMM_NO_TRANS, XGEMM_NO_TRANS, 8192, 8192, 8192, 0, 1};
    const double flops = 2.0 * 8192 * 8192 * 8192;
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_SIM);
    xgemm_device gpu = {.struct_size = sizeof gpu};
    ck_assert_int_eq(xgemm_device_find(doubles[_i].gpu, &gpu), XGEMM_OK);
    for (int type = 0; type < COUNT(types); type++) {
        if (types[type].type != XGEMM_F64 && types[type].type != XGEMM_C64)
            continue;
        const xgemm_plan plan = typed_plan_of(handle, &cube, types[type].type, &gpu);
        const double tflops = 1e-6 * flops * types[type].products / plan.microseconds;
        if (tensor_products(plan.kernel) == 0)
            ck_assert_msg(tflops < 1.02 * doubles[_i].tflops && tflops > 0.3 * doubles[_i].tflops,
                          "%s, %s, type %d: %.3f TFLOP/s of %.3f", gpu.name, plan.kernel,
                          (int)types[type].type, tflops, doubles[_i].tflops);
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
    tcase_add_loop_test(cases, doubles_are_possible, 0, COUNT(doubles));
    return run_suite(suite);
}
