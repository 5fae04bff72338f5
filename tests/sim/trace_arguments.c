/* SPDX-License-Identifier: BSD-3-Clause */
/* The other arguments of xgemm_trace(): a GPU's figures, and what is refused. */
#include "traces.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- Other products ---- */

/* m = 70, n = 33, k = 17, tight. */
static xgemm_product product_of(xgemm_type type, xgemm_type type_c)
{
    xgemm_product p = XGEMM_PRODUCT_INIT;
    p.m = 70, p.n = 33, p.k = 17;
    p.lda = p.k, p.ldb = p.ldc = p.n;
    p.type_a = p.type_b = type;
    p.type_c = type_c;
    return p;
}

static xgemm_trace_report *trace_product(const char *kernel, const xgemm_product *p)
{
    xgemm_trace_report *report;
    const xgemm_status status = xgemm_gemm_trace(kernel, p, 0, NULL, &report);
    ck_assert_msg(status == XGEMM_OK, "%s", xgemm_last_error(NULL));
    return report;
}

/* Bytes of global memory that all threads ask for, of an array. */
static int64_t bytes_in(const xgemm_trace_report *report, const char *array, direction which)
{
    int64_t bytes = 0;
    for (int i = 0; i < report->site_count; i++) {
        const xgemm_trace_site *site = &report->sites[i];
        if (!site->is_shared && strcmp(site->array, array) == 0 &&
            site->is_store == (which == STORES))
            bytes += site->lanes * site->bytes;
    }
    return bytes;
}

/* C is stored once, as many bytes as its elements have, and read where beta asks for it. */
START_TEST(types_of_products)
{
    static const struct {
        xgemm_type type, type_c;
        int bytes, bytes_c;
        double operations;
    } types[] = {{XGEMM_F32, XGEMM_F32, 4, 4, 2}, {XGEMM_F64, XGEMM_F64, 8, 8, 2},
                 {XGEMM_F16, XGEMM_F16, 2, 2, 2}, {XGEMM_BF16, XGEMM_F32, 2, 4, 2},
                 {XGEMM_C32, XGEMM_C32, 8, 8, 8}, {XGEMM_C64, XGEMM_C64, 16, 16, 8}};
    const float beta[2] = {1.0f, 1.0f};
    const double long_beta[2] = {1.0, 1.0};
    const int c = 70 * 33, ab = (70 + 33) * 17;
    xgemm_product p = product_of(types[_i].type, types[_i].type_c);
    xgemm_trace_report *report = trace_product("general", &p);
    ck_assert_str_eq(report->kernel, "general");
    ck_assert_double_eq(report->flops, types[_i].operations * c * 17);
    ck_assert_double_eq(report->bytes_least, types[_i].bytes * ab + types[_i].bytes_c * c);
    ck_assert_int_eq(bytes_in(report, "C", STORES), types[_i].bytes_c * c);
    ck_assert_int_eq(bytes_in(report, "C", LOADS), 0);
    /* Tiles of 64 rows and columns: A once, and the 33 columns of B for both rows of tiles. */
    ck_assert_int_eq(bytes_in(report, "A", LOADS), types[_i].bytes * 70 * 17);
    ck_assert_int_eq(bytes_in(report, "B", LOADS), types[_i].bytes * 2 * 33 * 17);
    xgemm_trace_free(report);
    p.beta = types[_i].type == XGEMM_F64 || types[_i].type == XGEMM_C64 ? (const void *)long_beta
                                                                        : (const void *)beta;
    report = trace_product("general", &p);
    ck_assert_int_eq(bytes_in(report, "C", LOADS), types[_i].bytes_c * c);
    ck_assert_double_eq(report->bytes_least, types[_i].bytes * ab + 2 * types[_i].bytes_c * c);
    xgemm_trace_free(report);
}
END_TEST

/* 16-bit operands on tensor cores: sizes, and leading dimensions that are copied first. */
START_TEST(halves_on_tensor_cores)
{
    static const int64_t sizes[][3] = {{1, 1, 1},      {7, 300, 65},    {65, 7, 130},
                                       {255, 255, 65}, {128, 256, 128}, {70, 33, 17}};
    static const char *const kernels[] = {"fp16x1-128x128", "fp16x1-128x256"};
    static const float anything;
    for (int i = 0; i < COUNT(sizes) * COUNT(kernels); i++) {
        const int64_t *size = sizes[i / 2];
        xgemm_product p = product_of(_i ? XGEMM_BF16 : XGEMM_F16, i % 3 ? XGEMM_F16 : XGEMM_F32);
        p.m = size[0], p.n = size[1], p.k = size[2];
        p.lda = p.k + i % 3, p.ldb = p.n + i % 4, p.ldc = p.n + i % 5;
        p.activation = i % 4 == 1 ? XGEMM_GELU : XGEMM_ACTIVATION_NONE;
        p.bias = i % 4 == 2 ? &anything : NULL;
        p.type_bias = XGEMM_F32;
        xgemm_trace_report *report = trace_product(kernels[i % 2], &p);
        ck_assert_str_eq(report->kernel, kernels[i % 2]);
        ck_assert_int_eq(bytes_in(report, "C", STORES), p.m * p.n * (i % 3 ? 2 : 4));
        ck_assert_int_eq(sum_of(report, "bias", GLOBAL, LOADS).requests > 0, p.bias != NULL);
        xgemm_trace_free(report);
    }
}
END_TEST

START_TEST(refused_products)
{
    xgemm_product p = product_of(XGEMM_F64, XGEMM_F64);
    xgemm_trace_report *report;
    ck_assert_int_eq(xgemm_gemm_trace("naive", &p, 0, NULL, &report), XGEMM_ERROR_NOT_SUPPORTED);
    ck_assert_ptr_null(report);
    ck_assert_ptr_nonnull(
        strstr(xgemm_last_error(NULL), "naive does not multiply matrices of double"));
    ck_assert_int_eq(xgemm_gemm_trace("general", NULL, 0, NULL, &report), XGEMM_ERROR_NULL_POINTER);
    ck_assert_ptr_nonnull(strstr(xgemm_last_error(NULL), "product is NULL"));
    ck_assert_int_eq(xgemm_gemm_trace(NULL, &p, 0, NULL, &report), XGEMM_ERROR_NULL_POINTER);
    ck_assert_int_eq(xgemm_gemm_trace("general", &p, 0, NULL, NULL), XGEMM_ERROR_NULL_POINTER);
    ck_assert_int_eq(xgemm_gemm_trace("general", &p, -1, NULL, &report), XGEMM_ERROR_INVALID_VALUE);
    ck_assert_int_eq(xgemm_gemm_trace("nosuch", &p, 0, NULL, &report), XGEMM_ERROR_UNKNOWN_KERNEL);
    p.batch_count = 2;
    ck_assert_int_eq(xgemm_gemm_trace("general", &p, 0, NULL, &report), XGEMM_ERROR_NOT_SUPPORTED);
    p.batch_count = 1, p.flags = XGEMM_DEVICE_SCALARS;
    ck_assert_int_eq(xgemm_gemm_trace("general", &p, 0, NULL, &report), XGEMM_ERROR_NOT_SUPPORTED);
    p.flags = 0, p.type_c = XGEMM_F32;
    ck_assert_int_eq(xgemm_gemm_trace("general", &p, 0, NULL, &report), XGEMM_ERROR_NOT_SUPPORTED);
    p.type_c = XGEMM_F64, p.k = 0;
    ck_assert_int_eq(xgemm_gemm_trace("general", &p, 0, NULL, &report), XGEMM_ERROR_INVALID_VALUE);
    p.k = 17, p.struct_size = 8;
    ck_assert_int_eq(xgemm_gemm_trace("general", &p, 0, NULL, &report), XGEMM_ERROR_INVALID_VALUE);
}
END_TEST

/* ---- On a GPU ---- */

/* An A100: 108 multiprocessors of 2048 threads, 164 KiB and 65 536 registers. */
static xgemm_trace_report *trace_on(const char *kernel, const char *gpu, int64_t size)
{
    const xgemm_trace_problem problem = {
        .struct_size = sizeof problem, .m = size, .n = size, .k = size, .most_blocks = 4};
    xgemm_device device = {.struct_size = sizeof device};
    xgemm_trace_report *report;
    ck_assert_int_eq(xgemm_device_find(gpu, &device), XGEMM_OK);
    const xgemm_status status = xgemm_trace(kernel, &problem, &device, &report);
    ck_assert_msg(status == XGEMM_OK, "%s", xgemm_last_error(NULL));
    return report;
}

START_TEST(occupancy_of_a_gpu)
{
    xgemm_trace_report *report = trace_on("tiled16", "sm_86", 256);
    ck_assert_int_eq(report->blocks_per_sm, 6);
    ck_assert_double_eq(report->warp_occupancy, 1.0);
    ck_assert_uint_eq(report->limiters & XGEMM_LIMITED_BY_WARPS, XGEMM_LIMITED_BY_WARPS);
    ck_assert_int_eq(report->shared_bytes, 2048);
    xgemm_trace_free(report);
    report = trace_on("tiled32", "sm_86", 256);
    ck_assert_int_eq(report->blocks_per_sm, 1);
    xgemm_trace_free(report);
}
END_TEST

START_TEST(waves_of_a_gpu)
{
    xgemm_trace_report *report = trace_on("tiled32", "A100", 1024);
    ck_assert_str_eq(report->device, "A100 SXM4 40GB");
    ck_assert_int_eq(report->blocks, 1024);
    ck_assert_double_eq_tol(report->waves, 1024.0 / (108.0 * report->blocks_per_sm), 1e-12);
    xgemm_trace_free(report);
}
END_TEST

/* 2 * 256^3 operations; tiles of 32 ask for A and B eight times each, and for C once. */
START_TEST(roofline_of_a_gpu)
{
    const double asked = 2.0 * 256 * 256 * 256 / (4.0 * (2 * 8 + 1) * 256 * 256);
    const double least = 2.0 * 256 * 256 * 256 / (4.0 * 3 * 256 * 256);
    xgemm_trace_report *report = trace_on("tiled32", "A100", 256);
    ck_assert_double_eq_tol(report->flop_per_byte_asked, asked, 1e-9);
    ck_assert_double_eq_tol(report->flop_per_byte_least, least, 1e-9);
    ck_assert_double_eq_tol(report->peak_gbs, 1555.0, 1e-9);
    ck_assert_double_eq_tol(report->roof_asked_gflops, asked * 1555.0, 1e-6);
    ck_assert_double_eq_tol(report->roof_least_gflops, report->peak_gflops, 1e-6);
    xgemm_trace_free(report);
}
END_TEST

/* The launches are the GPU's: the fewer multiprocessors, the fewer slices of k fill them. */
START_TEST(plan_of_a_gpu)
{
    static const char *const gpus[] = {"A2", "A100", "H200", NULL};
    xgemm_device device = {.struct_size = sizeof device};
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_SIM);
    ck_assert_int_eq(xgemm_set_kernel(handle, "pipelined-128x128"), XGEMM_OK);
    int64_t least = 1;
    for (int i = 0; gpus[i]; i++) {
        xgemm_plan plan = {.struct_size = sizeof plan, .device = &device};
        xgemm_trace_report *report = trace_on("pipelined-128x128", gpus[i], 512);
        ck_assert_int_eq(xgemm_device_find(gpus[i], &device), XGEMM_OK);
        ck_assert_int_eq(xgemm_sgemm_plan(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS,
                                          512, 512, 512, 1.0f, NULL, 512, NULL, 512, 0.0f, NULL,
                                          512, &plan),
                         XGEMM_OK);
        ck_assert_int_eq(report->k_parts, plan.split_k);
        ck_assert_int_ge(report->k_parts, least);
        least = report->k_parts;
        xgemm_trace_free(report);
    }
    ck_assert_int_gt(least, 1);
    xgemm_destroy(handle);
}
END_TEST

/* FP32 products on tensor cores: FP16's peak by three; on another compute capability: none. */
START_TEST(tensor_cores_of_a_gpu)
{
    const xgemm_trace_problem problem = cube(128);
    xgemm_device device = {.struct_size = sizeof device};
    ck_assert_int_eq(xgemm_device_find("A100", &device), XGEMM_OK);
    xgemm_trace_report *report;
    ck_assert_int_eq(xgemm_trace("fp16x3-128x64", &problem, &device, &report),
                     XGEMM_ERROR_NOT_SUPPORTED);
    ck_assert_int_eq(xgemm_device_find("H200", &device), XGEMM_OK);
    ck_assert_int_eq(xgemm_trace("fp16x3-128x64", &problem, &device, &report), XGEMM_OK);
    ck_assert_double_eq_tol(report->peak_gflops, device.peak_fp16_gflops / 3.0, 1e-6);
    ck_assert_double_eq_tol(report->roof_least_gflops,
                            report->flop_per_byte_least * device.peak_bandwidth_gbs, 1e-3);
    xgemm_trace_free(report);
    device.peak_fp16_gflops = 0.0;
    ck_assert_int_eq(xgemm_trace("fp16x3-128x64", &problem, &device, &report), XGEMM_OK);
    ck_assert(report->peak_gflops == 0.0 && report->roof_least_gflops == 0.0);
    xgemm_trace_free(report);
}
END_TEST

/* An older program's struct, which ends before what it does not know; read past its end, it is
   found by AddressSanitizer. */
START_TEST(device_of_an_older_program)
{
    const xgemm_trace_problem problem = cube(64);
    xgemm_device whole = {.struct_size = sizeof whole};
    ck_assert_int_eq(xgemm_device_find("A100", &whole), XGEMM_OK);
    const size_t size = offsetof(xgemm_device, peak_tf32_gflops);
    unsigned char *older = malloc(size);
    ck_assert_ptr_nonnull(older);
    whole.struct_size = size;
    memcpy(older, &whole, size);
    xgemm_trace_report *report;
    ck_assert_int_eq(xgemm_trace("tiled16", &problem, (const void *)older, &report), XGEMM_OK);
    ck_assert_int_eq(report->blocks_per_sm, 8);
    ck_assert_double_eq(report->peak_gflops, whole.peak_fp32_gflops);
    xgemm_trace_free(report);
    free(older);
}
END_TEST

START_TEST(no_gpu_no_figures)
{
    const xgemm_trace_problem problem = {.struct_size = sizeof problem, .m = 64, .n = 64, .k = 64};
    xgemm_trace_report *report;
    ck_assert_int_eq(xgemm_trace("tiled32", &problem, NULL, &report), XGEMM_OK);
    ck_assert_str_eq(report->device, "");
    ck_assert_int_eq(report->blocks_per_sm, 0);
    ck_assert_double_eq(report->roof_asked_gflops, 0.0);
    ck_assert_double_eq_tol(report->bytes_least, 4.0 * 3 * 64 * 64, 1e-9);
    xgemm_trace_free(report);
}
END_TEST

START_TEST(device_that_is_no_gpu)
{
    const xgemm_trace_problem problem = {.struct_size = sizeof problem, .m = 64, .n = 64, .k = 64};
    xgemm_device device = {.struct_size = sizeof device};
    xgemm_trace_report *report;
    ck_assert_int_eq(xgemm_device_get(XGEMM_DEVICE_CPU, &device), XGEMM_OK);
    ck_assert_int_eq(xgemm_trace("tiled32", &problem, &device, &report), XGEMM_ERROR_INVALID_VALUE);
    ck_assert_ptr_null(report);
}
END_TEST

/* ---- What is refused ---- */

static void assert_trace_refused(const char *kernel, const xgemm_trace_problem *problem,
                                 xgemm_status wanted, const char *part)
{
    static xgemm_trace_report somewhere;
    xgemm_trace_report *report = &somewhere;
    const xgemm_status status = xgemm_trace(kernel, problem, NULL, &report);
    assert_refused(NULL, status, wanted, "xgemm_trace: ", part);
    ck_assert_ptr_null(report);
}

START_TEST(null_pointers)
{
    const xgemm_trace_problem problem = cube(8);
    assert_trace_refused(NULL, &problem, XGEMM_ERROR_NULL_POINTER, "kernel is NULL");
    assert_trace_refused("tiled16", NULL, XGEMM_ERROR_NULL_POINTER, "problem is NULL");
    ck_assert_int_eq(xgemm_trace("tiled16", &problem, NULL, NULL), XGEMM_ERROR_NULL_POINTER);
    ck_assert_ptr_nonnull(strstr(xgemm_last_error(NULL), "report is NULL"));
    xgemm_trace_free(NULL);
}
END_TEST

START_TEST(kernels_that_cannot_be_traced)
{
    const xgemm_trace_problem problem = cube(8);
    assert_trace_refused("blas", &problem, XGEMM_ERROR_NOT_SUPPORTED, "kernel blas is for the CPU");
    assert_trace_refused("reference", &problem, XGEMM_ERROR_NOT_SUPPORTED,
                         "kernel reference is for");
    assert_trace_refused("nonsense", &problem, XGEMM_ERROR_UNKNOWN_KERNEL,
                         "no kernel \"nonsense\"");
    assert_trace_refused("nonsense", &problem, XGEMM_ERROR_UNKNOWN_KERNEL,
                         "the nearest names are ");
    assert_trace_refused("vectorised", &problem, XGEMM_ERROR_UNKNOWN_KERNEL, " vectorized");
}
END_TEST

/* One field of a problem that is right otherwise. */
static void assert_field_refused(size_t offset, int64_t value, xgemm_status wanted,
                                 const char *part)
{
    xgemm_trace_problem problem = cube(8);
    memcpy((char *)&problem + offset, &value, sizeof value);
    assert_trace_refused("tiled16", &problem, wanted, part);
}

START_TEST(sizes_and_leading_dimensions)
{
    static const int64_t sizes[] = {0, -1, INT64_MIN};
    for (int i = 0; i < COUNT(sizes); i++) {
        const xgemm_status wanted = XGEMM_ERROR_INVALID_VALUE;
        assert_field_refused(offsetof(xgemm_trace_problem, m), sizes[i], wanted, "at least 1");
        assert_field_refused(offsetof(xgemm_trace_problem, n), sizes[i], wanted, "at least 1");
        assert_field_refused(offsetof(xgemm_trace_problem, k), sizes[i], wanted, "at least 1");
    }
    static const int64_t short_ones[] = {7, 1, -1, INT64_MIN};
    for (int i = 0; i < COUNT(short_ones); i++) {
        const xgemm_status wanted = XGEMM_ERROR_INVALID_VALUE;
        assert_field_refused(offsetof(xgemm_trace_problem, lda), short_ones[i], wanted, "lda is ");
        assert_field_refused(offsetof(xgemm_trace_problem, ldb), short_ones[i], wanted, "ldb is ");
        assert_field_refused(offsetof(xgemm_trace_problem, ldc), short_ones[i], wanted, "ldc is ");
    }
    assert_field_refused(offsetof(xgemm_trace_problem, lda), INT64_MAX, XGEMM_ERROR_OVERFLOW,
                         "a has 8 rows");
    const xgemm_trace_problem huge = cube((int64_t)1 << 31);
    assert_trace_refused("tiled16", &huge, XGEMM_ERROR_OVERFLOW, "");
}
END_TEST

START_TEST(other_fields)
{
    const xgemm_status wanted = XGEMM_ERROR_INVALID_VALUE;
    assert_field_refused(offsetof(xgemm_trace_problem, struct_size), 0, wanted, "struct_size is 0");
    assert_field_refused(offsetof(xgemm_trace_problem, struct_size), 8, wanted, "struct_size is 8");
    assert_field_refused(offsetof(xgemm_trace_problem, most_blocks), -1, wanted, "most_blocks");
    xgemm_trace_problem problem = cube(8);
    problem.order = (xgemm_order)7;
    assert_trace_refused("tiled16", &problem, wanted, "order");
    problem = cube(8);
    problem.transa = (xgemm_transpose)7;
    assert_trace_refused("tiled16", &problem, wanted, "transa");
    problem = cube(8);
    problem.transb = (xgemm_transpose)7;
    assert_trace_refused("tiled16", &problem, wanted, "transb");
}
END_TEST

void add_trace_arguments(Suite *suite)
{
    TCase *cases = new_case(suite, "other products", TIMEOUT_S);
    tcase_add_loop_test(cases, types_of_products, 0, 6);
    tcase_add_loop_test(cases, halves_on_tensor_cores, 0, 2);
    tcase_add_test(cases, refused_products);

    TCase *gpus = new_case(suite, "on a GPU", TIMEOUT_S);
    tcase_add_test(gpus, occupancy_of_a_gpu);
    tcase_add_test(gpus, waves_of_a_gpu);
    tcase_add_test(gpus, roofline_of_a_gpu);
    tcase_add_test(gpus, plan_of_a_gpu);
    tcase_add_test(gpus, tensor_cores_of_a_gpu);
    tcase_add_test(gpus, device_of_an_older_program);
    tcase_add_test(gpus, no_gpu_no_figures);
    tcase_add_test(gpus, device_that_is_no_gpu);

    TCase *refused = new_case(suite, "what is refused", TIMEOUT_S);
    tcase_add_test(refused, null_pointers);
    tcase_add_test(refused, kernels_that_cannot_be_traced);
    tcase_add_test(refused, sizes_and_leading_dimensions);
    tcase_add_test(refused, other_fields);
}
