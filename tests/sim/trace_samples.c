/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces of a sample of a launch's blocks. */
#include "traces.h"

static void assert_same_ratio(int64_t part, int64_t part_requests, int64_t whole,
                              int64_t whole_requests)
{
    ck_assert_int_eq(part * whole_requests, whole * part_requests);
}

static void assert_same_site(const xgemm_trace_site *part, const xgemm_trace_site *whole)
{
    const int64_t of_part = part->requests, of_whole = whole->requests;
    ck_assert_str_eq(part->file, whole->file);
    ck_assert_int_eq(part->line, whole->line);
    ck_assert_str_eq(part->array, whole->array);
    assert_same_ratio(part->lanes, of_part, whole->lanes, of_whole);
    assert_same_ratio(part->sectors, of_part, whole->sectors, of_whole);
    assert_same_ratio(part->ideal_sectors, of_part, whole->ideal_sectors, of_whole);
    assert_same_ratio(part->cache_lines, of_part, whole->cache_lines, of_whole);
    assert_same_ratio(part->wavefronts, of_part, whole->wavefronts, of_whole);
    ck_assert_int_eq(part->most_sectors, whole->most_sectors);
    ck_assert_int_eq(part->most_ways, whole->most_ways);
}

static const char *const sampled[] = {"naive", "tiled16", "corner-turned"};

/* Where the size is a multiple of the tile, all blocks do the same. */
START_TEST(sample_has_the_ratios_of_the_whole)
{
    xgemm_trace_problem problem = cube(128);
    xgemm_trace_report *whole = trace(sampled[_i], &problem);
    problem.most_blocks = 5;
    xgemm_trace_report *part = trace(sampled[_i], &problem);
    ck_assert_int_eq(whole->blocks_run, whole->blocks);
    ck_assert_int_eq(part->blocks, whole->blocks);
    ck_assert_int_eq(part->blocks_run, 5);
    assert_same_ratio(part->warps_run, 5, whole->warps_run, whole->blocks);
    assert_same_ratio(part->barriers, 5, whole->barriers, whole->blocks);
    ck_assert_double_eq_tol(part->bytes_asked, whole->bytes_asked, 1e-6 * whole->bytes_asked);
    ck_assert_double_eq_tol(part->bytes_moved, whole->bytes_moved, 1e-6 * whole->bytes_moved);
    ck_assert_int_eq(part->site_count, whole->site_count);
    for (int i = 0; i < part->site_count; i++)
        assert_same_site(&part->sites[i], &whole->sites[i]);
    xgemm_trace_free(part);
    xgemm_trace_free(whole);
}
END_TEST

/* 49 blocks, the last of which has 4 x 4 elements of C inside. */
START_TEST(sample_ends_with_the_last_block)
{
    static const struct {
        int64_t most, run, floats;
    } samples[] = {{1, 1, 256}, {2, 2, 256 + 16}, {48, 48, -1}, {49, 49, 10000}, {50, 49, 10000}};
    for (int i = 0; i < COUNT(samples); i++) {
        xgemm_trace_problem problem = cube(100);
        problem.most_blocks = samples[i].most;
        xgemm_trace_report *report = trace("tiled16", &problem);
        ck_assert_int_eq(report->blocks_run, samples[i].run);
        if (samples[i].floats >= 0)
            ck_assert_int_eq(floats_of(report, NULL, "C", STORES), samples[i].floats);
        xgemm_trace_free(report);
    }
}
END_TEST

void add_trace_samples(Suite *suite)
{
    TCase *samples = new_case(suite, "samples", TIMEOUT_S);
    tcase_add_loop_test(samples, sample_has_the_ratios_of_the_whole, 0, COUNT(sampled));
    tcase_add_test(samples, sample_ends_with_the_last_block);
}
