/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces of simulated kernels: trace_*.c, by subject. */
#include "traces.h"

enum { SKIPPED = 77 };

static Suite *traces(void)
{
    Suite *suite = suite_create("trace");
    add_trace_counts(suite);
    add_trace_kernels(suite);
    add_trace_samples(suite);
    add_trace_arguments(suite);
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
