/* SPDX-License-Identifier: BSD-3-Clause */
/* The CUDA backend: kernels, their loading and their resources. */
#include "driver_support.h"

#include <stdlib.h>

static bool on_gpu(int index, xgemm_kernel_info *info)
{
    info->struct_size = sizeof *info;
    OK(NULL, xgemm_kernel_get(index, info));
    return (info->devices & XGEMM_RUNS_ON_CUDA) != 0;
}

static void multiply_in_layout(const xgemm_kernel_info *kernel, int layout)
{
    xgemm_handle *handle = create(0);
    shape s = odd;
    s.order = layout & 1 ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR;
    s.transa = layout & 2 ? XGEMM_TRANS : XGEMM_NO_TRANS;
    s.transb = layout & 4 ? XGEMM_CONJ_TRANS : XGEMM_NO_TRANS;
    OK(handle, xgemm_set_math(handle, kernel->math));
    OK(handle, xgemm_set_kernel(handle, kernel->name));
    multiply_rounded(handle, &s, kernel->math == XGEMM_MATH_TF32 ? 0x1p-10 : 0.0);
    ck_assert_str_eq(xgemm_last_kernel(handle), kernel->name);
    destroy(handle);
}

START_TEST(test_products)
{
    xgemm_kernel_info info;
    if (on_gpu(_i, &info)) {
        for (int layout = 0; layout < 8; layout++)
            multiply_in_layout(&info, layout);
        return;
    }
    xgemm_handle *handle = create(0);
    GIVES(XGEMM_ERROR_NOT_SUPPORTED, handle, xgemm_set_kernel(handle, info.name));
    destroy(handle);
}
END_TEST

/* Kernels that wait for the launch before them are told that they may begin earlier. */
START_TEST(test_launches_overlap)
{
    setenv("FAKE_CUDA_PTX", "90", 1);
    xgemm_handle *handle = create(0);
    int64_t before;
    do { /* a compact program may run until the kernel is translated */
        before = xgemm_fallback_count(handle);
        multiply(handle);
    } while (xgemm_fallback_count(handle) > before);
    ck_assert_int_gt(fake.calls("cuLaunchKernelEx"), 0);
    destroy(handle);
}
END_TEST

/* With alpha = 0, C becomes beta * C; A and B are never read. */
START_TEST(test_scale)
{
    xgemm_handle *handle = create(0);
    problem p = prepare(handle, &odd);
    OK(handle, xgemm_sgemm(handle, XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, odd.m, odd.n,
                           odd.k, 0.0f, NULL, odd.k, NULL, odd.n, -2.0f, p.device_c, p.ldc));
    ck_assert_ptr_null(xgemm_last_kernel(handle));
    OK(handle, xgemm_download(handle, p.result, p.device_c, p.c_count * sizeof(float)));
    for (size_t i = 0; i < p.c_count; i++) {
        const bool gap = i % (size_t)p.ldc >= (size_t)odd.n;
        ck_assert(p.result[i] == (gap ? p.c[i] : -2.0f * p.c[i]));
    }
    finish(handle, &p);
    destroy(handle);
}
END_TEST

static const struct {
    unsigned result;
    xgemm_status status;
    const char *name;
} load_failures[] = {
    {209, XGEMM_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
    {218, XGEMM_ERROR_NOT_SUPPORTED, "CUDA_ERROR_INVALID_PTX"},
    {221, XGEMM_ERROR_NOT_SUPPORTED, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND"},
    {222, XGEMM_ERROR_NOT_SUPPORTED, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
    {223, XGEMM_ERROR_NOT_SUPPORTED, "CUDA_ERROR_JIT_COMPILATION_DISABLED"},
    {200, XGEMM_ERROR_DRIVER, "CUDA_ERROR_INVALID_IMAGE"},
    {2, XGEMM_ERROR_OUT_OF_DEVICE_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
};

START_TEST(test_load_fails)
{
    xgemm_handle *handle = create(0);
    xgemm_kernel_resources resources = {.struct_size = sizeof resources};
    problem p = prepare(handle, &odd);
    OK(handle, xgemm_set_kernel(handle, "tiled32"));
    fail_next(LOADING, load_failures[_i].result);
    GIVES(load_failures[_i].status, handle, run(handle, &p));
    says(handle, "xgemm_sgemm: kernel ");
    says(handle, "tiled32");
    says(handle, load_failures[_i].name);
    ck_assert_ptr_null(xgemm_last_kernel(handle));
    GIVES(load_failures[_i].status, handle,
          xgemm_kernel_resources_get(handle, "tiled32", &resources));
    says(handle, "xgemm_kernel_resources_get: kernel ");
    fail_no_more(); /* the next call tries again */
    OK(handle, run(handle, &p));
    download_and_check(handle, &p);
    finish(handle, &p);
    destroy(handle);
}
END_TEST

/* A kernel that the driver is too old for is left out of what is chosen from; one by name is not.
 */
START_TEST(test_another_kernel_loads)
{
    xgemm_handle *handle = create(0);
    problem p = prepare(handle, &odd);
    OK(handle, run(handle, &p));
    const char *const first = xgemm_last_kernel(handle);
    finish(handle, &p);
    destroy(handle); /* the kernels are unloaded */

    handle = create(0);
    p = prepare(handle, &odd);
    /* Of PTX a compact program is loaded at the same time. */
    fail_nth(LOADING, load_failures[_i].result, 1, 2);
    OK(handle, run(handle, &p));
    download_and_check(handle, &p);
    const char *const second = xgemm_last_kernel(handle);
    ck_assert_str_ne(second, first);
    fail_no_more();
    OK(handle, run(handle, &p)); /* what was left out stays so */
    ck_assert_str_eq(xgemm_last_kernel(handle), second);
    OK(handle, xgemm_set_kernel(handle, first));
    xgemm_status by_name = run(handle, &p);
    if (by_name == XGEMM_ERROR_NOT_SUPPORTED) /* a translation that failed meanwhile, told once */
        by_name = run(handle, &p);
    OK(handle, by_name);
    ck_assert_str_eq(xgemm_last_kernel(handle), first);
    finish(handle, &p);
    destroy(handle);
}
END_TEST

START_TEST(test_no_kernel_loads)
{
    xgemm_handle *handle = create(0);
    problem p = prepare(handle, &odd);
    fail_next(LOADING, 222);
    GIVES(XGEMM_ERROR_NOT_SUPPORTED, handle, run(handle, &p));
    says(handle, "cannot be loaded on GPU 0");
    says(handle, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION");
    fail_no_more();
    finish(handle, &p);
    destroy(handle);
}
END_TEST

/* The module is unloaded when the function is not in it. */
START_TEST(test_function_fails)
{
    xgemm_handle *handle = create(0);
    problem p = prepare(handle, &odd);
    OK(handle, xgemm_set_kernel(handle, "naive"));
    fail_next("cuModuleGetFunction", 500);
    GIVES(XGEMM_ERROR_DRIVER, handle, run(handle, &p));
    says(handle, "cuModuleGetFunction failed: CUDA_ERROR_NOT_FOUND");
    ck_assert_int_eq(call_count(UNLOADING), 1);
    finish(handle, &p);
    destroy(handle);
    ck_assert_int_eq(call_count(UNLOADING), 1);
}
END_TEST

/*
 * A product of several launches loads all of its kernels first: what fails for memory before the
 * first launch has not written C, and what fails after it says so by its status.
 */
START_TEST(test_several_launches_fail)
{
    static const shape deep = {XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 40, 40, 5000};
    xgemm_handle *handle = create(0);
    problem p = prepare(handle, &deep);
    OK(handle, xgemm_set_kernel(handle, "pipelined-32x64"));
    const int loads = call_count(LOADING);
    OK(handle, run(handle, &p));
    const int kernels = call_count(LOADING) - loads;
    ck_assert_int_gt(kernels, 1);
    finish(handle, &p);
    destroy(handle); /* the kernels are unloaded */

    handle = create(0);
    p = prepare(handle, &deep);
    OK(handle, xgemm_set_kernel(handle, "pipelined-32x64"));
    const int launches = fake.calls("cuLaunchKernel");
    fail_nth(LOADING, 2, kernels, 1);
    GIVES(XGEMM_ERROR_OUT_OF_DEVICE_MEMORY, handle, run(handle, &p));
    ck_assert_int_eq(fake.calls("cuLaunchKernel"), launches);
    fail_no_more();
    fail_nth("cuLaunchKernel", 2, 2, 1);
    GIVES(XGEMM_ERROR_LAUNCH, handle, run(handle, &p));
    fail_no_more();
    OK(handle, run(handle, &p));
    download_and_check(handle, &p);
    finish(handle, &p);
    destroy(handle);
}
END_TEST

START_TEST(test_launch_fails)
{
    xgemm_handle *handle = create(0);
    problem p = prepare(handle, &odd);
    fail_next("cuLaunchKernel", XG_CUDA_ERROR_ILLEGAL_ADDRESS);
    GIVES(XGEMM_ERROR_LAUNCH, handle, run(handle, &p));
    says(handle, "xgemm_sgemm: cuLaunchKernel failed: CUDA_ERROR_ILLEGAL_ADDRESS");
    fail_next("cuLaunchKernel", 1);
    GIVES(XGEMM_ERROR_DRIVER, handle, run(handle, &p));
    fail_next("cuStreamSynchronize", XG_CUDA_ERROR_LAUNCH_FAILED);
    GIVES(XGEMM_ERROR_LAUNCH, handle, xgemm_synchronize(handle));
    says(handle, "xgemm_synchronize: cuStreamSynchronize failed: CUDA_ERROR_LAUNCH_FAILED");
    GIVES(XGEMM_ERROR_LAUNCH, handle, xgemm_download(handle, p.result, p.device_c, 4));
    fail_next("cuStreamSynchronize", 999);
    GIVES(XGEMM_ERROR_DRIVER, handle, xgemm_synchronize(handle));
    fail_no_more();
    finish(handle, &p);
    destroy(handle);
}
END_TEST

START_TEST(test_resources)
{
    xgemm_handle *handle = create(0);
    xgemm_kernel_info info;
    const bool runs = on_gpu(_i, &info);
    xgemm_kernel_resources r = {.struct_size = sizeof r};
    GIVES(runs ? XGEMM_OK : XGEMM_ERROR_NOT_SUPPORTED, handle,
          xgemm_kernel_resources_get(handle, info.name, &r));
    ck_assert_int_eq(r.registers, runs ? 40 : 0);
    ck_assert_int_eq(r.shared_bytes, runs ? 8192 : 0);
    ck_assert_int_eq(r.local_bytes, runs ? 16 : 0);
    ck_assert_int_eq(r.constant_bytes, runs ? 24 : 0);
    ck_assert_int_eq(r.max_threads, runs ? 768 : 0);
    ck_assert_int_eq(r.binary_version, !runs ? 0 : XGEMM_CUDA_OLDEST > 90 ? XGEMM_CUDA_OLDEST : 90);
    if (runs) {
        fail_next("cuFuncGetAttribute", 999);
        r.registers = 4711;
        GIVES(XGEMM_ERROR_DRIVER, handle, xgemm_kernel_resources_get(handle, info.name, &r));
        says(handle, "xgemm_kernel_resources_get: cuFuncGetAttribute failed");
        ck_assert_int_eq(r.registers, 4711);
    }
    destroy(handle);
}
END_TEST

void add_kernel_cases(Suite *suite)
{
    TCase *tcase = add_case(suite, "kernels", setup, teardown);
    tcase_add_loop_test(tcase, test_products, 0, xgemm_kernel_count());
    tcase_add_test(tcase, test_launches_overlap);
    tcase_add_test(tcase, test_scale);
    tcase_add_loop_test(tcase, test_load_fails, 0,
                        (int)(sizeof load_failures / sizeof *load_failures));
    tcase_add_loop_test(tcase, test_another_kernel_loads, 0, 3);
    tcase_add_test(tcase, test_no_kernel_loads);
    tcase_add_test(tcase, test_function_fails);
    tcase_add_test(tcase, test_several_launches_fail);
    tcase_add_test(tcase, test_launch_fails);
    tcase_add_loop_test(tcase, test_resources, 0, xgemm_kernel_count());
}
