/* SPDX-License-Identifier: BSD-3-Clause */
/* The results of bench: as rows, as points of a plot, and from the JSON of an earlier run. */
#ifndef XGEMM_BIN_RESULTS_H
#define XGEMM_BIN_RESULTS_H

#include "plot.h"
#include "report.h"
#include "workload.h"

typedef struct {
    shape size;
    int64_t batch;   /* products */
    char kernel[64]; /* "auto:vectorized": chosen by the library */
    char data[64];   /* the kinds of data, as --data names them; empty: none was given */
    timing ours;
    timing theirs;             /* cuBLAS; only median_us and host_us */
    bool compared;             /* whether theirs is there */
    double percent_recomputed; /* of C, in one of the products; negative: unknown */
} bench_result;

enum { RESULT_COLUMNS = 15 };

/* Which columns are shown beside those that every run has. */
typedef struct {
    bool batch, data, compared;
} results_shown;

/* A report of results; not to be copied, since it points to its own columns. */
typedef struct {
    report out;
    column columns[RESULT_COLUMNS]; /* those shown */
    int cells[RESULT_COLUMNS];      /* of all columns, which each of them is */
} results;

void results_open(results *to, const settings *common, const results_shown *shown, json_t *facts);
void results_row(results *to, const bench_result *result);

/*
 * A kernel's line, and cuBLAS's; "auto:..." is the line auto. Each kind of data has lines of its
 * own. A NULL plot is fine.
 */
void results_point(plot *to, const bench_result *result);

/* The JSON of an earlier run; NULL on failure, the sentence in message. For json_decref(). */
json_t *results_load(const char *path, char *message, size_t message_size);

/* Row number index of loaded results; false when there is no such row. */
bool results_at(const json_t *loaded, size_t index, bench_result *result);

#endif
