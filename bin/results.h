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
    timing ours;
    timing theirs; /* cuBLAS; only median_us and host_us */
    bool compared; /* whether theirs is there */
} bench_result;

/* The report of results, with or without the columns of the comparison and of a batch. */
report results_open(const settings *common, bool compared, bool batched, json_t *facts);
void results_row(report *to, const bench_result *result);

/* A kernel's line, and cuBLAS's; "auto:..." is the line auto. A NULL plot is fine. */
void results_point(plot *to, const bench_result *result);

/* The JSON of an earlier run; NULL on failure, the sentence in message. For json_decref(). */
json_t *results_load(const char *path, char *message, size_t message_size);

/* Row number index of loaded results; false when there is no such row. */
bool results_at(const json_t *loaded, size_t index, bench_result *result);

#endif
