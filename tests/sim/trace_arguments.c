/* SPDX-License-Identifier: BSD-3-Clause */
/* The other arguments of xgemm_trace(): a GPU's figures, and what is refused. */
#include "traces.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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
                         "a has 8 lines");
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
