/* SPDX-License-Identifier: BSD-3-Clause */
/* Of every kernel: its traffic, its reads of shared memory, and whether its traces hold together.
 */
#include "traces.h"

#include <string.h>

/* ---- Traffic, and reads of shared memory ---- */

static const struct {
    const char *kernel, *file; /* the file: where several launches have an A or a B */
    double flop_per_byte;
    int a_reads, b_reads; /* of shared memory, by each warp for each k */
} ladder[] = {
    {"naive", NULL, 0.25, 0, 0},
    {"coalesced", NULL, 0.25, 0, 0},
    {"tiled16", NULL, 4.0, 1, 1},
    {"tiled16-colmajor", NULL, 4.0, 1, 1},
    {"corner-turned", NULL, 4.0, 1, 1},
    {"tiled32", NULL, 8.0, 1, 1},
    {"padded", "padded.cu", 8.0, 1, 1},
    {"coarsened", NULL, 12.8, 4, 1},
    {"register-tiled-1d", NULL, 16.0, 8, 1},
    {"register-tiled-2d", NULL, 32.0, 8, 8},
    {"vectorized", NULL, 32.0, 2, 2},
};

static double flop_per_byte_of(const char *kernel)
{
    xgemm_kernel_info info = {.struct_size = sizeof info};
    for (int i = 0; i < xgemm_kernel_count(); i++)
        if (xgemm_kernel_get(i, &info) == XGEMM_OK && strcmp(info.name, kernel) == 0)
            return info.flop_per_byte;
    ck_abort_msg("no kernel is named %s", kernel);
    return 0.0;
}

/* Warps of the product's launch alone. */
static int64_t product_warps(const xgemm_trace_report *report)
{
    const int64_t threads = (int64_t)report->block[0] * report->block[1] * report->block[2];
    return report->grid[0] * report->grid[1] * report->grid[2] * (threads / 32);
}

static void check_traffic(const xgemm_trace_report *report, const char *file, double flop_per_byte)
{
    const int64_t floats =
        floats_of(report, file, "A", LOADS) + floats_of(report, file, "B", LOADS);
    const double flops = 2.0 * SIZE * SIZE * SIZE;
    ck_assert_double_eq(report->flops, flops);
    ck_assert_double_eq_tol(flops / (4.0 * (double)floats), flop_per_byte, 1e-9);
    ck_assert_double_eq_tol(flop_per_byte_of(report->kernel), flop_per_byte, 1e-9);
}

START_TEST(traffic_is_the_textbooks)
{
    const xgemm_trace_problem problem = cube(SIZE);
    const char *file = ladder[_i].file;
    xgemm_trace_report *report = trace(ladder[_i].kernel, &problem);
    check_traffic(report, file, ladder[_i].flop_per_byte);
    const int64_t steps = product_warps(report) * SIZE;
    const xgemm_trace_site a = sum_in(report, file, "a_tile", SHARED, LOADS);
    const xgemm_trace_site b = sum_in(report, file, "b_tile", SHARED, LOADS);
    ck_assert_int_eq(a.requests, steps * ladder[_i].a_reads);
    ck_assert_int_eq(b.requests, steps * ladder[_i].b_reads);
    ck_assert_int_eq(a.wavefronts, a.ideal_wavefronts);
    ck_assert_int_eq(b.wavefronts, b.ideal_wavefronts);
    xgemm_trace_free(report);
}
END_TEST

/* As a card's counters had them: where all lanes want what a neighbour does, half as many. */
START_TEST(vec4_by_quarters_of_warps)
{
    const xgemm_trace_problem problem = cube(SIZE);
    xgemm_trace_report *report = trace("vectorized", &problem);
    const xgemm_trace_site a = sum_of(report, "a_tile", SHARED, LOADS);
    const xgemm_trace_site b = sum_of(report, "b_tile", SHARED, LOADS);
    ck_assert_int_eq(a.wavefronts, 2 * a.requests);
    ck_assert_int_eq(b.wavefronts, 4 * b.requests);
    xgemm_trace_free(report);
    report = trace("pipelined-32x64", &problem); /* its lanes are in pairs */
    const xgemm_trace_site both = sum_in(report, "tile.inc", "dynamic", SHARED, LOADS);
    ck_assert_int_gt(both.requests, 0);
    ck_assert_int_eq(both.wavefronts, 2 * both.requests);
    xgemm_trace_free(report);
}
END_TEST

/* The sums of a report are those of its sites. */
START_TEST(bytes_are_the_sites)
{
    const xgemm_trace_problem problem = cube(100);
    xgemm_trace_report *report = trace(ladder[_i].kernel, &problem);
    double asked = 0.0, moved = 0.0;
    for (int i = 0; i < report->site_count; i++)
        if (!report->sites[i].is_shared) {
            asked += (double)(report->sites[i].lanes * report->sites[i].bytes);
            moved += 32.0 * (double)report->sites[i].sectors;
        }
    ck_assert_double_eq(report->bytes_asked, asked);
    ck_assert_double_eq(report->bytes_moved, moved);
    ck_assert_double_eq_tol(report->flop_per_byte_asked, 2e6 / asked, 1e-9);
    ck_assert_double_eq_tol(report->flop_per_byte_moved, 2e6 / moved, 1e-9);
    xgemm_trace_free(report);
}
END_TEST

/* ---- Every kernel ---- */

static void check_site(const char *kernel, const xgemm_trace_site *site)
{
    ck_assert_msg(site->file && *site->file && !strchr(site->file, '/') && site->line > 0 &&
                      site->array && *site->array && site->source && *site->source,
                  "%s: a site at %s:%d has no file, line, text or array", kernel, site->file,
                  site->line);
    ck_assert_int_gt(site->requests, 0);
    ck_assert_int_le(site->partial_requests, site->requests);
    ck_assert_int_ge(site->lanes, site->requests);
    ck_assert_int_le(site->lanes, 32 * site->requests);
    ck_assert_int_ge(site->sectors, site->ideal_sectors);
    ck_assert_int_ge(site->wavefronts, site->ideal_wavefronts);
    ck_assert_int_eq(site->sectors == 0, site->is_shared);
    ck_assert_int_eq(site->wavefronts == 0, !site->is_shared);
}

static void check_layout(const char *kernel, int layout, float beta)
{
    shape lies;
    memset(&lies, 0, sizeof lies);
    set_layout(&lies, layout);
    const xgemm_trace_problem problem = {.struct_size = sizeof problem,
                                         .order = lies.order,
                                         .transa = lies.transa,
                                         .transb = lies.transb,
                                         .m = 33,
                                         .n = 65,
                                         .k = 17,
                                         .beta = beta};
    xgemm_trace_report *report = trace(kernel, &problem);
    const char *last = strcmp(kernel, "padded") == 0 ? "unpad.cu" : NULL;
    ck_assert_int_eq(report->blocks_run, report->blocks);
    ck_assert_uint_eq(report->struct_size, sizeof *report);
    ck_assert_uint_eq(report->site_size, sizeof *report->sites);
    ck_assert_int_eq(floats_of(report, last, "C", STORES), 33 * 65);
    ck_assert_int_eq(floats_of(report, NULL, "C", LOADS), beta == 0.0f ? 0 : 33 * 65);
    ck_assert(report->simt_efficiency > 0.0 && report->simt_efficiency <= 1.0);
    for (int i = 0; i < report->site_count; i++)
        check_site(kernel, &report->sites[i]);
    xgemm_trace_free(report);
}

START_TEST(every_kernel_in_every_layout)
{
    int indices[64];
    const int count = kernels_of(XGEMM_DEVICE_SIM, indices, COUNT(indices));
    ck_assert_int_ge(count, COUNT(ladder));
    for (int i = 0; i < count; i++) {
        xgemm_kernel_info info = {.struct_size = sizeof info};
        ck_assert_int_eq(xgemm_kernel_get(indices[i], &info), XGEMM_OK);
        check_layout(info.name, _i, 0.0f);
        check_layout(info.name, _i, 1.0f);
    }
}
END_TEST

/* With k below 64 the guard lets no tile pass: warpgroups recompute tile after tile. */
START_TEST(tiles_that_are_recomputed)
{
    static const char *const of_parts[] = {"fp16x3-128x64", "fp16x3-128x128", "fp16x3-128x256"};
    const xgemm_trace_problem problem = {.struct_size = sizeof problem,
                                         .order = XGEMM_ROW_MAJOR,
                                         .transa = XGEMM_NO_TRANS,
                                         .transb = XGEMM_NO_TRANS,
                                         .m = 257,
                                         .n = 130,
                                         .k = 33};
    xgemm_trace_report *report = trace(of_parts[_i], &problem);
    ck_assert_int_eq(floats_of(report, NULL, "C", STORES), 257 * 130);
    xgemm_trace_free(report);
}
END_TEST

/* Large leading dimensions: what lies in the gaps is not touched. */
START_TEST(leading_dimensions)
{
    xgemm_trace_problem problem = cube(40);
    problem.lda = 44, problem.ldb = 48, problem.ldc = 64, problem.beta = 1.0f;
    for (int i = 0; i < COUNT(ladder); i++)
        xgemm_trace_free(trace(ladder[i].kernel, &problem));
}
END_TEST

void add_trace_kernels(Suite *suite)
{
    TCase *traffic = new_case(suite, "traffic", TIMEOUT_S);
    tcase_add_loop_test(traffic, traffic_is_the_textbooks, 0, COUNT(ladder));
    tcase_add_test(traffic, vec4_by_quarters_of_warps);
    tcase_add_loop_test(traffic, bytes_are_the_sites, 0, COUNT(ladder));

    TCase *kernels = new_case(suite, "every kernel", TIMEOUT_S);
    tcase_add_loop_test(kernels, every_kernel_in_every_layout, 0, LAYOUTS);
    tcase_add_loop_test(kernels, tiles_that_are_recomputed, 0, 3);
    tcase_add_test(kernels, leading_dimensions);
}
