/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What xgemm_trace() counts, against numbers that the kernels' source gives by
 * hand: a compiler that merges, splits or drops an access fails here.
 */
#include "traces.h"

#include <string.h>

/*
 * 7 x 7 blocks of 8 warps, 7 phases. The last row of blocks has 4 of 16 rows
 * inside: 2 of its 8 warps load A. In the last phase 4 of 16 columns are.
 */
START_TEST(tiled16_at_a_hundred)
{
    const xgemm_trace_problem problem = cube(100);
    xgemm_trace_report *report = trace("tiled16", &problem);
    enum { PHASES = 7, ROWS_OF_WARPS = 6 * 8 + 2, WARPS_WITH_A = ROWS_OF_WARPS * 7, WARPS = 392 };
    ck_assert_str_eq(report->kernel, "tiled16");
    ck_assert_int_eq(report->blocks, 49);
    ck_assert_int_eq(report->blocks_run, 49);
    ck_assert_int_eq(report->warps_run, WARPS);
    ck_assert_int_eq(report->barriers, 49 * PHASES * 2);
    for (int d = 0; d < 3; d++) {
        ck_assert_int_eq(report->grid[d], d < 2 ? 7 : 1);
        ck_assert_int_eq(report->block[d], d < 2 ? 16 : 1);
    }
    const xgemm_trace_site a = sum_of(report, "A", GLOBAL, LOADS);
    const int64_t idle = (WARPS - WARPS_WITH_A) * PHASES;
    ck_assert_int_eq(a.requests + idle, 2744);
    ck_assert_int_eq(a.partial_requests, 336 + 14);
    ck_assert_int_eq(a.lanes, 100 * 100 * 7);

    const xgemm_trace_site b = sum_of(report, "B", GLOBAL, LOADS);
    ck_assert_int_eq(b.requests, WARPS * 6 + 7 * 7 * 2);
    ck_assert_int_eq(b.partial_requests, 7 * (8 * 6 + 2));
    ck_assert_int_eq(b.lanes, 100 * 100 * 7);

    const xgemm_trace_site c = sum_of(report, "C", GLOBAL, STORES);
    ck_assert_int_eq(c.requests, WARPS_WITH_A);
    ck_assert_int_eq(c.partial_requests, ROWS_OF_WARPS);
    ck_assert_int_eq(c.lanes, 100 * 100);
    ck_assert_int_eq(sum_of(report, "C", GLOBAL, LOADS).requests, 0);

    ck_assert_int_eq(sum_of(report, "a_tile", SHARED, STORES).requests, WARPS * PHASES);
    ck_assert_int_eq(sum_of(report, "a_tile", SHARED, LOADS).requests, WARPS * PHASES * 16);
    ck_assert_int_eq(sum_of(report, "b_tile", SHARED, LOADS).requests, WARPS * PHASES * 16);
    xgemm_trace_free(report);
}
END_TEST

START_TEST(naive_coalesces_nothing)
{
    const xgemm_trace_problem problem = cube(SIZE);
    xgemm_trace_report *report = trace("naive", &problem);
    assert_sectors(report, "A", LOADS, 32, 4);
    assert_sectors(report, "B", LOADS, 1, 1);
    assert_sectors(report, "C", STORES, 32, 4);
    ck_assert_int_eq(sum_of(report, "A", GLOBAL, LOADS).requests, SIZE * SIZE * SIZE / 32);
    ck_assert_int_eq(sum_of(report, "A", GLOBAL, LOADS).cache_lines, SIZE * SIZE * SIZE);
    ck_assert_int_eq(report->barriers, 0);
    ck_assert_double_eq(report->simt_efficiency, 1.0);
    xgemm_trace_free(report);
}
END_TEST

START_TEST(coalesced_coalesces)
{
    const xgemm_trace_problem problem = cube(SIZE);
    xgemm_trace_report *report = trace("coalesced", &problem);
    assert_sectors(report, "A", LOADS, 1, 1);
    assert_sectors(report, "B", LOADS, 4, 4);
    assert_sectors(report, "C", STORES, 4, 4);
    ck_assert_int_eq(sum_of(report, "B", GLOBAL, LOADS).cache_lines, SIZE * SIZE * SIZE / 32);
    xgemm_trace_free(report);
}
END_TEST

START_TEST(one_thread_of_a_warp_is_missing)
{
    xgemm_trace_problem problem = cube(32);
    problem.n = 127;
    xgemm_trace_report *report = trace("coalesced", &problem);
    const xgemm_trace_site c = sum_of(report, "C", GLOBAL, STORES);
    ck_assert_int_eq(c.requests, 32 * 4);
    ck_assert_int_eq(c.partial_requests, 32);
    ck_assert_int_eq(c.lanes, 32 * 127);
    xgemm_trace_free(report);
}
END_TEST

START_TEST(corner_turning_turns_b)
{
    xgemm_trace_problem problem = cube(SIZE);
    problem.transb = XGEMM_TRANS;
    xgemm_trace_report *slow = trace("tiled16-colmajor", &problem);
    assert_sectors(slow, "A", LOADS, 4, 4);
    assert_sectors(slow, "B", LOADS, 16, 4);
    xgemm_trace_free(slow);

    xgemm_trace_report *turned = trace("corner-turned", &problem);
    assert_sectors(turned, "A", LOADS, 4, 4);
    assert_sectors(turned, "B", LOADS, 4, 4);
    assert_no_conflicts(turned, "b_tile", STORES);
    assert_no_conflicts(turned, "b_tile", LOADS);
    xgemm_trace_free(turned);
}
END_TEST

START_TEST(vectorized_moves_sixteen_bytes)
{
    const xgemm_trace_problem problem = cube(SIZE);
    xgemm_trace_report *report = trace("vectorized", &problem);
    for (int i = 0; i < report->site_count; i++) {
        const xgemm_trace_site *site = &report->sites[i];
        const bool transposes = strcmp(site->array, "a_tile") == 0 && site->is_store;
        ck_assert_msg(site->bytes == (transposes ? 4 : 16), "%s:%d %s: %d bytes", site->file,
                      site->line, site->array, site->bytes);
    }
    assert_sectors(report, "A", LOADS, 16, 16);
    assert_sectors(report, "B", LOADS, 16, 16);
    assert_sectors(report, "C", STORES, 16, 16);
    assert_no_conflicts(report, "a_tile", LOADS);
    assert_no_conflicts(report, "b_tile", LOADS);
    xgemm_trace_free(report);
}
END_TEST

void add_trace_counts(Suite *suite)
{
    TCase *counts = new_case(suite, "exact counts", TIMEOUT_S);
    tcase_add_test(counts, tiled16_at_a_hundred);
    tcase_add_test(counts, naive_coalesces_nothing);
    tcase_add_test(counts, coalesced_coalesces);
    tcase_add_test(counts, one_thread_of_a_warp_is_missing);
    tcase_add_test(counts, corner_turning_turns_b);
    tcase_add_test(counts, vectorized_moves_sixteen_bytes);
}
