/* SPDX-License-Identifier: BSD-3-Clause */
/* The CUDA backend: drivers that cannot be used. */
#include "driver_support.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* All that can be asked gives the status; GPU 0 does, too, if this build has kernels for it. */
static void unusable(xgemm_status status, const char *sentence)
{
    ck_assert_int_eq(xgemm_device_count(), 0);
    says(NULL, status == XGEMM_ERROR_NO_DEVICE ? "the CUDA driver finds no GPU" : sentence);
    cannot_get(status, 0);
    says(NULL, sentence);
    if (with_cuda())
        cannot_create(status, 0, sentence);
    else
        cannot_create(XGEMM_ERROR_NOT_SUPPORTED, 0, "without CUDA");
}

START_TEST(test_no_driver)
{
    no_driver();
    if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
        printf("SKIP: no driver: this system has one\n");
        return;
    }
    unusable(XGEMM_ERROR_NO_DRIVER, "no CUDA driver can be loaded: ");
    cannot_get(XGEMM_ERROR_NO_DRIVER, 0);
    says(NULL, "libcuda.so.1");
    auto_is_cpu();
}
END_TEST

/* The driver is there and cannot be loaded: no CPU instead, in silence. */
static void is_broken(const char *sentence)
{
    xgemm_handle *handle;
    unusable(XGEMM_ERROR_DRIVER, sentence);
    if (with_cuda())
        GIVES(XGEMM_ERROR_DRIVER, NULL, xgemm_create(&handle, XGEMM_DEVICE_AUTO));
}

START_TEST(test_no_library)
{
    no_driver();
    FILE *file = fopen(libcuda, "w");
    ck_assert_ptr_nonnull(file);
    for (int i = 0; i < 100; i++)
        fputs("This is no shared library.\n", file);
    fclose(file);
    is_broken("the CUDA driver cannot be loaded: ");
}
END_TEST

/* Such a file is the driver's place in a container's image, and stays so without a GPU. */
START_TEST(test_empty_library)
{
    no_driver();
    FILE *file = fopen(libcuda, "w");
    ck_assert_ptr_nonnull(file);
    fclose(file);
    unusable(XGEMM_ERROR_NO_DRIVER, "no CUDA driver can be loaded: ");
    auto_is_cpu();
}
END_TEST

START_TEST(test_no_descriptors)
{
    struct rlimit before, none;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    is_broken("Too many open files");
    setrlimit(RLIMIT_NOFILE, &before);
    ck_assert_int_eq(xgemm_device_count(), 1);
}
END_TEST

START_TEST(test_old_driver)
{
    set("FAKE_CUDA_VERSION", 10020);
    unusable(XGEMM_ERROR_DRIVER_TOO_OLD, "version 10.2; libxgemm needs 11.0");
    auto_is_cpu();
}
END_TEST

START_TEST(test_oldest_driver)
{
    set("FAKE_CUDA_VERSION", XG_CU_OLDEST);
    ck_assert_int_eq(xgemm_device_count(), 1);
}
END_TEST

START_TEST(test_missing_symbol)
{
    install("fake_cuda_old.so");
    unusable(XGEMM_ERROR_DRIVER_TOO_OLD, "cuMemAlloc_v2");
    auto_is_cpu();
}
END_TEST

/* A driver of CUDA 11.8 launches no kernel with tensor maps: none is taken, and one named is
 * refused. */
START_TEST(test_without_tensor_maps)
{
    static const shape shapes[] = {
        {XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_NO_TRANS, 256, 1600, 128},
        {XGEMM_ROW_MAJOR, XGEMM_NO_TRANS, XGEMM_TRANS, 256, 256, 256},
    };
    install("fake_cuda_11_8.so");
    set("FAKE_CUDA_VERSION", 11080);
    if (!with_cuda() || XGEMM_CUDA_OLDEST > 89)
        return;
    xgemm_handle *handle = create(0);
    OK(handle, xgemm_set_reproducible(handle, XGEMM_REPRODUCIBLE_NONE)); /* it waits nevertheless */
    for (xgemm_math math = XGEMM_MATH_DEFAULT; math <= XGEMM_MATH_TF32; math++) {
        OK(handle, xgemm_set_math(handle, math));
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            multiply_rounded(handle, &shapes[i], 0.0);
    }
    ck_assert_int_eq(xgemm_fallback_count(handle), 0);
    GIVES(XGEMM_ERROR_DRIVER_TOO_OLD, handle, xgemm_set_kernel(handle, "tma-128x128"));
    says(handle, "no cuTensorMapEncodeTiled, which CUDA 12.0 has");
    destroy(handle);
    set("FAKE_CUDA_CC", XGEMM_CUDA_OLDEST); /* a newer driver would not help there */
    handle = create(0);
    GIVES(XGEMM_ERROR_NOT_SUPPORTED, handle, xgemm_set_kernel(handle, "tma-128x128"));
    says(handle, "is for compute capability 9.0 alone");
    destroy(handle);
}
END_TEST

START_TEST(test_version_fails)
{
    setenv("FAKE_CUDA_FAIL", "cuDriverGetVersion:999", 1);
    unusable(XGEMM_ERROR_DRIVER, "cuDriverGetVersion failed: CUDA_ERROR_UNKNOWN (unknown error)");
}
END_TEST

START_TEST(test_init_no_device)
{
    set("FAKE_CUDA_INIT", XG_CUDA_ERROR_NO_DEVICE);
    unusable(XGEMM_ERROR_NO_DEVICE, "the CUDA driver finds no GPU");
    auto_is_cpu();
}
END_TEST

/* And says what may be done about it. */
START_TEST(test_no_gpu_is_visible)
{
    set("FAKE_CUDA_INIT", XG_CUDA_ERROR_NO_DEVICE);
    setenv("CUDA_VISIBLE_DEVICES", "7", 1);
    unusable(XGEMM_ERROR_NO_DEVICE, "CUDA_VISIBLE_DEVICES is \"7\"");
    if (access("/dev/nvidiactl", F_OK) && access("/dev/dxg", F_OK))
        unusable(XGEMM_ERROR_NO_DEVICE, "there is no /dev/nvidiactl");
    set("FAKE_CUDA_INIT", XG_CUDA_ERROR_INVALID_DEVICE);
    cannot_get(XGEMM_ERROR_NO_DEVICE, 0);
    says(NULL, "CUDA_VISIBLE_DEVICES is \"7\"");
    set("FAKE_CUDA_INIT", XG_CUDA_ERROR_UNKNOWN);
    unusable(XGEMM_ERROR_DRIVER, "CUDA_VISIBLE_DEVICES is \"7\"");
    unsetenv("CUDA_VISIBLE_DEVICES");
}
END_TEST

START_TEST(test_init_fails)
{
    set("FAKE_CUDA_INIT", 999);
    unusable(XGEMM_ERROR_DRIVER, "cuInit failed: CUDA_ERROR_UNKNOWN (unknown error)");
}
END_TEST

/* A result that the driver itself cannot name. */
START_TEST(test_init_fails_oddly)
{
    set("FAKE_CUDA_INIT", 4711);
    unusable(XGEMM_ERROR_DRIVER, "cuInit failed: ");
}
END_TEST

/* NVIDIA's stub library answers every call so: there is no driver. */
START_TEST(test_stub)
{
    set("FAKE_CUDA_INIT", XG_CUDA_ERROR_STUB_LIBRARY);
    unusable(XGEMM_ERROR_NO_DRIVER, "stub library");
    unsetenv("FAKE_CUDA_INIT");
    setenv("FAKE_CUDA_FAIL", "cuDriverGetVersion:34", 1);
    unusable(XGEMM_ERROR_NO_DRIVER, "LD_LIBRARY_PATH");
    auto_is_cpu();
}
END_TEST

static const struct {
    int result;
    const char *advice;
} advised[] = {{XG_CUDA_ERROR_NOT_INITIALIZED, "after a fork()"},
               {XG_CUDA_ERROR_OPERATING_SYSTEM, "/dev/nvidia-uvm"},
               {XG_CUDA_ERROR_SYSTEM_NOT_READY, "nvidia-fabricmanager"},
               {XG_CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "different versions"},
               {XG_CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, "cuda-compat"}};

/* The system's faults are no reason to take the CPU and to say nothing. */
START_TEST(test_advice)
{
    set("FAKE_CUDA_INIT", advised[_i].result);
    is_broken(advised[_i].advice);
}
END_TEST

START_TEST(test_no_devices)
{
    set("FAKE_CUDA_DEVICES", 0);
    unusable(XGEMM_ERROR_NO_DEVICE,
             with_cuda() ? "the CUDA driver finds no GPU" : "there is no GPU 0");
    auto_is_cpu();
}
END_TEST

/* The next call tries again. */
START_TEST(test_driver_comes_later)
{
    set("FAKE_CUDA_INIT", XG_CUDA_ERROR_NO_DEVICE);
    unusable(XGEMM_ERROR_NO_DEVICE, "finds no GPU");
    unsetenv("FAKE_CUDA_INIT");
    ck_assert_int_eq(xgemm_device_count(), 1);
    no_driver(); /* and what was opened stays open */
    ck_assert_int_eq(xgemm_device_count(), 1);
    xgemm_device description = {.struct_size = sizeof description};
    OK(NULL, xgemm_device_get(0, &description));
}
END_TEST

START_TEST(test_without_kernels)
{
    if (with_cuda())
        return;
    cannot_create(XGEMM_ERROR_NOT_SUPPORTED, 0, "without CUDA");
    auto_is_cpu();
}
END_TEST

void add_load_cases(Suite *suite)
{
    TCase *tcase = add_case(suite, "load", setup_load, NULL);
    tcase_add_test(tcase, test_no_driver);
    tcase_add_test(tcase, test_no_library);
    tcase_add_test(tcase, test_empty_library);
    tcase_add_test(tcase, test_no_descriptors);
    tcase_add_test(tcase, test_old_driver);
    tcase_add_test(tcase, test_oldest_driver);
    tcase_add_test(tcase, test_missing_symbol);
    tcase_add_test(tcase, test_without_tensor_maps);
    tcase_add_test(tcase, test_version_fails);
    tcase_add_test(tcase, test_init_no_device);
    tcase_add_test(tcase, test_no_gpu_is_visible);
    tcase_add_test(tcase, test_init_fails);
    tcase_add_test(tcase, test_init_fails_oddly);
    tcase_add_test(tcase, test_stub);
    tcase_add_loop_test(tcase, test_advice, 0, sizeof advised / sizeof *advised);
    tcase_add_test(tcase, test_no_devices);
    tcase_add_test(tcase, test_driver_comes_later);
    tcase_add_test(tcase, test_without_kernels);
}
