/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Occupancy: figures worked out by hand, what is refused, the words.
 */
#include "occupancies.h"

#include "support.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static xgemm_device find(const char *name)
{
    xgemm_device device = {.struct_size = sizeof device};
    ck_assert_msg(xgemm_device_find(name, &device) == XGEMM_OK, "%s", xgemm_last_error(NULL));
    return device;
}

/* ---- Figures ---- */

static const struct {
    const char *gpu;
    int threads, registers, shared, blocks;
    unsigned limiters;
} figures[] = {
    {"A100", 1024, 0, 0, 2, XGEMM_LIMITED_BY_WARPS},
    {"A100", 512, 0, 0, 4, XGEMM_LIMITED_BY_WARPS},
    {"A100", 256, 0, 0, 8, XGEMM_LIMITED_BY_WARPS},
    {"A100", 64, 0, 0, 32, XGEMM_LIMITED_BY_WARPS | XGEMM_LIMITED_BY_BLOCKS},
    {"A100", 32, 0, 0, 32, XGEMM_LIMITED_BY_BLOCKS},
    {"A100", 700, 0, 0, 2, XGEMM_LIMITED_BY_WARPS},
    {"A100", 128, 128, 0, 4, XGEMM_LIMITED_BY_REGISTERS},
    {"A100", 128, 96, 0, 5, XGEMM_LIMITED_BY_REGISTERS},
    {"A100", 128, 97, 0, 4, XGEMM_LIMITED_BY_REGISTERS},
    {"A100", 1024, 64, 0, 1, XGEMM_LIMITED_BY_REGISTERS},
    {"A100", 1024, 65, 0, 0, XGEMM_LIMITED_BY_REGISTERS},
    {"A100", 672, 96, 0, 0, XGEMM_LIMITED_BY_REGISTERS}, /* 21 warps count as 24 */
    {"A100", 640, 96, 0, 1, XGEMM_LIMITED_BY_REGISTERS},
    {"A100", 256, 0, 163 * 1024, 1, XGEMM_LIMITED_BY_SHARED},
    {"A100", 256, 0, 81 * 1024, 2, XGEMM_LIMITED_BY_SHARED}, /* 82 KB each with the system's */
    {"A100", 256, 0, 81 * 1024 + 1, 1, XGEMM_LIMITED_BY_SHARED},
    {"RTX 3080", 32 * 32, 0, 0, 1, XGEMM_LIMITED_BY_WARPS},
    {"RTX 3080", 16 * 16, 0, 0, 6, XGEMM_LIMITED_BY_WARPS},
    {"RTX 3080", 8 * 8, 0, 0, 16, XGEMM_LIMITED_BY_BLOCKS},
    {"sm_90", 256, 128, 33792, 2, XGEMM_LIMITED_BY_REGISTERS},
};

START_TEST(figures_by_hand)
{
    const xgemm_device device = find(figures[_i].gpu);
    const xgemm_occupancy_info info =
        occupancy(&device, figures[_i].threads, figures[_i].registers, figures[_i].shared, 0);
    ck_assert_int_eq(info.blocks, figures[_i].blocks);
    ck_assert_uint_eq(info.limiters, figures[_i].limiters);
    ck_assert_int_eq(info.threads, figures[_i].blocks * figures[_i].threads);
}
END_TEST

START_TEST(seven_hundred_threads)
{
    const xgemm_device device = find("A100");
    const xgemm_occupancy_info info = occupancy(&device, 700, 0, 0, 0);
    ck_assert_int_eq(info.warps, 44);
    ck_assert_int_eq(info.threads, 1400);
    ck_assert_double_eq(info.warp_occupancy, 0.6875);
    ck_assert_double_eq(info.thread_occupancy, 1400.0 / 2048.0);
    ck_assert_int_eq(info.blocks_by_registers, INT_MAX);
    ck_assert_int_eq(info.blocks_by_slots, 32);
    ck_assert_int_eq(info.registers_allocated, 0);
    ck_assert_int_eq(info.shared_allocated, 1024);
}
END_TEST

START_TEST(clusters_are_bounded)
{
    xgemm_device device = device_of(90);
    device.multiprocessors = 132;
    ck_assert_int_eq(occupancy(&device, 1024, 0, 0, 8).clusters, 2 * 132 / 8);
    ck_assert_int_eq(occupancy(&device, 1024, 0, 0, 8).cluster, 8);
    ck_assert_int_eq(occupancy(&device, 1024, 0, 0, 0).clusters, 0);
    ck_assert_int_eq(occupancy(&device, 1024, 0, 0, 1).clusters, 0);
    device.multiprocessors = 0;
    ck_assert_int_eq(occupancy(&device, 1024, 0, 0, 8).clusters, 0);
}
END_TEST

START_TEST(device_decides)
{
    xgemm_device device = device_of(80);
    ck_assert_int_eq(occupancy(&device, 64, 0, 0, 0).blocks, 32);
    device.blocks_per_sm = 20;
    ck_assert_int_eq(occupancy(&device, 64, 0, 0, 0).blocks, 20);
    device.warps_per_sm = 32;
    ck_assert_int_eq(occupancy(&device, 64, 0, 0, 0).blocks, 16);
    device.shared_reserved = 0;
    ck_assert_int_eq(occupancy(&device, 64, 0, 0, 0).blocks_by_shared, INT_MAX);
    device.registers_per_sm = 32768;
    device.registers_per_block = 32768;
    ck_assert_int_eq(occupancy(&device, 1024, 40, 0, 0).blocks, 0);
}
END_TEST

/* A program compiled when the struct ended before warps_per_sm. */
START_TEST(older_struct)
{
    struct {
        xgemm_device device;
        char beyond[64];
    } old = {.device = find("RTX 3080")};
    memset((char *)&old + offsetof(xgemm_device, warps_per_sm), 0x7b,
           sizeof old - offsetof(xgemm_device, warps_per_sm));
    old.device.struct_size = offsetof(xgemm_device, warps_per_sm);
    ck_assert_int_eq(occupancy(&old.device, 256, 0, 0, 0).blocks, 6);
    ck_assert_int_eq(occupancy(&old.device, 256, 128, 0, 0).blocks, 2);
    ck_assert_int_eq(occupancy(&old.device, 32, 0, 6 * 1024, 0).blocks, 14);
}
END_TEST

START_TEST(older_and_newer_info)
{
    const xgemm_device device = device_of(80);
    struct {
        xgemm_occupancy_info info;
        char beyond[64];
    } x;
    memset(&x, 0x7b, sizeof x);
    x.info.struct_size = offsetof(xgemm_occupancy_info, warps);
    ck_assert(xgemm_occupancy(&device, 256, 0, 0, 0, &x.info) == XGEMM_OK);
    ck_assert_int_eq(x.info.blocks, 8);
    ck_assert_int_eq(x.info.warps, 0x7b7b7b7b);
    x.info.struct_size = sizeof x;
    ck_assert(xgemm_occupancy(&device, 256, 0, 0, 0, &x.info) == XGEMM_OK);
    ck_assert_int_eq(x.info.warps, 64);
    ck_assert_int_eq(x.beyond[0], 0x7b);
}
END_TEST

/* ---- What is refused ---- */

static const struct {
    int compute_capability, threads, registers;
    int64_t shared;
    int cluster;
    const char *says;
} refusals[] = {
    {80, 0, 0, 0, 0, "threads is 0; a block has from 1 to 1024"},
    {80, -1, 0, 0, 0, "threads is -1"},
    {80, 1025, 0, 0, 0, "threads is 1025"},
    {80, INT_MAX, 0, 0, 0, "threads is 2147483647"},
    {80, INT_MIN, 0, 0, 0, "threads is -2147483648"},
    {80, 32, 256, 0, 0, "registers is 256; a thread has at most 255"},
    {80, 32, -1, 0, 0, "registers is -1"},
    {80, 32, INT_MAX, 0, 0, "registers is 2147483647"},
    {80, 32, 0, -1, 0, "shared is -1"},
    {80, 32, 0, 163 * 1024 + 1, 0, "shared is 166913; a block has from 0 to 166912"},
    {80, 32, 0, INT64_MAX, 0, "shared is 9223372036854775807"},
    {80, 32, 0, INT64_MIN, 0, "shared is -9223372036854775808"},
    {80, 32, 0, 0, -1, "cluster is -1"},
    {80, 32, 0, 0, 2, "cluster is 2; GPUs of compute capability 8.0 have no clusters"},
    {90, 32, 0, 0, 9, "cluster is 9; a cluster has at most 8 blocks"},
    {90, 32, 0, 0, INT_MAX, "cluster is 2147483647"},
    {0, 32, 0, 0, 0, "no compute capability"},
    {-80, 32, 0, 0, 0, "no compute capability"},
};

START_TEST(arguments_beyond_the_limits)
{
    const xgemm_device device = device_of(refusals[_i].compute_capability);
    xgemm_occupancy_info info = {.struct_size = sizeof info, .blocks = 123};
    char text[256] = "unchanged";
    ck_assert(xgemm_occupancy(&device, refusals[_i].threads, refusals[_i].registers,
                              refusals[_i].shared, refusals[_i].cluster,
                              &info) == XGEMM_ERROR_INVALID_VALUE);
    ck_assert_msg(strstr(xgemm_last_error(NULL), refusals[_i].says) &&
                      strncmp(xgemm_last_error(NULL), "xgemm_occupancy: ", 17) == 0,
                  "%s", xgemm_last_error(NULL));
    ck_assert_int_eq(info.blocks, 123);
    ck_assert(xgemm_occupancy_text(&device, refusals[_i].threads, refusals[_i].registers,
                                   refusals[_i].shared, refusals[_i].cluster, text,
                                   sizeof text) == XGEMM_ERROR_INVALID_VALUE);
    ck_assert_msg(strstr(xgemm_last_error(NULL), refusals[_i].says) &&
                      strncmp(xgemm_last_error(NULL), "xgemm_occupancy_text: ", 22) == 0,
                  "%s", xgemm_last_error(NULL));
    ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(pointers_and_sizes)
{
    xgemm_device device = device_of(80);
    xgemm_occupancy_info info = {.struct_size = sizeof info};
    char text[8];
    ck_assert(xgemm_occupancy(NULL, 32, 0, 0, 0, &info) == XGEMM_ERROR_NULL_POINTER);
    ck_assert_str_eq(xgemm_last_error(NULL), "xgemm_occupancy: device is NULL");
    ck_assert(xgemm_occupancy(&device, 32, 0, 0, 0, NULL) == XGEMM_ERROR_NULL_POINTER);
    ck_assert_str_eq(xgemm_last_error(NULL), "xgemm_occupancy: info is NULL");
    ck_assert(xgemm_occupancy_text(NULL, 32, 0, 0, 0, text, 8) == XGEMM_ERROR_NULL_POINTER);
    ck_assert(xgemm_occupancy_text(&device, 32, 0, 0, 0, NULL, 8) == XGEMM_ERROR_NULL_POINTER);
    ck_assert(xgemm_occupancy_text(&device, 32, 0, 0, 0, text, 0) == XGEMM_ERROR_INVALID_VALUE);
    info.struct_size = 0;
    ck_assert(xgemm_occupancy(&device, 32, 0, 0, 0, &info) == XGEMM_ERROR_INVALID_VALUE);
    info.struct_size = sizeof info;
    device.struct_size = 0;
    ck_assert(xgemm_occupancy(&device, 32, 0, 0, 0, &info) == XGEMM_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(devices_that_are_none)
{
    xgemm_occupancy_info info = {.struct_size = sizeof info};
    static const int hosts[] = {XGEMM_DEVICE_CPU, XGEMM_DEVICE_SIM};
    for (int i = 0; i < COUNT(hosts); i++) {
        xgemm_device host = {.struct_size = sizeof host};
        ck_assert(xgemm_device_get(hosts[i], &host) == XGEMM_OK);
        ck_assert(xgemm_occupancy(&host, 32, 0, 0, 0, &info) == XGEMM_ERROR_INVALID_VALUE);
    }
    xgemm_device odd = device_of(80);
    odd.register_granule = -256;
    ck_assert(xgemm_occupancy(&odd, 32, 0, 0, 0, &info) == XGEMM_ERROR_INVALID_VALUE);
    ck_assert_ptr_nonnull(strstr(xgemm_last_error(NULL), "register_granule is -256"));
    odd = device_of(80);
    odd.shared_per_sm = INT64_MAX;
    ck_assert(xgemm_occupancy(&odd, 32, 0, 0, 0, &info) == XGEMM_ERROR_INVALID_VALUE);
    odd = device_of(80);
    odd.warp_granule = 1 << 24;
    ck_assert_int_eq(occupancy(&odd, 32, 255, 0, 0).blocks, 0);
    memset(odd.name, 'x', sizeof odd.name);
    odd.compute_capability = 0;
    ck_assert(xgemm_occupancy(&odd, 32, 0, 0, 0, &info) == XGEMM_ERROR_INVALID_VALUE);
}
END_TEST

/* ---- Words ---- */

static const struct {
    int compute_capability, threads, registers, shared, cluster;
    const char *text;
} words[] = {
    {80, 128, 128, 0, 0,
     "128 threads at 128 registers each: 4 blocks a multiprocessor, limited by registers; at 96 "
     "registers, 5. 16 of 64 warps (25 %), 512 of 2048 threads (25 %)."},
    {80, 700, 0, 0, 0,
     "700 threads: 2 blocks a multiprocessor, limited by warps; with 672 threads, 3 of 21 warps. A "
     "block is 22 warps, 4 threads of the last idle: 44 of 64 warps (68.75 %), 1400 of 2048 "
     "threads (68.36 %)."},
    {80, 1024, 0, 0, 0,
     "1024 threads: 2 blocks a multiprocessor, limited by warps; no warp is left over. 64 of 64 "
     "warps (100 %), 2048 of 2048 threads (100 %)."},
    {86, 64, 0, 0, 0,
     "64 threads: 16 blocks a multiprocessor, limited by slots for blocks; with 96 threads, 16 of "
     "3 warps. 32 of 48 warps (66.67 %), 1024 of 1536 threads (66.67 %)."},
    {80, 1024, 128, 0, 0,
     "1024 threads at 128 registers each: cannot run, a block has at most 65536 registers and a "
     "launch counts 131072 for this; at 64 registers, 1. 0 of 64 warps (0 %), 0 of 2048 threads "
     "(0 %)."},
    {80, 256, 32, 100 * 1024, 0,
     "256 threads at 32 registers each and 102400 bytes of shared memory: 1 block a "
     "multiprocessor, limited by shared memory; at 82944 bytes of shared memory, 2. 8 of 64 warps "
     "(12.5 %), 256 of 2048 threads (12.5 %)."},
    {80, 256, 128, 60000, 0,
     "256 threads at 128 registers each and 60000 bytes of shared memory: 2 blocks a "
     "multiprocessor, limited by registers and shared memory; at 80 registers and 54912 bytes of "
     "shared memory, 3. 16 of 64 warps (25 %), 512 of 2048 threads (25 %)."},
    {80, 1, 0, 0, 0,
     "1 thread: 32 blocks a multiprocessor, limited by slots for blocks; with 64 threads, 32 of 2 "
     "warps. A block is 1 warp, 31 threads of the last idle: 32 of 64 warps (50 %), 32 of 2048 "
     "threads (1.562 %)."},
};

START_TEST(texts)
{
    const xgemm_device device = device_of(words[_i].compute_capability);
    char text[512];
    ck_assert(xgemm_occupancy_text(&device, words[_i].threads, words[_i].registers,
                                   words[_i].shared, words[_i].cluster, text,
                                   sizeof text) == XGEMM_OK);
    ck_assert_str_eq(text, words[_i].text);
}
END_TEST

START_TEST(texts_are_cut)
{
    const xgemm_device device = device_of(80);
    char text[32];
    for (size_t size = 1; size < sizeof text; size++) {
        memset(text, 'x', sizeof text);
        ck_assert(xgemm_occupancy_text(&device, 700, 0, 0, 0, text, size) == XGEMM_OK);
        ck_assert_uint_eq(strlen(text), size - 1);
        ck_assert_int_eq(text[size], 'x');
    }
}
END_TEST

/* Whatever the configuration, what the text advises gains warps, and nothing smaller does. */
START_TEST(advice_is_the_nearest)
{
    const xg_limits *limits = xg_limits_at(_i);
    const xgemm_device device = device_of(limits->compute_capability);
    for (int threads = 32; threads <= 1024; threads += 96)
        for (int registers = 1; registers <= 255; registers += 6) {
            char text[512];
            const char *advice;
            int fewer;
            const xgemm_occupancy_info now = occupancy(&device, threads, registers, 0, 0);
            ck_assert(xgemm_occupancy_text(&device, threads, registers, 0, 0, text, sizeof text) ==
                      XGEMM_OK);
            ck_assert_uint_lt(strlen(text), sizeof text - 1);
            advice = strstr(text, "; at ");
            if (now.limiters != XGEMM_LIMITED_BY_REGISTERS || !advice)
                continue;
            ck_assert(sscanf(advice, "; at %d register", &fewer) == 1 && fewer < registers);
            ck_assert_int_gt(occupancy(&device, threads, fewer, 0, 0).blocks, now.blocks);
            ck_assert_int_eq(occupancy(&device, threads, fewer + 1, 0, 0).blocks, now.blocks);
        }
}
END_TEST

/* ---- Recorded resources ---- */

/* A compiler of which no report is read (clang without ptxas) leaves none; that a report lacks no
 * kernel, check-spills.sh sees. */
static bool any_are_recorded(void)
{
    const xgemm_device newest = device_of(1000), hopper = device_of(90);
    xgemm_kernel_resources r = {.struct_size = sizeof r};
    for (int i = 0; i < xgemm_kernel_count(); i++) {
        xgemm_kernel_info kernel = {.struct_size = sizeof kernel};
        ck_assert(xgemm_kernel_get(i, &kernel) == XGEMM_OK);
        if (xgemm_kernel_resources_find(kernel.name, &newest, &r) == XGEMM_OK ||
            xgemm_kernel_resources_find(kernel.name, &hopper, &r) == XGEMM_OK)
            return true;
    }
    return false;
}

START_TEST(recorded_resources)
{
    xgemm_kernel_info kernel = {.struct_size = sizeof kernel};
    xgemm_kernel_resources r = {.struct_size = sizeof r};
    ck_assert(xgemm_kernel_get(_i, &kernel) == XGEMM_OK);
    const int only = kernel.compute_capability;
    const xgemm_device device = device_of(only ? only : 1000), larger = device_of(90);
    const bool recorded = (kernel.devices & XGEMM_RUNS_ON_CUDA) && any_are_recorded();
    const xgemm_status status = xgemm_kernel_resources_find(kernel.name, &device, &r);
    if (!recorded) {
        ck_assert_int_eq(status, XGEMM_ERROR_NOT_SUPPORTED);
        ck_assert_ptr_nonnull(strstr(xgemm_last_error(NULL), kernel.name));
        return;
    }
    ck_assert_msg(status == XGEMM_OK, "%s", xgemm_last_error(NULL));
    ck_assert(r.registers > 0 && r.registers <= 255 && r.binary_version >= 70);
    ck_assert_int_le(r.shared_bytes, kernel.shared_bytes);
    ck_assert_int_ge(r.max_threads, kernel.threads);
    ck_assert_int_gt(occupancy(&larger, kernel.threads, r.registers, kernel.shared_bytes, 0).blocks,
                     0);
    const xgemm_device other = device_of(100);
    const xgemm_device first = device_of(r.binary_version), old = device_of(50);
    xgemm_kernel_resources again = {.struct_size = sizeof again};
    ck_assert_int_eq(xgemm_kernel_resources_find(kernel.name, &other, &again),
                     only ? XGEMM_ERROR_NOT_SUPPORTED : XGEMM_OK);
    ck_assert(xgemm_kernel_resources_find(kernel.name, &first, &again) == XGEMM_OK);
    ck_assert_int_eq(again.binary_version, r.binary_version);
    ck_assert(xgemm_kernel_resources_find(kernel.name, &old, &again) == XGEMM_ERROR_NOT_SUPPORTED);
}
END_TEST

START_TEST(resources_refused)
{
    xgemm_device device = device_of(80), host = {.struct_size = sizeof host};
    xgemm_kernel_resources r = {.struct_size = sizeof r};
    ck_assert(xgemm_kernel_resources_find(NULL, &device, &r) == XGEMM_ERROR_NULL_POINTER);
    ck_assert(xgemm_kernel_resources_find("naive", NULL, &r) == XGEMM_ERROR_NULL_POINTER);
    ck_assert(xgemm_kernel_resources_find("naive", &device, NULL) == XGEMM_ERROR_NULL_POINTER);
    ck_assert(xgemm_kernel_resources_find("", &device, &r) == XGEMM_ERROR_UNKNOWN_KERNEL);
    ck_assert(xgemm_kernel_resources_find("nonsense", &device, &r) == XGEMM_ERROR_UNKNOWN_KERNEL);
    ck_assert_ptr_nonnull(strstr(xgemm_last_error(NULL), "xgemm_kernel_resources_find: there is "
                                                         "no kernel \"nonsense\""));
    ck_assert(xgemm_kernel_resources_find("reference", &device, &r) == XGEMM_ERROR_NOT_SUPPORTED);
    ck_assert(xgemm_device_get(XGEMM_DEVICE_CPU, &host) == XGEMM_OK);
    ck_assert(xgemm_kernel_resources_find("naive", &host, &r) == XGEMM_ERROR_INVALID_VALUE);
    r.struct_size = 0;
    ck_assert(xgemm_kernel_resources_find("naive", &device, &r) == XGEMM_ERROR_INVALID_VALUE);
    r.struct_size = sizeof r;
    device.struct_size = 0;
    ck_assert(xgemm_kernel_resources_find("naive", &device, &r) == XGEMM_ERROR_INVALID_VALUE);
}
END_TEST

/* ---- The suite ---- */

static Suite *occupancies(void)
{
    Suite *suite = suite_create("occupancy");
    TCase *by_hand = add_case(suite, "figures");
    tcase_add_loop_test(by_hand, figures_by_hand, 0, COUNT(figures));
    tcase_add_test(by_hand, seven_hundred_threads);
    tcase_add_test(by_hand, clusters_are_bounded);
    tcase_add_test(by_hand, device_decides);
    tcase_add_test(by_hand, older_struct);
    tcase_add_test(by_hand, older_and_newer_info);

    TCase *refused = add_case(suite, "what is refused");
    tcase_add_loop_test(refused, arguments_beyond_the_limits, 0, COUNT(refusals));
    tcase_add_test(refused, pointers_and_sizes);
    tcase_add_test(refused, devices_that_are_none);

    TCase *said = add_case(suite, "words");
    tcase_add_loop_test(said, texts, 0, COUNT(words));
    tcase_add_test(said, texts_are_cut);
    tcase_add_loop_test(said, advice_is_the_nearest, 0, known_limits());

    TCase *recorded = add_case(suite, "recorded resources");
    tcase_add_loop_test(recorded, recorded_resources, 0, xgemm_kernel_count());
    tcase_add_test(recorded, resources_refused);
    return suite;
}

int main(void)
{
    return run_anywhere(occupancies());
}
