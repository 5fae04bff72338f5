/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Devices: finding by name, bad arguments; and, where the device under test is a GPU, the
 * catalogue against what its driver says.
 */
#include "devices.h"

#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77, NAME_BYTES = 1024 };

/* ---- Calls ---- */

static void finds(const char *query, const char *name)
{
    const xgemm_device d = found(query);
    ck_assert_msg(strcmp(d.name, name) == 0, "\"%s\" finds \"%s\", not \"%s\"", query, d.name,
                  name);
}

static void says(const char *part)
{
    assert_says(xgemm_last_error(NULL), part);
}

static void finds_none(const char *query, const char *part)
{
    xgemm_device d = {.struct_size = sizeof d, .name = "as it was"};
    const xgemm_status status = xgemm_device_find(query, &d);
    ck_assert_msg(status == XGEMM_ERROR_NO_DEVICE, "\"%s\" gives %s", query,
                  xgemm_status_name(status));
    ck_assert_str_eq(d.name, "as it was");
    ck_assert_int_eq(strncmp(xgemm_last_error(NULL), "xgemm_device_find: ", 19), 0);
    says(part);
}

/* ---- Finding ---- */

static void change_case(char *to, const char *from, bool upper)
{
    for (; *from; from++)
        *to++ = (char)(*from >= 'a' && *from <= 'z' && upper    ? *from - 'a' + 'A'
                       : *from >= 'A' && *from <= 'Z' && !upper ? *from - 'A' + 'a'
                                                                : *from);
    *to = '\0';
}

START_TEST(test_whole_names)
{
    char changed[NAME_BYTES], made[NAME_BYTES];
    for (int i = 0; i < xgemm_device_catalog_count(); i++) {
        const xgemm_device d = entry(i);
        finds(d.name, d.name);
        change_case(changed, d.name, true);
        finds(changed, d.name);
        change_case(changed, d.name, false);
        finds(changed, d.name);
        snprintf(made, sizeof made, "NVIDIA %s", d.name);
        finds(made, d.name);
    }
}
END_TEST

static const struct {
    const char *query, *name;
} abbreviations[] = {
    {"A100", "A100 SXM4 40GB"},
    {"a100 80gb", "A100 SXM4 80GB"},
    {"80GB A100 pcie", "A100 PCIe 80GB"},
    {"a100-pcie", "A100 PCIe 40GB"},
    {"NVIDIA A100-SXM4-80GB", "A100 SXM4 80GB"},
    {"H100", "H100 SXM5"},
    {"h100 sxm", "H100 SXM5"},
    {"H100 NVL", "H100 NVL"},
    {"NVIDIA H100 80GB HBM3", "H100 SXM5"},
    {"H200", "H200 SXM"},
    {"NVIDIA H200", "H200 SXM"},
    {"V100", "V100 SXM2 16GB"},
    {"Tesla V100-PCIE-32GB", "V100 PCIe 32GB"},
    {"T4", "T4"},
    {"L4", "L4"},
    {"L40", "L40"},
    {"L40S", "L40S"},
    {"A10", "A10"},
    {"RTX 4090", "GeForce RTX 4090"},
    {"4090", "GeForce RTX 4090"},
    {"rtx 4080", "GeForce RTX 4080"},
    {"RTX 4080 super", "GeForce RTX 4080 SUPER"},
    {"4070 ti", "GeForce RTX 4070 Ti"},
    {"4070 ti super", "GeForce RTX 4070 Ti SUPER"},
    {"RTX 3080", "GeForce RTX 3080 10GB"},
    {"RTX 2080", "GeForce RTX 2080"},
    {"A6000", "RTX A6000"},
    {"RTX 6000 Ada", "RTX 6000 Ada Generation"},
    {"  \tT4  ", "T4"},
    {"GH200", "GH200 96GB"},
    {"Orin", "Jetson AGX Orin 64GB"},
    {"DGX Spark", "DGX Spark GB10"},
};

START_TEST(test_abbreviations)
{
    for (int i = 0; i < COUNT(abbreviations); i++)
        finds(abbreviations[i].query, abbreviations[i].name);
}
END_TEST

static const struct {
    const char *format; /* of major and minor */
} forms[] = {{"%d%d"},    {"%d.%d"},    {"sm_%d%d"},      {"SM_%d%d"},
             {"sm%d%d"},  {"sm_%d.%d"}, {"compute_%d%d"}, {"Compute_%d.%d"},
             {"cc%d.%d"}, {"sm_%d%da"}, {"sm_%d%df"},     {" sm_%d%d"}};

START_TEST(test_capabilities)
{
    for (int i = 0; i < xgemm_device_catalog_count(); i++) {
        const int capability = entry(i).compute_capability;
        int first = 0;
        while (entry(first).compute_capability != capability)
            first++;
        for (int j = 0; j < COUNT(forms); j++) {
            char text[32];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(text, sizeof text, forms[j].format, capability / 10, capability % 10);
#pragma GCC diagnostic pop
            finds(text, entry(first).name);
        }
    }
    finds("sm_80", "A100 SXM4 40GB");
    finds("9.0", "H100 SXM5");
    finds("7.5", "T4");
}
END_TEST

START_TEST(test_unknown)
{
    static const struct {
        const char *query, *part;
    } cases[] = {
        {"nosuch", "no GPU \"nosuch\""},
        {"h10", "\"H100 SXM5\""},
        {"H1000", "\"H100 SXM5\""},
        {"RTX 4095", "\"GeForce RTX 4090\""},
        {"gefroce rtx 5090", "\"GeForce RTX 5090\""},
        {"A100 90GB", "\"A100 SXM4 40GB\""},
        {"A100 A100 T4", "the nearest names are"},
        {"sm_99", "capability 9.9; they have 7.0, 7.2, 7.5, 8.0"},
        {"6.1", "capability 6.1"},
        {"compute_30", "12.0, 12.1"},
        {"300", "capability 30.0"},
        {"sm_", "the nearest names are"},
        {"sm_9", "the nearest names are"},
        {"sm_90b", "the nearest names are"},
        {"sm_90aa", "the nearest names are"},
        {"9.", "the nearest names are"},
        {".9", "the nearest names are"},
        {"-90", "the nearest names are"},
        {"99999999999999999999", "the nearest names are"},
        {"nvidia", "the nearest names are"},
        {"", "names no GPU"},
        {" \t\n", "names no GPU"},
        {",", "names no GPU"},
        {"\xff\xfe", "the nearest names are"},
        {"%s%n", "the nearest names are"},
    };
    for (int i = 0; i < COUNT(cases); i++)
        finds_none(cases[i].query, cases[i].part);
}
END_TEST

START_TEST(test_long_names)
{
    enum { LONG = 1 << 20 };
    char *text = malloc(LONG + 1);
    ck_assert_ptr_nonnull(text);
    for (int length = 50; length <= LONG; length += length < 80 ? 1 : length) {
        memset(text, 'x', (size_t)length);
        text[length] = '\0';
        finds_none(text, "xxx");
        for (int i = 1; i < length; i += 2)
            text[i] = ' ';
        finds_none(text, "x x");
    }
    free(text);
}
END_TEST

START_TEST(test_order)
{
    const char *earlier[][2] = {{"A100 SXM4 40GB", "A100 PCIe 80GB"},
                                {"H100 SXM5", "H100 NVL"},
                                {"H200 SXM", "H200 NVL"},
                                {"L4", "GeForce RTX 4090"}};
    for (int i = 0; i < COUNT(earlier); i++) {
        int first = 0, second = 0;
        while (strcmp(entry(first).name, earlier[i][0]) != 0)
            first++;
        while (strcmp(entry(second).name, earlier[i][1]) != 0)
            second++;
        ck_assert_int_lt(first, second);
    }
}
END_TEST

/* ---- Arguments ---- */

START_TEST(test_null)
{
    xgemm_device d = {.struct_size = sizeof d};
    ck_assert_int_eq(xgemm_device_find(NULL, &d), XGEMM_ERROR_NULL_POINTER);
    says("xgemm_device_find: name is NULL");
    ck_assert_int_eq(xgemm_device_find("A100", NULL), XGEMM_ERROR_NULL_POINTER);
    says("device is NULL");
    ck_assert_int_eq(xgemm_device_find(NULL, NULL), XGEMM_ERROR_NULL_POINTER);
    ck_assert_int_eq(xgemm_device_catalog_get(0, NULL), XGEMM_ERROR_NULL_POINTER);
    says("xgemm_device_catalog_get: device is NULL");
    ck_assert_int_eq(xgemm_device_get(XGEMM_DEVICE_CPU, NULL), XGEMM_ERROR_NULL_POINTER);
    says("xgemm_device_get: device is NULL");
}
END_TEST

typedef enum { GET, CATALOG_GET, FIND, WAYS } way;

static xgemm_status fill(way how, xgemm_device *d)
{
    switch (how) {
    case GET:
        return xgemm_device_get(XGEMM_DEVICE_CPU, d);
    case CATALOG_GET:
        return xgemm_device_catalog_get(0, d);
    default:
        return xgemm_device_find("V100", d);
    }
}

/* A program's struct of any size: just that many bytes are written. */
START_TEST(test_sizes)
{
    enum { MORE = 64 };
    union {
        xgemm_device device;
        unsigned char bytes[sizeof(xgemm_device) + MORE];
    } with, whole;
    const way how = (way)_i;
    for (size_t size = 0; size <= sizeof with; size++) {
        memset(&with, 0xa5, sizeof with);
        memset(&whole, 0xa5, sizeof whole);
        with.device.struct_size = size;
        whole.device.struct_size = sizeof whole.device;
        ck_assert_int_eq(fill(how, &whole.device), XGEMM_OK);
        const xgemm_status status = fill(how, &with.device);
        if (size < sizeof size) {
            ck_assert_int_eq(status, XGEMM_ERROR_INVALID_VALUE);
            says("struct_size is");
            continue;
        }
        ck_assert_int_eq(status, XGEMM_OK);
        ck_assert_uint_eq(with.device.struct_size, size);
        for (size_t i = sizeof size; i < sizeof with; i++) {
            const bool written = i < size && i < sizeof(xgemm_device);
            ck_assert_msg(with.bytes[i] == (written ? whole.bytes[i] : 0xa5),
                          "size %zu: byte %zu is 0x%x", size, i, with.bytes[i]);
        }
    }
}
END_TEST

/* ---- Devices that are here ---- */

START_TEST(test_host)
{
    const int hosts[] = {XGEMM_DEVICE_CPU, XGEMM_DEVICE_SIM};
    for (int i = 0; i < COUNT(hosts); i++) {
        xgemm_device d = {.struct_size = sizeof d};
        ck_assert_int_eq(xgemm_device_get(hosts[i], &d), XGEMM_OK);
        ck_assert_int_eq(d.ordinal, hosts[i]);
        ck_assert_int_eq(d.compute_capability, 0);
        ck_assert_int_eq(d.limits_from, 0);
        ck_assert(d.balance_flop_per_byte == 0.0 && d.peak_fp16_gflops == 0.0);
        ck_assert_str_eq(d.source, "");
    }
    xgemm_device d = {.struct_size = sizeof d};
    ck_assert_int_eq(xgemm_device_get(XGEMM_DEVICE_CATALOG, &d), XGEMM_ERROR_NO_DEVICE);
}
END_TEST

static void same_limits(const xgemm_device *live, const xgemm_device *known)
{
    ck_assert_int_eq(live->fp32_lanes, known->fp32_lanes);
    ck_assert_int_eq(live->threads_per_sm, known->threads_per_sm);
    ck_assert_int_eq(live->warps_per_sm, known->warps_per_sm);
    ck_assert_int_eq(live->blocks_per_sm, known->blocks_per_sm);
    ck_assert_int_eq(live->threads_per_block, known->threads_per_block);
    ck_assert_int_eq(live->registers_per_sm, known->registers_per_sm);
    ck_assert_int_eq(live->registers_per_block, known->registers_per_block);
    ck_assert_int_eq(live->registers_per_thread, known->registers_per_thread);
    ck_assert_int_eq(live->register_granule, known->register_granule);
    ck_assert_int_eq(live->warp_granule, known->warp_granule);
    ck_assert_int_eq(live->shared_per_sm, known->shared_per_sm);
    ck_assert_int_eq(live->shared_per_block, known->shared_per_block);
    ck_assert_int_eq(live->shared_per_block_static, known->shared_per_block_static);
    ck_assert_int_eq(live->shared_reserved, known->shared_reserved);
    ck_assert_int_eq(live->shared_granule, known->shared_granule);
    ck_assert_int_eq(live->cluster_blocks, known->cluster_blocks);
    ck_assert_int_eq(live->limits_from, known->limits_from);
}

/* Every GPU of this compute capability has the limits that the driver gives. */
START_TEST(test_live_limits)
{
    xgemm_device live = {.struct_size = sizeof live}, known = {.struct_size = sizeof known};
    char capability[16];
    if (test_device() < 0)
        return;
    ck_assert_msg(xgemm_device_get(test_device(), &live) == XGEMM_OK, "%s", xgemm_last_error(NULL));
    snprintf(capability, sizeof capability, "sm_%d", live.compute_capability);
    if (xgemm_device_find(capability, &known))
        printf("SKIP: the catalogue has no GPU of %s\n", capability);
    else
        same_limits(&live, &known);
}
END_TEST

/* Of two products with one name ("RTX 3080"), the one with as many multiprocessors. */
static void choose_product(const xgemm_device *live, xgemm_device *known)
{
    const char *name = strncmp(live->name, "NVIDIA ", 7) == 0 ? live->name + 7 : live->name;
    for (int i = 0; i < xgemm_device_catalog_count(); i++) {
        const xgemm_device d = entry(i);
        if (strncmp(d.name, name, strlen(name)) == 0 &&
            d.multiprocessors == live->multiprocessors &&
            known->multiprocessors != live->multiprocessors)
            *known = d;
    }
}

/* Clocks are left out: a board may be sold with higher ones. */
START_TEST(test_live_figures)
{
    xgemm_device live = {.struct_size = sizeof live}, known = {.struct_size = sizeof known};
    if (test_device() < 0)
        return;
    ck_assert_msg(xgemm_device_get(test_device(), &live) == XGEMM_OK, "%s", xgemm_last_error(NULL));
    if (xgemm_device_find(live.name, &known)) {
        printf("SKIP: %s\n", xgemm_last_error(NULL));
        return;
    }
    choose_product(&live, &known);
    printf("compared: %s with %s of the catalogue\n", live.name, known.name);
    ck_assert_int_eq(live.compute_capability, known.compute_capability);
    ck_assert_int_eq(live.multiprocessors, known.multiprocessors);
    if (known.l2_bytes)
        ck_assert_int_eq(live.l2_bytes, known.l2_bytes);
    near(live.name, "memory", (double)live.memory_bytes, (double)known.memory_bytes, 0.10);
    near(live.name, "bandwidth", live.peak_bandwidth_gbs, known.peak_bandwidth_gbs, 0.05);
    near(live.name, "TF32", live.peak_tf32_gflops, known.peak_tf32_gflops, 1e-9);
    near(live.name, "FP16", live.peak_fp16_gflops, known.peak_fp16_gflops, 1e-9);
    near(live.name, "BF16", live.peak_bf16_gflops, known.peak_bf16_gflops, 1e-9);
    ck_assert_str_eq(live.source, "");
}
END_TEST

static Suite *devices_suite(void)
{
    Suite *suite = suite_create("devices");
    TCase *find = add_case(suite, "find");
    tcase_add_test(find, test_whole_names);
    tcase_add_test(find, test_abbreviations);
    tcase_add_test(find, test_capabilities);
    tcase_add_test(find, test_unknown);
    tcase_add_test(find, test_long_names);
    tcase_add_test(find, test_order);
    tcase_add_test(find, test_null);
    tcase_add_loop_test(find, test_sizes, 0, WAYS);
    TCase *live = add_case(suite, "live");
    tcase_add_test(live, test_host);
    tcase_add_test(live, test_live_limits);
    tcase_add_test(live, test_live_figures);
    return suite;
}

/* Not run_suite(): queries need no kernels for the device. */
int main(void)
{
    if (test_device() >= 0 && test_device() >= xgemm_device_count()) {
        fprintf(stderr, "skipped: there is no GPU %d\n", test_device());
        return SKIPPED;
    }
    SRunner *runner = srunner_create(devices_suite());
    if (test_device() >= 0) /* a driver that a process has opened is of no use in its children */
        srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_ENV);
    const int wrong = srunner_ntests_failed(runner);
    srunner_free(runner);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
