/* SPDX-License-Identifier: BSD-3-Clause */
/* The CUDA backend: what is told of devices, and which ones a handle gets. */
#include "driver_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

START_TEST(test_device_of_too_few)
{
    ck_assert_int_eq(xgemm_device_count(), 1);
    cannot_create(XGEMM_ERROR_NO_DEVICE, 5, "there is no GPU 5; the CUDA driver has 1");
    cannot_get(XGEMM_ERROR_NO_DEVICE, 5);
    says(NULL, "xgemm_device_get: there is no GPU 5; the CUDA driver has 1");
    setenv("XGEMM_DEVICE", "5", 1);
    cannot_create(XGEMM_ERROR_NO_DEVICE, XGEMM_DEVICE_AUTO, "there is no GPU 5");
}
END_TEST

START_TEST(test_old_device)
{
    const int capability = XGEMM_CUDA_OLDEST > 75 ? 75 : 30;
    char needs[64], has[64];
    snprintf(has, sizeof has, "compute capability %d.%d", capability / 10, capability % 10);
    snprintf(needs, sizeof needs, "need %d.%d", XGEMM_CUDA_OLDEST / 10, XGEMM_CUDA_OLDEST % 10);
    set("FAKE_CUDA_CC", capability);
    cannot_create(XGEMM_ERROR_NOT_SUPPORTED, 0, has);
    says(NULL, needs);
    auto_is_cpu();
    xgemm_device description = {.struct_size = sizeof description};
    OK(NULL, xgemm_device_get(0, &description));
    ck_assert_int_eq(description.compute_capability, capability);
}
END_TEST

START_TEST(test_oldest_device)
{
    set("FAKE_CUDA_CC", XGEMM_CUDA_OLDEST);
    destroy(create(0));
}
END_TEST

START_TEST(test_auto_is_gpu)
{
    xgemm_handle *handle;
    OK(NULL, xgemm_create(&handle, XGEMM_DEVICE_AUTO));
    ck_assert_int_eq(xgemm_get_device(handle), 0);
    multiply(handle);
    destroy(handle);
    setenv("XGEMM_DEVICE", "cpu", 1);
    auto_is_cpu();
}
END_TEST

/* A handle that fails after its device was opened closes it. */
START_TEST(test_environment_names_no_kernel)
{
    setenv("XGEMM_KERNEL", "nonesuch", 1);
    cannot_create(XGEMM_ERROR_ENVIRONMENT, 0, "nonesuch");
    ck_assert_int_eq(fake.calls("cuDevicePrimaryCtxRetain"), 1);
    ck_assert_int_eq(fake.retains(0), 0);
    setenv("XGEMM_KERNEL", "reference", 1);
    cannot_create(XGEMM_ERROR_ENVIRONMENT, 0, "kernel reference is not for the ");
    setenv("XGEMM_KERNEL", "tma-128x128", 1);
    set("FAKE_CUDA_CC", 80);
    cannot_create(XGEMM_ERROR_ENVIRONMENT, 0, "for compute capability 9.0 alone");
}
END_TEST

/* A child of fork(), whose driver does not work: no CPU instead, in silence. */
/* A kernel by name whose blocks need more shared memory than those of the device have. */
START_TEST(test_kernel_beyond_shared_memory)
{
    set("FAKE_CUDA_CC", 86);
    set("FAKE_CUDA_SHARED", 101376);
    xgemm_handle *handle = create(0);
    ck_assert_int_eq(xgemm_set_kernel(handle, "fp16x3-mma-128x64"), XGEMM_ERROR_NOT_SUPPORTED);
    says(handle, "bytes of shared memory for a block");
    OK(handle, xgemm_set_kernel(handle, "fp16x3-mma-64x64"));
    destroy(handle);
    set("FAKE_CUDA_SHARED", 232448);
    handle = create(0);
    OK(handle, xgemm_set_kernel(handle, "fp16x3-mma-128x64"));
    destroy(handle);
}
END_TEST

START_TEST(test_after_a_fork)
{
    xgemm_handle *handle;
    destroy(create(0));
    fail_next("cuDeviceGet", XG_CUDA_ERROR_NOT_INITIALIZED);
    cannot_create(XGEMM_ERROR_DRIVER, 0, "cuDeviceGet failed");
    says(NULL, "after a fork()");
    fail_next("cuDeviceGet", XG_CUDA_ERROR_NOT_INITIALIZED);
    GIVES(XGEMM_ERROR_DRIVER, NULL, xgemm_create(&handle, XGEMM_DEVICE_AUTO));
    ck_assert_ptr_null(handle);
}
END_TEST

START_TEST(test_create_fails)
{
    fail_next("cuDeviceGetAttribute", 999);
    cannot_create(XGEMM_ERROR_DRIVER, 0, "cuDeviceGetAttribute failed: CUDA_ERROR_UNKNOWN");
    fail_next("cuDevicePrimaryCtxRetain", 999);
    cannot_create(XGEMM_ERROR_DRIVER, 0, "cuDevicePrimaryCtxRetain failed: CUDA_ERROR_UNKNOWN");
    fail_next("cuDevicePrimaryCtxRetain", XG_CUDA_ERROR_OUT_OF_MEMORY);
    cannot_create(XGEMM_ERROR_OUT_OF_DEVICE_MEMORY, 0, "CUDA_ERROR_OUT_OF_MEMORY");
    /* What an image without code for the GPU gives: of another call no reason to take the CPU. */
    fail_next("cuDevicePrimaryCtxRetain", XG_CUDA_ERROR_NO_BINARY_FOR_GPU);
    cannot_create(XGEMM_ERROR_DRIVER, XGEMM_DEVICE_AUTO, "CUDA_ERROR_NO_BINARY_FOR_GPU");
    fail_next("cuDeviceGetAttribute", XG_CUDA_ERROR_INVALID_PTX);
    cannot_create(XGEMM_ERROR_DRIVER, XGEMM_DEVICE_AUTO, "CUDA_ERROR_INVALID_PTX");
    fail_no_more();
    destroy(create(0));
}
END_TEST

static bool close_to(double x, double y)
{
    return fabs(x - y) <= 1e-9 * fabs(y);
}

START_TEST(test_device_fields)
{
    xgemm_device d = {.struct_size = sizeof d};
    set("FAKE_CUDA_CC", 89);
    set("FAKE_CUDA_VERSION", 12040);
    set("FAKE_CUDA_MEMORY", 123456789012);
    OK(NULL, xgemm_device_get(1, &d));
    ck_assert_int_eq(d.ordinal, 1);
    ck_assert_int_eq(d.compute_capability, 89);
    ck_assert_str_eq(d.name, "Fake CUDA device 1");
    ck_assert_str_eq(d.detail, "CUDA driver 12.4");
    ck_assert_int_eq(d.multiprocessors, 132);
    ck_assert_int_eq(d.fp32_lanes, 128);
    ck_assert_int_eq(d.threads_per_sm, 2048);
    ck_assert_int_eq(d.blocks_per_sm, 32);
    ck_assert_int_eq(d.threads_per_block, 1024);
    ck_assert_int_eq(d.registers_per_sm, 65536);
    ck_assert_int_eq(d.shared_per_sm, 233472);
    ck_assert_int_eq(d.shared_per_block, 232448);
    ck_assert_int_eq(d.l2_bytes, 62914560);
    ck_assert_int_eq(d.memory_bytes, 123456789012);
    ck_assert_int_eq(d.memory_bus_bits, 6144);
    ck_assert(close_to(d.core_clock_mhz, 1980.0));
    ck_assert(close_to(d.memory_clock_mhz, 3201.0));
    ck_assert(close_to(d.peak_fp32_gflops, 132 * 128 * 2 * 1.98));
    ck_assert(close_to(d.peak_bandwidth_gbs, 2 * 3.201 * 6144 / 8));
    ck_assert(close_to(d.balance_flop_per_byte, d.peak_fp32_gflops / d.peak_bandwidth_gbs));
    ck_assert_int_eq(d.warps_per_sm, 64);
    ck_assert_int_eq(d.registers_per_block, 65536);
    ck_assert_int_eq(d.registers_per_thread, 255);
    ck_assert_int_eq(d.shared_per_block_static, 49152);
    ck_assert_int_eq(d.shared_reserved, 1024);
    ck_assert_int_eq(d.cluster_blocks, 0);
    ck_assert_int_eq(d.limits_from, 89);
    ck_assert(d.peak_fp16_gflops == 0.0);
    ck_assert_str_eq(d.source, "");
    ck_assert_int_eq(fake.retains(1), 0);
}
END_TEST

static void same_granules(const xgemm_device *d, const char *capability)
{
    xgemm_device known = {.struct_size = sizeof known};
    OK(NULL, xgemm_device_find(capability, &known));
    ck_assert_int_eq(d->limits_from, known.compute_capability);
    ck_assert_int_eq(d->fp32_lanes, known.fp32_lanes);
    ck_assert_int_eq(d->registers_per_thread, known.registers_per_thread);
    ck_assert_int_eq(d->register_granule, known.register_granule);
    ck_assert_int_eq(d->warp_granule, known.warp_granule);
    ck_assert_int_eq(d->shared_granule, known.shared_granule);
}

/* Limits are the driver's, granules those of the nearest older compute capability. */
START_TEST(test_device_newer)
{
    static const struct {
        int capability;
        const char *granules;
    } cases[] = {{130, "12.1"}, {91, "9.0"}, {101, "10.0"}, {255, "12.1"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        xgemm_device d = {.struct_size = sizeof d};
        set("FAKE_CUDA_CC", cases[i].capability);
        OK(NULL, xgemm_device_get(0, &d));
        ck_assert_int_eq(d.compute_capability, cases[i].capability);
        ck_assert_int_eq(d.threads_per_sm, 2048);
        ck_assert_int_eq(d.shared_per_sm, 233472);
        ck_assert_int_eq(d.cluster_blocks, 8);
        same_granules(&d, cases[i].granules);
        ck_assert(close_to(d.peak_fp32_gflops, 132 * d.fp32_lanes * 2 * 1.98));
    }
}
END_TEST

/* Older than every table: no lanes, hence no peak; the rest goes on. */
START_TEST(test_device_older)
{
    xgemm_device d = {.struct_size = sizeof d};
    set("FAKE_CUDA_CC", 61);
    OK(NULL, xgemm_device_get(0, &d));
    ck_assert_int_eq(d.fp32_lanes, 0);
    ck_assert(d.peak_fp32_gflops == 0.0 && d.balance_flop_per_byte == 0.0);
    ck_assert_int_eq(d.limits_from, 70);
    ck_assert_int_gt(d.register_granule, 0);
}
END_TEST

static double fp16_of(const char *name, int capability)
{
    xgemm_device d = {.struct_size = sizeof d};
    setenv("FAKE_CUDA_NAME", name, 1);
    set("FAKE_CUDA_CC", capability);
    OK(NULL, xgemm_device_get(0, &d));
    ck_assert_str_eq(d.name, name);
    return d.peak_fp16_gflops;
}

/* The fake has 132 multiprocessors: a product of that name with fewer is another one. */
START_TEST(test_device_of_catalog)
{
    xgemm_device known = {.struct_size = sizeof known};
    OK(NULL, xgemm_device_find("H200 SXM", &known));
    ck_assert(known.peak_fp16_gflops > 0.0);
    ck_assert(close_to(fp16_of("NVIDIA H200", 90), known.peak_fp16_gflops));
    ck_assert(fp16_of("NVIDIA H200", 100) == 0.0);
    ck_assert(fp16_of("NVIDIA H200 MIG 1g.18gb", 90) == 0.0);
    ck_assert(fp16_of("NVIDIA H100 PCIe", 90) == 0.0);
    ck_assert(fp16_of("NVIDIA", 90) == 0.0);
    ck_assert(fp16_of("", 90) == 0.0);
}
END_TEST

/* What the driver does not know is 0; what it fails to tell is an error. */
START_TEST(test_device_fields_unknown)
{
    xgemm_device d = {.struct_size = sizeof d};
    fail_next("cuDeviceGetAttribute", 1); /* CUDA_ERROR_INVALID_VALUE */
    OK(NULL, xgemm_device_get(0, &d));
    ck_assert_int_eq(d.multiprocessors, 0);
    ck_assert_int_eq(d.compute_capability, 0);
    ck_assert_int_eq(d.fp32_lanes, 0);
    ck_assert_int_eq(d.limits_from, 0);
    ck_assert(d.peak_fp32_gflops == 0.0);
    ck_assert_str_eq(d.name, "Fake CUDA device 0");
    fail_next("cuDeviceGetAttribute", 999);
    GIVES(XGEMM_ERROR_DRIVER, NULL, xgemm_device_get(0, &d));
}
END_TEST

START_TEST(test_count)
{
    set("FAKE_CUDA_DEVICES", 7);
    ck_assert_int_eq(xgemm_device_count(), 7);
    fail_next("cuDeviceGetCount", 999);
    ck_assert_int_eq(xgemm_device_count(), 0);
    says(NULL, "xgemm_device_count: cuDeviceGetCount failed: CUDA_ERROR_UNKNOWN");
}
END_TEST

void add_query_cases(Suite *suite)
{
    TCase *tcase = add_case(suite, "queries", setup_two, teardown);
    tcase_add_test(tcase, test_device_fields);
    tcase_add_test(tcase, test_device_fields_unknown);
    tcase_add_test(tcase, test_device_newer);
    tcase_add_test(tcase, test_device_older);
    tcase_add_test(tcase, test_device_of_catalog);
    tcase_add_test(tcase, test_count);
}

/* A struct of each size that a program could have been compiled with: nothing beyond is written. */
START_TEST(test_older_structs)
{
    unsigned char bytes[sizeof(xgemm_device) + 64];
    xgemm_device full = {.struct_size = sizeof full};
    OK(NULL, xgemm_device_get(0, &full));
    for (size_t size = sizeof(size_t); size <= sizeof full; size++) {
        memset(bytes, 0xa5, sizeof bytes);
        memcpy(bytes, &size, sizeof size);
        OK(NULL, xgemm_device_get(0, (xgemm_device *)(void *)bytes));
        ck_assert_mem_eq(bytes + sizeof size, (char *)&full + sizeof size, size - sizeof size);
        for (size_t i = size; i < sizeof bytes; i++)
            ck_assert_uint_eq(bytes[i], 0xa5);
    }
}
END_TEST

START_TEST(test_identity)
{
    xgemm_device d = {.struct_size = sizeof d};
    OK(NULL, xgemm_device_get(0, &d));
    ck_assert_str_eq(d.pci_address, "0000:18:00.0");
    ck_assert_str_eq(d.uuid, "GPU-00102030-4050-6070-8090-a0b0c0d0e0f0");
    ck_assert_int_eq(d.ecc, 1);
    ck_assert_int_eq(d.mig, -1);
    ck_assert_int_eq(d.numa_node, 0);
    set("FAKE_CUDA_ECC", 0);
    set("FAKE_CUDA_NUMA", 3);
    setenv("FAKE_CUDA_NAME", "NVIDIA H100 80GB HBM3 MIG 1g.10gb", 1);
    OK(NULL, xgemm_device_get(0, &d));
    ck_assert_str_eq(d.uuid, "MIG-00102030-4050-6070-8090-a0b0c0d0e0f0");
    ck_assert_int_eq(d.ecc, -1);
    ck_assert_int_eq(d.mig, 1);
    ck_assert_int_eq(d.numa_node, 3);
    unsetenv("FAKE_CUDA_ECC");
    unsetenv("FAKE_CUDA_NUMA");
    fail_next("cuDeviceGetUuid_v2", 999);
    d.uuid[0] = 'x';
    OK(NULL, xgemm_device_get(0, &d));
    ck_assert_str_eq(d.uuid, "");
    fail_no_more();
    OK(NULL, xgemm_device_get(XGEMM_DEVICE_CPU, &d));
    ck_assert_int_eq(d.numa_node, -1);
    ck_assert_int_eq(d.ecc, 0);
}
END_TEST

void add_device_cases(Suite *suite)
{
    TCase *tcase = add_case(suite, "one device", setup, teardown);
    tcase_add_test(tcase, test_device_of_too_few);
    tcase_add_test(tcase, test_identity);
    tcase_add_test(tcase, test_older_structs);
    tcase_add_test(tcase, test_old_device);
    tcase_add_test(tcase, test_oldest_device);
    tcase_add_test(tcase, test_auto_is_gpu);
    tcase_add_test(tcase, test_environment_names_no_kernel);
    tcase_add_test(tcase, test_after_a_fork);
    tcase_add_test(tcase, test_kernel_beyond_shared_memory);
    tcase_add_test(tcase, test_kernel_beyond_shared_memory);
    tcase_add_test(tcase, test_create_fails);
}
