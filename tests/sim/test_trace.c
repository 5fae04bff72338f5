/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What xgemm_trace() counts, against numbers that the kernels' source gives by
 * hand: a compiler that merges, splits or drops an access fails here.
 */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77, SIZE = 256, TIMEOUT_S = 300 };

typedef enum { LOADS, STORES } direction;
typedef enum { GLOBAL, SHARED } space;

/* ---- Traces ---- */

static xgemm_trace_problem cube(int64_t size)
{
    return (xgemm_trace_problem){
        .struct_size = sizeof(xgemm_trace_problem), .m = size, .n = size, .k = size};
}

static xgemm_trace_report *trace(const char *kernel, const xgemm_trace_problem *problem)
{
    xgemm_trace_report *report;
    const xgemm_status status = xgemm_trace(kernel, problem, NULL, &report);
    ck_assert_msg(status == XGEMM_OK, "%s: %s", kernel, xgemm_last_error(NULL));
    ck_assert_ptr_nonnull(report);
    return report;
}

/* "file" may be NULL: any. */
static bool matches(const xgemm_trace_site *site, const char *file, const char *array, space where,
                    direction way)
{
    return strcmp(site->array, array) == 0 && site->is_shared == (where == SHARED) &&
           site->is_store == (way == STORES) && (!file || strcmp(site->file, file) == 0);
}

/* The sum over all sites of an array; bytes and the largest are those of any and of all. */
static xgemm_trace_site sum_in(const xgemm_trace_report *report, const char *file,
                               const char *array, space where, direction way)
{
    xgemm_trace_site sum = {.array = array};
    for (int i = 0; i < report->site_count; i++) {
        const xgemm_trace_site *site = &report->sites[i];
        if (!matches(site, file, array, where, way))
            continue;
        sum.bytes = site->bytes;
        sum.requests += site->requests;
        sum.partial_requests += site->partial_requests;
        sum.lanes += site->lanes;
        sum.sectors += site->sectors;
        sum.ideal_sectors += site->ideal_sectors;
        sum.cache_lines += site->cache_lines;
        sum.wavefronts += site->wavefronts;
        sum.ideal_wavefronts += site->ideal_wavefronts;
        if (site->most_sectors > sum.most_sectors)
            sum.most_sectors = site->most_sectors;
        if (site->most_ways > sum.most_ways)
            sum.most_ways = site->most_ways;
    }
    return sum;
}

static xgemm_trace_site sum_of(const xgemm_trace_report *report, const char *array, space where,
                               direction way)
{
    return sum_in(report, NULL, array, where, way);
}

/* Floats that threads moved: a thread's access may be of four. */
static int64_t floats_of(const xgemm_trace_report *report, const char *file, const char *array,
                         direction way)
{
    int64_t floats = 0;
    for (int i = 0; i < report->site_count; i++)
        if (matches(&report->sites[i], file, array, GLOBAL, way))
            floats += report->sites[i].lanes * report->sites[i].bytes / 4;
    return floats;
}

/* Each request takes part as a whole, with so many sectors of so many at best. */
static void assert_sectors(const xgemm_trace_report *report, const char *array, direction way,
                           int sectors, int ideal)
{
    const xgemm_trace_site sum = sum_of(report, array, GLOBAL, way);
    ck_assert_int_gt(sum.requests, 0);
    ck_assert_int_eq(sum.partial_requests, 0);
    ck_assert_int_eq(sum.lanes, 32 * sum.requests);
    ck_assert_int_eq(sum.sectors, sectors * sum.requests);
    ck_assert_int_eq(sum.ideal_sectors, ideal * sum.requests);
    ck_assert_int_eq(sum.most_sectors, sectors);
    ck_assert_int_eq(sum.wavefronts, 0);
}

static void assert_no_conflicts(const xgemm_trace_report *report, const char *array, direction way)
{
    const xgemm_trace_site sum = sum_of(report, array, SHARED, way);
    ck_assert_int_gt(sum.requests, 0);
    ck_assert_int_eq(sum.wavefronts, sum.ideal_wavefronts);
    ck_assert_int_eq(sum.sectors, 0);
}

/* ---- Exact counts ---- */

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
    ck_assert_int_eq(sum_of(turned, "b_tile", SHARED, STORES).most_ways, 1);
    ck_assert_int_eq(sum_of(turned, "b_tile", SHARED, LOADS).most_ways, 1);
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

/* ---- Traffic, and reads of shared memory ---- */

static const struct {
    const char *kernel, *file; /* the file: where several launches have an A or a B */
    double flop_per_byte;
    int a_reads, b_reads; /* of shared memory, by each warp for each step along k */
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
START_TEST(fours_by_quarters_of_warps)
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
                  "%s: a site at %s:%d has no place, text or array", kernel, site->file,
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

/* With k below 64 the guard lets no tile pass: warpgroups take piece after piece of the rest. */
START_TEST(tiles_that_are_left_out)
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

/* ---- Samples ---- */

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

/* ---- What is refused ---- */

static void assert_trace_refused(const char *kernel, const xgemm_trace_problem *problem,
                                 xgemm_status wanted, const char *part)
{
    static xgemm_trace_report somewhere;
    xgemm_trace_report *report = &somewhere;
    const xgemm_status status = xgemm_trace(kernel, problem, NULL, &report);
    assert_refused(NULL, status, wanted, "xgemm_trace: ", part);
    ck_assert_ptr_null(report);
}

/* An A100: 108 multiprocessors of 2048 threads, 164 KiB and 65 536 registers. */
static xgemm_trace_report *trace_on(const char *kernel, const char *gpu, int64_t size)
{
    const xgemm_trace_problem problem = {
        .struct_size = sizeof problem, .m = size, .n = size, .k = size, .most_blocks = 4};
    xgemm_device device = {.struct_size = sizeof device};
    xgemm_trace_report *report;
    ck_assert_int_eq(xgemm_device_find(gpu, &device), XGEMM_OK);
    const xgemm_status status = xgemm_trace(kernel, &problem, &device, &report);
    ck_assert_msg(status == XGEMM_OK, "%s", xgemm_last_error(NULL));
    return report;
}

START_TEST(occupancy_of_a_gpu)
{
    xgemm_trace_report *report = trace_on("tiled16", "sm_86", 256);
    ck_assert_int_eq(report->blocks_per_sm, 6);
    ck_assert_double_eq(report->warp_occupancy, 1.0);
    ck_assert_uint_eq(report->limiters & XGEMM_LIMITED_BY_WARPS, XGEMM_LIMITED_BY_WARPS);
    ck_assert_int_eq(report->shared_bytes, 2048);
    xgemm_trace_free(report);
    report = trace_on("tiled32", "sm_86", 256);
    ck_assert_int_eq(report->blocks_per_sm, 1);
    xgemm_trace_free(report);
}
END_TEST

START_TEST(waves_of_a_gpu)
{
    xgemm_trace_report *report = trace_on("tiled32", "A100", 1024);
    ck_assert_str_eq(report->device, "A100 SXM4 40GB");
    ck_assert_int_eq(report->blocks, 1024);
    ck_assert_double_eq_tol(report->waves, 1024.0 / (108.0 * report->blocks_per_sm), 1e-12);
    xgemm_trace_free(report);
}
END_TEST

/* 2 * 256^3 operations; tiles of 32 ask for A and B eight times each, and for C once. */
START_TEST(roofline_of_a_gpu)
{
    const double asked = 2.0 * 256 * 256 * 256 / (4.0 * (2 * 8 + 1) * 256 * 256);
    const double least = 2.0 * 256 * 256 * 256 / (4.0 * 3 * 256 * 256);
    xgemm_trace_report *report = trace_on("tiled32", "A100", 256);
    ck_assert_double_eq_tol(report->flop_per_byte_asked, asked, 1e-9);
    ck_assert_double_eq_tol(report->flop_per_byte_least, least, 1e-9);
    ck_assert_double_eq_tol(report->peak_gbs, 1555.0, 1e-9);
    ck_assert_double_eq_tol(report->roof_asked_gflops, asked * 1555.0, 1e-6);
    ck_assert_double_eq_tol(report->roof_least_gflops, report->peak_gflops, 1e-6);
    xgemm_trace_free(report);
}
END_TEST

START_TEST(no_gpu_no_figures)
{
    const xgemm_trace_problem problem = {.struct_size = sizeof problem, .m = 64, .n = 64, .k = 64};
    xgemm_trace_report *report;
    ck_assert_int_eq(xgemm_trace("tiled32", &problem, NULL, &report), XGEMM_OK);
    ck_assert_str_eq(report->device, "");
    ck_assert_int_eq(report->blocks_per_sm, 0);
    ck_assert_double_eq(report->roof_asked_gflops, 0.0);
    ck_assert_double_eq_tol(report->bytes_least, 4.0 * 3 * 64 * 64, 1e-9);
    xgemm_trace_free(report);
}
END_TEST

START_TEST(device_that_is_no_gpu)
{
    const xgemm_trace_problem problem = {.struct_size = sizeof problem, .m = 64, .n = 64, .k = 64};
    xgemm_device device = {.struct_size = sizeof device};
    xgemm_trace_report *report;
    ck_assert_int_eq(xgemm_device_get(XGEMM_DEVICE_CPU, &device), XGEMM_OK);
    ck_assert_int_eq(xgemm_trace("tiled32", &problem, &device, &report), XGEMM_ERROR_INVALID_VALUE);
    ck_assert_ptr_null(report);
}
END_TEST

START_TEST(null_pointers)
{
    const xgemm_trace_problem problem = cube(8);
    assert_trace_refused(NULL, &problem, XGEMM_ERROR_NULL_POINTER, "kernel is NULL");
    assert_trace_refused("tiled16", NULL, XGEMM_ERROR_NULL_POINTER, "problem is NULL");
    ck_assert_int_eq(xgemm_trace("tiled16", &problem, NULL, NULL), XGEMM_ERROR_NULL_POINTER);
    ck_assert_ptr_nonnull(strstr(xgemm_last_error(NULL), "report is NULL"));
    xgemm_trace_free(NULL);
}
END_TEST

START_TEST(kernels_that_cannot_be_traced)
{
    const xgemm_trace_problem problem = cube(8);
    assert_trace_refused("blas", &problem, XGEMM_ERROR_NOT_SUPPORTED, "kernel blas is for the CPU");
    assert_trace_refused("reference", &problem, XGEMM_ERROR_NOT_SUPPORTED,
                         "kernel reference is for");
    assert_trace_refused("nonsense", &problem, XGEMM_ERROR_UNKNOWN_KERNEL,
                         "no kernel \"nonsense\"");
    assert_trace_refused("nonsense", &problem, XGEMM_ERROR_UNKNOWN_KERNEL, ", tiled16,");
    assert_trace_refused("", &problem, XGEMM_ERROR_UNKNOWN_KERNEL, ", vectorized");
}
END_TEST

/* One field of a problem that is right otherwise. */
static void assert_field_refused(size_t offset, int64_t value, xgemm_status wanted,
                                 const char *part)
{
    xgemm_trace_problem problem = cube(8);
    memcpy((char *)&problem + offset, &value, sizeof value);
    assert_trace_refused("tiled16", &problem, wanted, part);
}

START_TEST(sizes_and_leading_dimensions)
{
    static const int64_t sizes[] = {0, -1, INT64_MIN};
    for (int i = 0; i < COUNT(sizes); i++) {
        const xgemm_status wanted = XGEMM_ERROR_INVALID_VALUE;
        assert_field_refused(offsetof(xgemm_trace_problem, m), sizes[i], wanted, "at least 1");
        assert_field_refused(offsetof(xgemm_trace_problem, n), sizes[i], wanted, "at least 1");
        assert_field_refused(offsetof(xgemm_trace_problem, k), sizes[i], wanted, "at least 1");
    }
    static const int64_t short_ones[] = {7, 1, -1, INT64_MIN};
    for (int i = 0; i < COUNT(short_ones); i++) {
        const xgemm_status wanted = XGEMM_ERROR_INVALID_VALUE;
        assert_field_refused(offsetof(xgemm_trace_problem, lda), short_ones[i], wanted, "lda is ");
        assert_field_refused(offsetof(xgemm_trace_problem, ldb), short_ones[i], wanted, "ldb is ");
        assert_field_refused(offsetof(xgemm_trace_problem, ldc), short_ones[i], wanted, "ldc is ");
    }
    assert_field_refused(offsetof(xgemm_trace_problem, lda), INT64_MAX, XGEMM_ERROR_OVERFLOW,
                         "a has 8 lines");
    const xgemm_trace_problem huge = cube((int64_t)1 << 31);
    assert_trace_refused("tiled16", &huge, XGEMM_ERROR_OVERFLOW, "");
}
END_TEST

START_TEST(other_fields)
{
    const xgemm_status wanted = XGEMM_ERROR_INVALID_VALUE;
    assert_field_refused(offsetof(xgemm_trace_problem, struct_size), 0, wanted, "struct_size is 0");
    assert_field_refused(offsetof(xgemm_trace_problem, struct_size), 8, wanted, "struct_size is 8");
    assert_field_refused(offsetof(xgemm_trace_problem, most_blocks), -1, wanted, "most_blocks");
    xgemm_trace_problem problem = cube(8);
    problem.order = (xgemm_order)7;
    assert_trace_refused("tiled16", &problem, wanted, "order");
    problem = cube(8);
    problem.transa = (xgemm_transpose)7;
    assert_trace_refused("tiled16", &problem, wanted, "transa");
    problem = cube(8);
    problem.transb = (xgemm_transpose)7;
    assert_trace_refused("tiled16", &problem, wanted, "transb");
}
END_TEST

static Suite *traces(void)
{
    Suite *suite = suite_create("trace");
    TCase *counts = new_case(suite, "exact counts", TIMEOUT_S);
    tcase_add_test(counts, tiled16_at_a_hundred);
    tcase_add_test(counts, naive_coalesces_nothing);
    tcase_add_test(counts, coalesced_coalesces);
    tcase_add_test(counts, one_thread_of_a_warp_is_missing);
    tcase_add_test(counts, corner_turning_turns_b);
    tcase_add_test(counts, vectorized_moves_sixteen_bytes);

    TCase *traffic = new_case(suite, "traffic", TIMEOUT_S);
    tcase_add_loop_test(traffic, traffic_is_the_textbooks, 0, COUNT(ladder));
    tcase_add_test(traffic, fours_by_quarters_of_warps);
    tcase_add_loop_test(traffic, bytes_are_the_sites, 0, COUNT(ladder));

    TCase *gpus = new_case(suite, "on a GPU", TIMEOUT_S);
    tcase_add_test(gpus, occupancy_of_a_gpu);
    tcase_add_test(gpus, waves_of_a_gpu);
    tcase_add_test(gpus, roofline_of_a_gpu);
    tcase_add_test(gpus, no_gpu_no_figures);
    tcase_add_test(gpus, device_that_is_no_gpu);

    TCase *kernels = new_case(suite, "every kernel", TIMEOUT_S);
    tcase_add_loop_test(kernels, every_kernel_in_every_layout, 0, LAYOUTS);
    tcase_add_loop_test(kernels, tiles_that_are_left_out, 0, 3);
    tcase_add_test(kernels, leading_dimensions);

    TCase *samples = new_case(suite, "samples", TIMEOUT_S);
    tcase_add_loop_test(samples, sample_has_the_ratios_of_the_whole, 0, COUNT(sampled));
    tcase_add_test(samples, sample_ends_with_the_last_block);

    TCase *refused = new_case(suite, "what is refused", TIMEOUT_S);
    tcase_add_test(refused, null_pointers);
    tcase_add_test(refused, kernels_that_cannot_be_traced);
    tcase_add_test(refused, sizes_and_leading_dimensions);
    tcase_add_test(refused, other_fields);
    return suite;
}

/* What can be traced depends on the compiler that made the library. */
static bool can_trace(void)
{
    const xgemm_trace_problem problem = cube(1);
    xgemm_trace_report *report;
    const xgemm_status status = xgemm_trace("naive", &problem, NULL, &report);
    xgemm_trace_free(report);
    return status != XGEMM_ERROR_NOT_SUPPORTED;
}

int main(void)
{
    if (!can_trace())
        return SKIPPED;
    return run_anywhere(traces());
}
