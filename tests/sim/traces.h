/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of test_trace share: traces, and sums over their sites. */
#ifndef XGEMM_TESTS_TRACES_H
#define XGEMM_TESTS_TRACES_H

#include "support.h"

enum { SIZE = 256, TIMEOUT_S = 300 };

typedef enum { LOADS, STORES } direction;
typedef enum { GLOBAL, SHARED } space;

/* The problem whose m, n and k are that, and the trace of a kernel; freed by the caller. */
xgemm_trace_problem cube(int64_t size);
xgemm_trace_report *trace(const char *kernel, const xgemm_trace_problem *problem);

/*
 * The sum over all sites of an array, in one file of the source or (NULL) in any; bytes and the
 * largest are those of any and of all.
 */
xgemm_trace_site sum_in(const xgemm_trace_report *report, const char *file, const char *array,
                        space where, direction way);
xgemm_trace_site sum_of(const xgemm_trace_report *report, const char *array, space where,
                        direction way);

/* Floats that threads moved: a thread's access may be of four. */
int64_t floats_of(const xgemm_trace_report *report, const char *file, const char *array,
                  direction way);

/* Each request takes part as a whole, with so many sectors of so many at best. */
void assert_sectors(const xgemm_trace_report *report, const char *array, direction way, int sectors,
                    int ideal);
void assert_no_conflicts(const xgemm_trace_report *report, const char *array, direction way);

void add_trace_counts(Suite *suite), add_trace_kernels(Suite *suite);
void add_trace_samples(Suite *suite), add_trace_arguments(Suite *suite);

#endif
