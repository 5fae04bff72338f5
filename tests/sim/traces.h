/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of test_trace share: making traces, and adding up their sites. */
#ifndef XGEMM_TESTS_TRACES_H
#define XGEMM_TESTS_TRACES_H

#include "support.h"

enum { SIZE = 256 /* m = n = k of most cases */, TIMEOUT_S = 300 };

typedef enum { LOADS, STORES } direction;
typedef enum { GLOBAL, SHARED } space;

/* The problem with m = n = k = size. */
xgemm_trace_problem cube(int64_t size);

/* Traces a kernel, and fails the test if that fails; the caller frees the report. */
xgemm_trace_report *trace(const char *kernel, const xgemm_trace_problem *problem);

/*
 * The sites of an array added up, of one source file or (NULL) of all. "bytes" is that of the last
 * site, most_sectors and most_ways are the maxima; file, line and source are not set.
 */
xgemm_trace_site sum_in(const xgemm_trace_report *report, const char *file, const char *array,
                        space where, direction which);
xgemm_trace_site sum_of(const xgemm_trace_report *report, const char *array, space where,
                        direction which);

/* Floats that all threads load from global memory, or store there: lanes times floats an access. */
int64_t floats_of(const xgemm_trace_report *report, const char *file, const char *array,
                  direction which);

/* Every request has 32 lanes and touches "sectors" sectors, where "ideal" would hold its bytes. */
void assert_sectors(const xgemm_trace_report *report, const char *array, direction which,
                    int sectors, int ideal);

/* No request to the shared array has a bank conflict. */
void assert_no_conflicts(const xgemm_trace_report *report, const char *array, direction which);

void add_trace_counts(Suite *suite), add_trace_kernels(Suite *suite);
void add_trace_samples(Suite *suite), add_trace_arguments(Suite *suite);

#endif
