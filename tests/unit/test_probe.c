/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The probes. On the simulator their counts, against numbers that follow from
 * sectors of 32 bytes and 32 banks of 4; on a GPU ($XGEMM_TEST_DEVICE=N) that
 * the slow ways are slow.
 */
#include "support.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77, WARP = 32 };

/* ---- Probes and points ---- */

static xgemm_probe_info info_of(int index)
{
    xgemm_probe_info info = {.struct_size = sizeof info};
    ck_assert_int_eq(xgemm_probe_get(index, &info), XGEMM_OK);
    return info;
}

static unsigned device_bit(void)
{
    return test_device() == XGEMM_DEVICE_SIM   ? XGEMM_RUNS_ON_SIM
           : test_device() == XGEMM_DEVICE_CPU ? XGEMM_RUNS_ON_CPU
                                               : XGEMM_RUNS_ON_CUDA;
}

static xgemm_probe_report *probe_bytes(const char *name, int64_t bytes)
{
    xgemm_probe_report *found;
    xgemm_handle *handle = open_handle(test_device());
    const xgemm_status status = xgemm_probe(handle, name, bytes, &found);
    ck_assert_msg(status == XGEMM_OK, "%s: %s", name, xgemm_last_error(handle));
    xgemm_destroy(handle); /* the report outlives it */
    ck_assert_str_eq(found->name, name);
    ck_assert_uint_eq(found->struct_size, sizeof *found);
    ck_assert_uint_eq(found->point_size, sizeof *found->points);
    return found;
}

static xgemm_probe_report *probe(const char *name)
{
    return probe_bytes(name, 0);
}

static const xgemm_probe_point *point(const xgemm_probe_report *found, const char *series,
                                      double parameter)
{
    for (int i = 0; i < found->point_count; i++)
        if (strcmp(found->points[i].series, series) == 0 &&
            !(found->points[i].parameter < parameter) && !(found->points[i].parameter > parameter))
            return &found->points[i];
    ck_abort_msg("%s has no point %s, %g", found->name, series, parameter);
    return NULL;
}

static int points_of(const xgemm_probe_report *found, const char *series)
{
    int count = 0;
    for (int i = 0; i < found->point_count; i++)
        count += strcmp(found->points[i].series, series) == 0;
    return count;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int common_divisor(int a, int b)
{
    return b ? common_divisor(b, a % b) : a;
}

/* So many requests, each of so many sectors. */
static void assert_sectors(const xgemm_probe_report *found, const char *series, double parameter,
                           int64_t requests, int sectors, int ideal)
{
    const xgemm_probe_point *p = point(found, series, parameter);
    ck_assert_int_eq(p->requests, requests);
    ck_assert_int_eq(p->sectors, sectors * requests);
    ck_assert_int_eq(p->ideal_sectors, ideal * requests);
    ck_assert_int_eq(p->wavefronts, 0);
    ck_assert_int_eq(p->ideal_wavefronts, 0);
}

static void assert_passes(const xgemm_probe_report *found, const char *series, double parameter,
                          int64_t requests, int passes)
{
    const xgemm_probe_point *p = point(found, series, parameter);
    ck_assert_int_eq(p->requests, requests);
    ck_assert_int_eq(p->wavefronts, passes * requests);
    ck_assert_int_eq(p->ideal_wavefronts, requests);
    ck_assert_int_eq(p->sectors, 0);
    ck_assert_int_eq(p->ideal_sectors, 0);
}

/* ---- The table ---- */

START_TEST(names)
{
    static const char *const all[] = {"copy-offset",    "copy-stride", "rows-columns",
                                      "complex-layout", "banks",       "powers",
                                      "host-device",    "launch"};
    ck_assert_int_eq(xgemm_probe_count(), COUNT(all));
    for (int i = 0; i < COUNT(all); i++) {
        const xgemm_probe_info info = info_of(i);
        ck_assert_str_eq(info.name, all[i]);
        ck_assert_uint_eq(info.struct_size, sizeof info);
        ck_assert(*info.summary && *info.parameter && *info.unit);
        ck_assert_uint_eq(info.devices & XGEMM_RUNS_ON_CPU, 0);
        ck_assert_int_eq((info.devices & XGEMM_RUNS_ON_SIM) != 0, i < 6);
    }
}
END_TEST

START_TEST(wrong_questions)
{
    xgemm_probe_info info = {.struct_size = sizeof info};
    ck_assert_int_eq(xgemm_probe_get(0, NULL), XGEMM_ERROR_NULL_POINTER);
    ck_assert_str_eq(xgemm_last_error(NULL), "xgemm_probe_get: info is NULL");
    ck_assert_int_eq(xgemm_probe_get(-1, &info), XGEMM_ERROR_INVALID_VALUE);
    ck_assert_int_eq(xgemm_probe_get(xgemm_probe_count(), &info), XGEMM_ERROR_INVALID_VALUE);
    ck_assert_ptr_nonnull(strstr(xgemm_last_error(NULL), "there are 8 probes"));
    info.struct_size = 0;
    ck_assert_int_eq(xgemm_probe_get(0, &info), XGEMM_ERROR_INVALID_VALUE);
    ck_assert_ptr_nonnull(strstr(xgemm_last_error(NULL), "sizeof(xgemm_probe_info)"));
}
END_TEST

/* An older program has a smaller struct, a newer one a larger. */
START_TEST(other_sizes)
{
    struct {
        xgemm_probe_info info;
        char more[64];
    } larger;
    xgemm_probe_info smaller = {.struct_size = offsetof(xgemm_probe_info, summary),
                                .summary = "untouched"};
    ck_assert_int_eq(xgemm_probe_get(0, &smaller), XGEMM_OK);
    ck_assert_str_eq(smaller.name, "copy-offset");
    ck_assert_str_eq(smaller.summary, "untouched");
    memset(&larger, 'x', sizeof larger);
    larger.info.struct_size = sizeof larger;
    ck_assert_int_eq(xgemm_probe_get(1, &larger.info), XGEMM_OK);
    ck_assert_str_eq(larger.info.name, "copy-stride");
    ck_assert_int_eq(larger.more[0], 'x');
}
END_TEST

/* ---- Counts ---- */

enum { BYTES = 65536, FLOATS = BYTES / 4 };

START_TEST(offsets)
{
    xgemm_probe_report *found = probe_bytes("copy-offset", BYTES);
    ck_assert_int_eq(found->point_count, 33);
    for (int offset = 0; offset <= 32; offset++) {
        assert_sectors(found, "offset", offset, FLOATS / WARP, offset % 8 ? 5 : 4, 4);
        ck_assert_int_eq((int)point(found, "offset", offset)->bytes, 2 * BYTES);
    }
    xgemm_probe_free(found);
}
END_TEST

START_TEST(strides)
{
    xgemm_probe_report *found = probe_bytes("copy-stride", BYTES);
    ck_assert_int_eq(found->point_count, 32);
    for (int stride = 1; stride <= 32; stride++) {
        const int warps = FLOATS / stride / WARP;
        assert_sectors(found, "stride", stride, 2 * warps, least(32, 4 * stride), 4);
        ck_assert_int_eq((int)point(found, "stride", stride)->bytes, 8 * WARP * warps);
    }
    xgemm_probe_free(found);
}
END_TEST

START_TEST(rows_and_columns)
{
    xgemm_probe_report *found = probe_bytes("rows-columns", 4 * 256 * 256);
    ck_assert_int_eq(found->point_count, 2 * 4);
    for (int side = 32; side <= 256; side *= 2) {
        assert_sectors(found, "rows", side, side * side / WARP, 4, 4);
        assert_sectors(found, "columns", side, side * side / WARP, 32, 4);
    }
    xgemm_probe_free(found);
}
END_TEST

/* The same numbers in each layout: half as many requests, twice as wide, for pairs. */
START_TEST(complex_layouts)
{
    xgemm_probe_report *found = probe_bytes("complex-layout", BYTES);
    ck_assert_int_eq(found->point_count, 6);
    for (int part = 4; part <= 8; part += 4) {
        const int warps = BYTES / (2 * part) / WARP, sectors = part;
        assert_sectors(found, "interleaved", part, 2 * warps, 2 * sectors, 2 * sectors);
        assert_sectors(found, "split", part, 4 * warps, sectors, sectors);
        assert_sectors(found, "componentwise", part, 4 * warps, 2 * sectors, sectors);
        ck_assert_int_eq((int)point(found, "split", part)->bytes, 2 * BYTES);
    }
    xgemm_probe_free(found);
}
END_TEST

/* One block of 8 warps, 32 reads each. */
START_TEST(banks)
{
    xgemm_probe_report *found = probe("banks");
    ck_assert_int_eq(found->point_count, 35);
    for (int stride = 1; stride <= 32; stride++)
        assert_passes(found, "stride", stride, 8 * 32, common_divisor(stride, 32));
    assert_passes(found, "broadcast", 0, 8 * 32, 1);
    assert_passes(found, "unpadded", 32, 8 * 32, 32);
    assert_passes(found, "padded", 33, 8 * 32, 1);
    xgemm_probe_free(found);
}
END_TEST

/* One block of 4 warps, a store for each power. */
START_TEST(powers)
{
    xgemm_probe_report *found = probe_bytes("powers", BYTES);
    ck_assert_int_eq(found->point_count, 5 * 6);
    for (int n = 1; n <= 32; n *= 2) {
        assert_passes(found, "shared-by-thread", n, 4 * n, n);
        assert_passes(found, "shared-by-power", n, 4 * n, 1);
        assert_passes(found, "shared-padded", n, 4 * n, n == 1 ? 2 : 1);
        assert_sectors(found, "global-by-thread", n, FLOATS / WARP, least(32, 4 * n), 4);
        assert_sectors(found, "global-by-power", n, FLOATS / WARP, 4, 4);
    }
    xgemm_probe_free(found);
}
END_TEST

/* The least size, one that is no multiple of anything, and a large one. */
START_TEST(sizes)
{
    static const int64_t bytes[] = {16384, 20001, 1 << 20};
    const int64_t used = bytes[_i] / 4096 * 4096;
    xgemm_probe_report *found = probe_bytes("copy-offset", bytes[_i]);
    assert_sectors(found, "offset", 0, used / 128, 4, 4);
    assert_sectors(found, "offset", 31, used / 128, 5, 4);
    xgemm_probe_free(found);
    found = probe_bytes("powers", bytes[_i]);
    assert_passes(found, "shared-by-thread", 32, 128, 32);
    assert_sectors(found, "global-by-thread", 32, used / (32 * 4 * 128) * 128, 32, 4);
    xgemm_probe_free(found);
}
END_TEST

START_TEST(no_times_on_the_simulator)
{
    const xgemm_probe_info info = info_of(_i);
    if (!(info.devices & XGEMM_RUNS_ON_SIM))
        return;
    xgemm_probe_report *found = probe(info.name);
    for (int i = 0; i < found->point_count; i++) {
        ck_assert(!(found->points[i].microseconds > 0.0));
        ck_assert(!(found->points[i].gbs > 0.0));
        ck_assert(!(found->points[i].percent_of_peak > 0.0));
        ck_assert(found->points[i].bytes > 0.0);
    }
    xgemm_probe_free(found);
}
END_TEST

/* ---- Times: with room for other tests on the same GPU ---- */

static double speed(const xgemm_probe_report *found, const char *series, double parameter)
{
    return point(found, series, parameter)->gbs;
}

START_TEST(times_on_a_gpu)
{
    const xgemm_probe_info info = info_of(_i);
    xgemm_probe_report *found = probe(info.name);
    ck_assert_int_gt(found->point_count, 0);
    for (int i = 0; i < found->point_count; i++) {
        const xgemm_probe_point *p = &found->points[i];
        ck_assert_msg(p->microseconds > 0.0, "%s, %s, %g takes no time", info.name, p->series,
                      p->parameter);
        ck_assert_int_eq(p->requests + p->sectors + p->wavefronts, 0);
        ck_assert_int_eq(p->ideal_sectors + p->ideal_wavefronts, 0);
    }
    xgemm_probe_free(found);
}
END_TEST

START_TEST(memory_on_a_gpu)
{
    xgemm_probe_report *found = probe("copy-offset");
    const double aligned = point(found, "offset", 0)->percent_of_peak;
    ck_assert_msg(aligned > 10.0 && aligned <= 105.0, "a copy has %g %% of the peak", aligned);
    xgemm_probe_free(found);

    found = probe("copy-stride");
    ck_assert(speed(found, "stride", 1) > 3.0 * speed(found, "stride", 32));
    xgemm_probe_free(found);

    found = probe("rows-columns");
    const double side = found->points[found->point_count - 1].parameter;
    ck_assert(speed(found, "rows", side) > 1.5 * speed(found, "columns", side));
    xgemm_probe_free(found);
}
END_TEST

START_TEST(shared_memory_on_a_gpu)
{
    xgemm_probe_report *found = probe("banks");
    const double peak = point(found, "stride", 1)->percent_of_peak;
    ck_assert_msg(peak > 10.0 && peak <= 105.0, "reads have %g %% of the peak", peak);
    ck_assert(speed(found, "stride", 1) > 8.0 * speed(found, "stride", 32));
    ck_assert(speed(found, "padded", 33) > 8.0 * speed(found, "unpadded", 32));
    ck_assert(speed(found, "broadcast", 0) > 8.0 * speed(found, "unpadded", 32));
    xgemm_probe_free(found);

    found = probe("powers");
    ck_assert(speed(found, "shared-by-power", 32) > 4.0 * speed(found, "shared-by-thread", 32));
    ck_assert(speed(found, "shared-padded", 32) > 4.0 * speed(found, "shared-by-thread", 32));
    ck_assert_int_eq(points_of(found, "global-by-power"), 6);
    xgemm_probe_free(found);
}
END_TEST

/* ---- What is refused ---- */

static void refuses(int device, const char *name, int64_t bytes, xgemm_status status,
                    const char *sentence)
{
    xgemm_probe_report rubbish, *found = &rubbish;
    xgemm_handle *handle = open_handle(device);
    ck_assert_int_eq(xgemm_probe(handle, name, bytes, &found), status);
    ck_assert_ptr_null(found);
    ck_assert_msg(strncmp(xgemm_last_error(handle), "xgemm_probe: ", 13) == 0 &&
                      strstr(xgemm_last_error(handle), sentence),
                  "\"%s\" is not in \"%s\"", sentence, xgemm_last_error(handle));
    xgemm_destroy(handle);
}

START_TEST(null_pointers)
{
    xgemm_probe_report rubbish, *found = &rubbish;
    ck_assert_int_eq(xgemm_probe(NULL, "banks", 0, &found), XGEMM_ERROR_NULL_POINTER);
    ck_assert_ptr_null(found);
    ck_assert_str_eq(xgemm_last_error(NULL), "xgemm_probe: handle is NULL");
    ck_assert_int_eq(xgemm_probe(NULL, NULL, 0, NULL), XGEMM_ERROR_NULL_POINTER);
    refuses(test_device(), NULL, 0, XGEMM_ERROR_NULL_POINTER, "name is NULL");
    xgemm_handle *handle = open_handle(test_device());
    ck_assert_int_eq(xgemm_probe(handle, "banks", 0, NULL), XGEMM_ERROR_NULL_POINTER);
    ck_assert_str_eq(xgemm_last_error(handle), "xgemm_probe: report is NULL");
    xgemm_destroy(handle);
    xgemm_probe_free(NULL);
}
END_TEST

START_TEST(wrong_names)
{
    static const char *const wrong[] = {"", "bank", "banks ", "BANKS", "naive"};
    for (int i = 0; i < COUNT(wrong); i++)
        refuses(test_device(), wrong[i], 0, XGEMM_ERROR_INVALID_VALUE,
                "there are copy-offset, copy-stride, rows-columns, complex-layout, banks, powers, "
                "host-device, launch");
}
END_TEST

START_TEST(wrong_sizes)
{
    static const int64_t wrong[] = {-1, INT64_MIN, 1, 16383, INT64_MAX, (INT64_C(1) << 39) + 1};
    for (int i = 0; i < COUNT(wrong); i++)
        refuses(test_device(), "copy-offset", wrong[i], XGEMM_ERROR_INVALID_VALUE,
                "or from 16384 to ");
}
END_TEST

START_TEST(other_devices)
{
    for (int i = 0; i < xgemm_probe_count(); i++)
        refuses(XGEMM_DEVICE_CPU, info_of(i).name, 0, XGEMM_ERROR_NOT_SUPPORTED,
                "it runs on a GPU");
    refuses(XGEMM_DEVICE_SIM, "host-device", 0, XGEMM_ERROR_NOT_SUPPORTED, "it runs on a GPU");
    refuses(XGEMM_DEVICE_SIM, "launch", 0, XGEMM_ERROR_NOT_SUPPORTED, "it runs on a GPU");
    refuses(XGEMM_DEVICE_SIM, "banks", (INT64_C(1) << 28) + 1, XGEMM_ERROR_INVALID_VALUE,
            "on the simulator device");
}
END_TEST

/* ---- The suite ---- */

static void add_counts(Suite *suite)
{
    TCase *counts = add_case(suite, "counts");
    tcase_add_test(counts, offsets);
    tcase_add_test(counts, strides);
    tcase_add_test(counts, rows_and_columns);
    tcase_add_test(counts, complex_layouts);
    tcase_add_test(counts, banks);
    tcase_add_test(counts, powers);
    tcase_add_loop_test(counts, sizes, 0, 3);
    tcase_add_loop_test(counts, no_times_on_the_simulator, 0, xgemm_probe_count());
}

static void add_times(Suite *suite)
{
    TCase *times = add_case(suite, "times");
    tcase_add_loop_test(times, times_on_a_gpu, 0, xgemm_probe_count());
    tcase_add_test(times, memory_on_a_gpu);
    tcase_add_test(times, shared_memory_on_a_gpu);
}

static Suite *probes(void)
{
    Suite *suite = suite_create("probes");
    TCase *table = add_case(suite, "the table");
    tcase_add_test(table, wrong_questions);
    tcase_add_test(table, other_sizes);
    if (test_device() < 0) {
        tcase_add_test(table, names);
        add_counts(suite);
    } else {
        add_times(suite);
    }
    TCase *refused = add_case(suite, "what is refused");
    tcase_add_test(refused, null_pointers);
    tcase_add_test(refused, wrong_names);
    tcase_add_test(refused, wrong_sizes);
    if (test_device() < 0)
        tcase_add_test(refused, other_devices);
    return suite;
}

/* What can be counted depends on the compiler, and what can be timed on nvcc. */
int main(void)
{
    xgemm_probe_info info = {.struct_size = sizeof info};
    if (xgemm_probe_get(0, &info) == XGEMM_OK && !(info.devices & device_bit())) {
        printf("SKIP: this build has no probes for the device under test\n");
        return SKIPPED;
    }
    return run_suite(probes());
}
