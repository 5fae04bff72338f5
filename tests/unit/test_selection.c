/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels and devices that are asked for, by the caller and in the environment.
 * What changes the environment does so in the child in which Check runs the test.
 */
#include "calls.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Kernels ---- */

/* The nearest names: between one and three, each auto or a kernel of the device. */
static void assert_names_nearest(const char *sentence, int device)
{
    static const char before[] = "the nearest names are ";
    char names[256];
    int indices[64], named = 0;
    const int count = kernels_of(device, indices, COUNT(indices));
    const char *const list = strstr(sentence, before);
    ck_assert_msg(list != NULL, "no names in \"%s\"", sentence);
    snprintf(names, sizeof names, "%s", list + strlen(before));
    for (char *rest, *name = strtok_r(names, ", ", &rest); name;
         name = strtok_r(NULL, ", ", &rest)) {
        bool known = strcmp(name, "auto") == 0;
        for (int i = 0; i < count && !known; i++) {
            xgemm_kernel_info info = {.struct_size = sizeof info};
            ck_assert_int_eq(xgemm_kernel_get(indices[i], &info), XGEMM_OK);
            known = strcmp(name, info.name) == 0;
        }
        ck_assert_msg(known, "\"%s\" is no kernel of the device", name);
        named++;
    }
    ck_assert_int_ge(named, 1);
    ck_assert_int_le(named, 3);
}

START_TEST(unknown_kernels)
{
    static const char *const names[] = {"", "nonsense", "NAIVE", "naive ", "Auto", "%s%n", "ref"};
    memory m = memory_new(test_device());
    ck_assert_int_eq(xgemm_set_kernel(m.handle, test_kernel(0)), XGEMM_OK);
    for (int i = 0; i < COUNT(names); i++) {
        char part[32];
        snprintf(part, sizeof part, "\"%s\"", names[i]);
        assert_refused(m.handle, xgemm_set_kernel(m.handle, names[i]), XGEMM_ERROR_UNKNOWN_KERNEL,
                       "xgemm_set_kernel: ", part);
        assert_names_nearest(xgemm_last_error(m.handle), test_device());
    }
    const call c = good_call(0);
    assert_call_works(&m, &c);
    ck_assert_str_eq(xgemm_last_kernel(m.handle), test_kernel(0)); /* the setting is as before */
    memory_free(&m);
}
END_TEST

START_TEST(misspelt_kernels)
{
    xgemm_handle *handle = open_handle(XGEMM_DEVICE_SIM);
    assert_refused(handle, xgemm_set_kernel(handle, "pipelined-64x12"), XGEMM_ERROR_UNKNOWN_KERNEL,
                   "xgemm_set_kernel: ", "names are pipelined-64x128, ");
    assert_refused(handle, xgemm_set_kernel(handle, "naiv"), XGEMM_ERROR_UNKNOWN_KERNEL,
                   "xgemm_set_kernel: ", "names are naive, ");
    assert_refused(handle, xgemm_set_kernel(handle, "pipelind"), XGEMM_ERROR_UNKNOWN_KERNEL,
                   "xgemm_set_kernel: ", "names are pipelined-");
    xgemm_destroy(handle);
    handle = open_handle(XGEMM_DEVICE_CPU);
    assert_refused(handle, xgemm_set_kernel(handle, "pipelned-64x128"), XGEMM_ERROR_UNKNOWN_KERNEL,
                   "xgemm_set_kernel: ", "other devices have pipelined-64x128; ");
    assert_refused(handle, xgemm_set_kernel(handle, "referenc"), XGEMM_ERROR_UNKNOWN_KERNEL,
                   "xgemm_set_kernel: ", "device; the nearest names are reference, ");
    xgemm_destroy(handle);
}
END_TEST

START_TEST(long_kernel_name)
{
    xgemm_handle *handle = open_handle(test_device());
    char name[5000];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    assert_refused(handle, xgemm_set_kernel(handle, name), XGEMM_ERROR_UNKNOWN_KERNEL,
                   "xgemm_set_kernel: ", "xxxx");
    assert_names_nearest(xgemm_last_error(handle), test_device());
    xgemm_destroy(handle);
}
END_TEST

/* A kernel that the device under test does not run. */
static const char *foreign_kernel(void)
{
    return test_device() == XGEMM_DEVICE_CPU ? "naive" : "reference";
}

START_TEST(kernels_of_other_devices)
{
    memory m = memory_new(test_device());
    ck_assert_int_eq(xgemm_set_kernel(m.handle, test_kernel(0)), XGEMM_OK);
    assert_refused(m.handle, xgemm_set_kernel(m.handle, foreign_kernel()),
                   XGEMM_ERROR_NOT_SUPPORTED, "xgemm_set_kernel: ", foreign_kernel());
    const call c = good_call(0);
    assert_call_works(&m, &c);
    ck_assert_str_eq(xgemm_last_kernel(m.handle), test_kernel(0));
    memory_free(&m);
}
END_TEST

START_TEST(automatic_kernel)
{
    memory m = memory_new(test_device());
    const call c = good_call(0);
    ck_assert_int_eq(xgemm_set_kernel(m.handle, "auto"), XGEMM_OK);
    assert_call_works(&m, &c);
    ck_assert_int_eq(xgemm_set_kernel(m.handle, NULL), XGEMM_OK);
    assert_call_works(&m, &c);
    ck_assert_ptr_nonnull(xgemm_last_kernel(m.handle));
    memory_free(&m);
}
END_TEST

START_TEST(table_of_kernels)
{
    const int count = xgemm_kernel_count();
    xgemm_kernel_info info = {.struct_size = sizeof info}, other = info;
    ck_assert_int_gt(count, 0);
    for (int i = 0; i < count; i++) {
        ck_assert_int_eq(xgemm_kernel_get(i, &info), XGEMM_OK);
        ck_assert_uint_eq(info.struct_size, sizeof info);
        ck_assert(*info.name && *info.summary);
        for (int j = 0; j < i; j++) {
            ck_assert_int_eq(xgemm_kernel_get(j, &other), XGEMM_OK);
            ck_assert_str_ne(info.name, other.name);
        }
        if (info.devices & (XGEMM_RUNS_ON_SIM | XGEMM_RUNS_ON_CUDA))
            ck_assert(info.tile_m > 0 && info.tile_n > 0 && info.tile_k > 0 && info.threads > 0 &&
                      info.threads <= 1024 && info.flop_per_byte > 0.0);
    }
    const int outside[] = {-1, count, INT_MAX, INT_MIN};
    for (int i = 0; i < COUNT(outside); i++)
        assert_refused(NULL, xgemm_kernel_get(outside[i], &info), XGEMM_ERROR_INVALID_VALUE,
                       "xgemm_kernel_get: ", "index is");
    assert_refused(NULL, xgemm_kernel_get(0, NULL), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_kernel_get: ", "info is NULL");
}
END_TEST

START_TEST(resources_of_kernels)
{
    xgemm_handle *handle = open_handle(test_device());
    xgemm_kernel_resources resources = {.struct_size = sizeof resources};
    const char *name = test_kernel(0), *function = "xgemm_kernel_resources_get: ";
    const xgemm_status status = xgemm_kernel_resources_get(handle, name, &resources);
    if (test_device() >= 0) {
        ck_assert_msg(status == XGEMM_OK, "%s", xgemm_last_error(handle));
        ck_assert(resources.registers > 0 && resources.binary_version > 0);
    } else {
        assert_refused(handle, status, XGEMM_ERROR_NOT_SUPPORTED, function, "GPU");
    }
    assert_refused(handle, xgemm_kernel_resources_get(handle, "nonsense", &resources),
                   XGEMM_ERROR_UNKNOWN_KERNEL, function, "nonsense");
    assert_refused(handle, xgemm_kernel_resources_get(handle, foreign_kernel(), &resources),
                   XGEMM_ERROR_NOT_SUPPORTED, function, foreign_kernel());
    assert_refused(handle, xgemm_kernel_resources_get(handle, NULL, &resources),
                   XGEMM_ERROR_NULL_POINTER, function, "name is NULL");
    assert_refused(handle, xgemm_kernel_resources_get(handle, name, NULL), XGEMM_ERROR_NULL_POINTER,
                   function, "resources is NULL");
    resources.struct_size = 0;
    assert_refused(handle, xgemm_kernel_resources_get(handle, name, &resources),
                   XGEMM_ERROR_INVALID_VALUE, function, "struct_size is 0");
    xgemm_destroy(handle);
}
END_TEST

/* ---- The environment ---- */

static void assert_create_refused(int device, xgemm_status wanted, const char *part)
{
    xgemm_handle *handle = (xgemm_handle *)(uintptr_t)8;
    assert_refused(NULL, xgemm_create(&handle, device), wanted, "xgemm_create: ", part);
    ck_assert_ptr_null(handle);
}

START_TEST(nonsense_in_xgemm_device)
{
    static const char *const values[] = {
        "nonsense", "-1",  "-2",   "1x",   "0x0", " 0",          "0 ",
        "+0",       "CPU", "cpu ", "sim0", "1.0", "99999999999", "99999999999999999999999"};
    for (int i = 0; i < COUNT(values); i++) {
        char part[64];
        snprintf(part, sizeof part, "XGEMM_DEVICE=\"%s\"", values[i]);
        ck_assert_int_eq(setenv("XGEMM_DEVICE", values[i], 1), 0);
        assert_create_refused(XGEMM_DEVICE_AUTO, XGEMM_ERROR_ENVIRONMENT, part);
        assert_says(xgemm_last_error(NULL), "cpu, sim");
        xgemm_destroy(open_handle(test_device())); /* a device that is named does not need it */
    }
}
END_TEST

START_TEST(devices_in_the_environment)
{
    static const struct {
        const char *value;
        int device;
    } rows[] = {{"cpu", XGEMM_DEVICE_CPU}, {"sim", XGEMM_DEVICE_SIM}};
    for (int i = 0; i < COUNT(rows); i++) {
        ck_assert_int_eq(setenv("XGEMM_DEVICE", rows[i].value, 1), 0);
        xgemm_handle *handle = open_handle(XGEMM_DEVICE_AUTO);
        ck_assert_int_eq(xgemm_get_device(handle), rows[i].device);
        xgemm_destroy(handle);
    }
    static const char *const automatic[] = {"", "auto"};
    for (int i = 0; i < COUNT(automatic); i++) {
        ck_assert_int_eq(setenv("XGEMM_DEVICE", automatic[i], 1), 0);
        xgemm_handle *handle = open_handle(XGEMM_DEVICE_AUTO);
        ck_assert(xgemm_get_device(handle) == 0 || xgemm_get_device(handle) == XGEMM_DEVICE_CPU);
        xgemm_destroy(handle);
    }
}
END_TEST

static void assert_absent(xgemm_status status)
{
    ck_assert_msg(status == XGEMM_ERROR_NO_DRIVER || status == XGEMM_ERROR_NO_DEVICE ||
                      status == XGEMM_ERROR_DRIVER_TOO_OLD || status == XGEMM_ERROR_NOT_SUPPORTED,
                  "%s", xgemm_status_name(status));
}

START_TEST(absent_gpus)
{
    xgemm_handle *handle = (xgemm_handle *)(uintptr_t)8;
    ck_assert_int_eq(setenv("XGEMM_DEVICE", "1000", 1), 0);
    assert_absent(xgemm_create(&handle, XGEMM_DEVICE_AUTO));
    ck_assert_ptr_null(handle);
    assert_absent(xgemm_create(&handle, 1000));
    assert_says(xgemm_last_error(NULL), "xgemm_create: ");
    if (xgemm_device_count() > 0)
        return;
    assert_absent(xgemm_create(&handle, 0));
    ck_assert_ptr_null(handle);
    ck_assert_uint_gt(strlen(xgemm_last_error(NULL)), strlen("xgemm_create: "));
}
END_TEST

START_TEST(devices_are_described)
{
    static const int devices[] = {XGEMM_DEVICE_CPU, XGEMM_DEVICE_SIM};
    xgemm_device device = {.struct_size = sizeof device};
    for (int i = 0; i < COUNT(devices); i++) {
        ck_assert_int_eq(xgemm_device_get(devices[i], &device), XGEMM_OK);
        ck_assert_int_eq(device.ordinal, devices[i]);
        ck_assert(*device.name && *device.detail);
        ck_assert(device.multiprocessors > 0 && device.memory_bytes > 0);
    }
    const int count = xgemm_device_count();
    ck_assert_int_ge(count, 0);
    for (int i = 0; i < count; i++) {
        ck_assert_int_eq(xgemm_device_get(i, &device), XGEMM_OK);
        ck_assert_int_eq(device.ordinal, i);
        ck_assert(device.compute_capability > 0 && device.peak_fp32_gflops > 0.0);
    }
    assert_absent(xgemm_device_get(count, &device));
    static const int unknown[] = {XGEMM_DEVICE_AUTO, -4, -7, INT_MIN};
    for (int i = 0; i < COUNT(unknown); i++)
        assert_refused(NULL, xgemm_device_get(unknown[i], &device), XGEMM_ERROR_NO_DEVICE,
                       "xgemm_device_get: ", "no device");
    assert_refused(NULL, xgemm_device_get(XGEMM_DEVICE_CPU, NULL), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_device_get: ", "device is NULL");
}
END_TEST

START_TEST(unknown_devices)
{
    static const int devices[] = {-4, -7, -1000, INT_MIN};
    for (int i = 0; i < COUNT(devices); i++) {
        char part[32];
        snprintf(part, sizeof part, "no device %d", devices[i]);
        assert_create_refused(devices[i], XGEMM_ERROR_NO_DEVICE, part);
        assert_says(xgemm_last_error(NULL),
                    "XGEMM_DEVICE_AUTO (-1), XGEMM_DEVICE_CPU (-2) and XGEMM_DEVICE_SIM (-3)");
    }
    assert_refused(NULL, xgemm_create(NULL, test_device()), XGEMM_ERROR_NULL_POINTER,
                   "xgemm_create: ", "handle is NULL");
}
END_TEST

START_TEST(nonsense_in_xgemm_kernel)
{
    const char *const values[] = {"nonsense", "Naive", " ", foreign_kernel()};
    for (int i = 0; i < COUNT(values); i++) {
        char part[64];
        snprintf(part, sizeof part, "XGEMM_KERNEL=\"%s\"", values[i]);
        ck_assert_int_eq(setenv("XGEMM_KERNEL", values[i], 1), 0);
        assert_create_refused(test_device(), XGEMM_ERROR_ENVIRONMENT, part);
        if (strcmp(values[i], foreign_kernel()) == 0) /* there is one, of another device */
            ck_assert_ptr_nonnull(strstr(xgemm_last_error(NULL), "is not for the "));
        else
            assert_names_nearest(xgemm_last_error(NULL), test_device());
    }
}
END_TEST

START_TEST(nonsense_in_xgemm_sim)
{
    const char *const values[] = {
        "nonsense",          "late,",        "shuffle=", "multiprocessors", "multiprocessors=0",
        "multiprocessors=x", "processors=-1"};
    for (int i = 0; i < COUNT(values); i++) {
        char part[64];
        snprintf(part, sizeof part, "XGEMM_SIM=\"%s\"", values[i]);
        ck_assert_int_eq(setenv("XGEMM_SIM", values[i], 1), 0);
        assert_create_refused(XGEMM_DEVICE_SIM, XGEMM_ERROR_ENVIRONMENT, part);
    }
    ck_assert_int_eq(unsetenv("XGEMM_SIM"), 0);
}
END_TEST

START_TEST(kernels_in_the_environment)
{
    const call c = good_call(0);
    for (int i = 0; i < test_kernels() - 1; i++) {
        ck_assert_int_eq(setenv("XGEMM_KERNEL", test_kernel(i), 1), 0);
        memory m = memory_new(test_device());
        assert_call_works(&m, &c);
        ck_assert_str_eq(xgemm_last_kernel(m.handle), test_kernel(i));
        memory_free(&m);
    }
    static const char *const automatic[] = {"", "auto"};
    for (int i = 0; i < COUNT(automatic); i++) {
        ck_assert_int_eq(setenv("XGEMM_KERNEL", automatic[i], 1), 0);
        xgemm_destroy(open_handle(test_device()));
    }
}
END_TEST

START_TEST(long_values_in_the_environment)
{
    char value[5000];
    memset(value, '9', sizeof value);
    value[sizeof value - 1] = '\0';
    ck_assert_int_eq(setenv("XGEMM_DEVICE", value, 1), 0);
    assert_create_refused(XGEMM_DEVICE_AUTO, XGEMM_ERROR_ENVIRONMENT, "999");
    ck_assert_int_eq(unsetenv("XGEMM_DEVICE"), 0);
    ck_assert_int_eq(setenv("XGEMM_KERNEL", value, 1), 0);
    assert_create_refused(test_device(), XGEMM_ERROR_ENVIRONMENT, "999");
    assert_names_nearest(xgemm_last_error(NULL), test_device());
}
END_TEST

static Suite *selection(void)
{
    Suite *suite = suite_create("selection");
    TCase *kernels = add_case(suite, "kernels");
    tcase_add_test(kernels, unknown_kernels);
    tcase_add_test(kernels, long_kernel_name);
    tcase_add_test(kernels, misspelt_kernels);
    tcase_add_test(kernels, kernels_of_other_devices);
    tcase_add_test(kernels, automatic_kernel);
    tcase_add_test(kernels, table_of_kernels);
    tcase_add_test(kernels, resources_of_kernels);

    TCase *environment = add_case(suite, "environment");
    tcase_add_test(environment, nonsense_in_xgemm_device);
    tcase_add_test(environment, devices_in_the_environment);
    tcase_add_test(environment, absent_gpus);
    tcase_add_test(environment, devices_are_described);
    tcase_add_test(environment, unknown_devices);
    tcase_add_test(environment, nonsense_in_xgemm_kernel);
    tcase_add_test(environment, nonsense_in_xgemm_sim);
    tcase_add_test(environment, kernels_in_the_environment);
    tcase_add_test(environment, long_values_in_the_environment);
    return suite;
}

int main(void)
{
    return run_suite(selection());
}
