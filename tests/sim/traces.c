/* SPDX-License-Identifier: BSD-3-Clause */
#include "traces.h"

#include <string.h>

xgemm_trace_problem cube(int64_t size)
{
    return (xgemm_trace_problem){
        .struct_size = sizeof(xgemm_trace_problem), .m = size, .n = size, .k = size};
}

xgemm_trace_report *trace(const char *kernel, const xgemm_trace_problem *problem)
{
    xgemm_trace_report *report;
    const xgemm_status status = xgemm_trace(kernel, problem, NULL, &report);
    ck_assert_msg(status == XGEMM_OK, "%s: %s", kernel, xgemm_last_error(NULL));
    ck_assert_ptr_nonnull(report);
    return report;
}

/* "file" may be NULL: any. */
static bool matches(const xgemm_trace_site *site, const char *file, const char *array, space where,
                    direction which)
{
    return strcmp(site->array, array) == 0 && site->is_shared == (where == SHARED) &&
           site->is_store == (which == STORES) && (!file || strcmp(site->file, file) == 0);
}

xgemm_trace_site sum_in(const xgemm_trace_report *report, const char *file, const char *array,
                        space where, direction which)
{
    xgemm_trace_site sum = {.array = array};
    for (int i = 0; i < report->site_count; i++) {
        const xgemm_trace_site *site = &report->sites[i];
        if (!matches(site, file, array, where, which))
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

xgemm_trace_site sum_of(const xgemm_trace_report *report, const char *array, space where,
                        direction which)
{
    return sum_in(report, NULL, array, where, which);
}

int64_t floats_of(const xgemm_trace_report *report, const char *file, const char *array,
                  direction which)
{
    int64_t floats = 0;
    for (int i = 0; i < report->site_count; i++)
        if (matches(&report->sites[i], file, array, GLOBAL, which))
            floats += report->sites[i].lanes * report->sites[i].bytes / 4;
    return floats;
}

void assert_sectors(const xgemm_trace_report *report, const char *array, direction which,
                    int sectors, int ideal)
{
    const xgemm_trace_site sum = sum_of(report, array, GLOBAL, which);
    ck_assert_int_gt(sum.requests, 0);
    ck_assert_int_eq(sum.partial_requests, 0);
    ck_assert_int_eq(sum.lanes, 32 * sum.requests);
    ck_assert_int_eq(sum.sectors, sectors * sum.requests);
    ck_assert_int_eq(sum.ideal_sectors, ideal * sum.requests);
    ck_assert_int_eq(sum.most_sectors, sectors);
    ck_assert_int_eq(sum.wavefronts, 0);
}

void assert_no_conflicts(const xgemm_trace_report *report, const char *array, direction which)
{
    const xgemm_trace_site sum = sum_of(report, array, SHARED, which);
    ck_assert_int_gt(sum.requests, 0);
    ck_assert_int_eq(sum.wavefronts, sum.ideal_wavefronts);
    ck_assert_int_eq(sum.most_ways, 1);
    ck_assert_int_eq(sum.sectors, 0);
}
