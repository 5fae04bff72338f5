/* SPDX-License-Identifier: BSD-3-Clause */
/* The CUDA backend: probes, timed on what the driver pretends to be. */
#include "driver_support.h"

#include <math.h>
#include <string.h>

enum { PROBE_BYTES = 16384 };

static xgemm_status probe(xgemm_handle *handle, const char *name, xgemm_probe_report **found)
{
    const xgemm_status status = xgemm_probe(handle, name, PROBE_BYTES, found);
    ck_assert_msg(!status == (*found != NULL), "%s: %s", name, xgemm_last_error(handle));
    return status;
}

static void check_point(const xgemm_probe_point *p, double peak)
{
    ck_assert_msg(p->microseconds > 0.0, "%s, %g takes no time", p->series, p->parameter);
    ck_assert_int_eq(p->requests + p->sectors + p->wavefronts, 0);
    ck_assert_int_eq(p->ideal_sectors + p->ideal_wavefronts, 0);
    ck_assert_msg(fabs(p->gbs - p->bytes / p->microseconds * 1e-3) <= 1e-9 * p->gbs,
                  "%s, %g: %g GB/s", p->series, p->parameter, p->gbs);
    if (p->percent_of_peak > 0.0)
        ck_assert_msg(fabs(p->percent_of_peak * peak - 100.0 * p->gbs) <= 1e-6 * p->gbs,
                      "%s, %g: %g %%", p->series, p->parameter, p->percent_of_peak);
}

/* Of the shared memory of the fake's 132 multiprocessors at 1980 MHz, or of its device memory. */
static double peak_of(const xgemm_probe_report *found, const xgemm_probe_point *p)
{
    const bool shared = strcmp(found->name, "banks") == 0 || strncmp(p->series, "shared", 6) == 0;
    return shared ? 132 * 128 * 1.98 : 2.0 * 3201e-3 * 6144 / 8;
}

START_TEST(test_probes)
{
    xgemm_probe_info info = {.struct_size = sizeof info};
    xgemm_probe_report *found;
    xgemm_handle *handle = create(0);
    ck_assert_int_eq(xgemm_probe_get(_i, &info), XGEMM_OK);
    ck_assert_uint_eq(info.devices & XGEMM_RUNS_ON_CUDA, XGEMM_RUNS_ON_CUDA);
    OK(handle, probe(handle, info.name, &found));
    ck_assert_int_gt(found->point_count, 0);
    for (int i = 0; i < found->point_count; i++) {
        const xgemm_probe_point *p = &found->points[i];
        check_point(p, peak_of(found, p));
        const bool transfers = strcmp(info.name, "host-device") == 0;
        const bool launches = strcmp(info.name, "launch") == 0;
        ck_assert_int_eq(p->bytes > 0.0, !launches);
        ck_assert_int_eq(p->percent_of_peak > 0.0, !transfers && !launches);
    }
    xgemm_probe_free(found);
    destroy(handle);
}
END_TEST

/* Sizes of 4 and 16 KiB, each up and down, from pageable memory and from pinned. */
START_TEST(test_probe_of_transfers)
{
    static const char *const series[] = {"upload", "download", "pinned-upload", "pinned-download"};
    xgemm_probe_report *found;
    xgemm_handle *handle = create(0);
    const int pinned = fake.calls("cuMemAllocHost_v2");
    OK(handle, probe(handle, "host-device", &found));
    ck_assert_int_eq(fake.calls("cuMemAllocHost_v2") - pinned, 1);
    ck_assert_int_eq(found->point_count, 8);
    for (int i = 0; i < 8; i++) {
        ck_assert_str_eq(found->points[i].series, series[i / 2]);
        ck_assert_int_eq((int)found->points[i].parameter, i % 2 ? 16384 : 4096);
        ck_assert_int_eq((int)found->points[i].bytes, i % 2 ? 16384 : 4096);
    }
    xgemm_probe_free(found);
    destroy(handle);
}
END_TEST

/* Of the memory that is free; half of it would leave nothing for the second array. */
START_TEST(test_probe_of_own_size)
{
    xgemm_probe_report *found;
    xgemm_handle *handle = create(0);
    set("FAKE_CUDA_MEMORY", 100000);
    OK(handle, xgemm_probe(handle, "rows-columns", 0, &found));
    ck_assert_int_eq((int)found->points[found->point_count - 1].parameter, 64);
    xgemm_probe_free(found);
    GIVES(XGEMM_ERROR_OUT_OF_DEVICE_MEMORY, handle,
          xgemm_probe(handle, "copy-offset", 65536, &found));
    ck_assert_ptr_null(found);
    says(handle, "xgemm_probe: GPU 0 has no 65536 bytes of memory left");
    destroy(handle);
}
END_TEST

static const struct {
    const char *probe, *symbol;
    bool keeps; /* what could not be freed stays */
} probe_failures[] = {
    {"copy-offset", "cuMemAlloc_v2", false},
    {"copy-offset", "cuMemcpyHtoDAsync_v2", false},
    {"copy-offset", LOADING, false},
    {"copy-offset", "cuEventCreate", false},
    {"copy-offset", "cuEventRecord", false},
    {"copy-offset", "cuLaunchKernel", false},
    {"copy-offset", "cuEventSynchronize", false},
    {"copy-offset", "cuEventElapsedTime", false},
    {"copy-offset", "cuMemFree_v2", true},
    {"host-device", "cuMemcpyDtoHAsync_v2", false},
    {"host-device", "cuMemAllocHost_v2", false},
    {"host-device", "cuMemFreeHost", true},
    {"launch", "cuLaunchKernel", false},
    {"launch", "cuStreamSynchronize", false},
    {"launch", "cuEventCreate", false},
    {"launch", "cuEventRecord", false},
    {"launch", "cuEventElapsedTime", false},
};

/* At the first call, at the second, and far into the measurement. */
START_TEST(test_probe_fails)
{
    static const int calls[] = {1, 2, 40};
    xgemm_probe_report *found;
    xgemm_handle *handle = create(0);
    const char *symbol = probe_failures[_i].symbol;
    for (int i = 0; i < (probe_failures[_i].keeps ? 1 : 3); i++) {
        const int before = call_count(symbol);
        fail_nth(symbol, 999, calls[i], 1);
        const xgemm_status status = probe(handle, probe_failures[_i].probe, &found);
        fail_no_more();
        const bool reached = call_count(symbol) - before >= calls[i];
        ck_assert_msg(status == (reached ? XGEMM_ERROR_DRIVER : XGEMM_OK), "%s, call %d: %s",
                      symbol, calls[i], xgemm_status_name(status));
        ck_assert_msg(reached || i > 0, "%s was not called", symbol);
        same_context(symbol);
        xgemm_probe_free(found);
    }
    destroy(handle);
    expected_leaks = probe_failures[_i].keeps; /* the driver takes it back with the context */
}
END_TEST

void add_probe_cases(Suite *suite)
{
    TCase *tcase = add_case(suite, "probes", setup, teardown);
    tcase_add_loop_test(tcase, test_probes, 0, xgemm_probe_count());
    tcase_add_test(tcase, test_probe_of_transfers);
    tcase_add_test(tcase, test_probe_of_own_size);
    tcase_add_loop_test(tcase, test_probe_fails, 0,
                        (int)(sizeof probe_failures / sizeof *probe_failures));
}
