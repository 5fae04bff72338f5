/* SPDX-License-Identifier: BSD-3-Clause */
/* The results of bench: as rows, as points of a plot, and from the JSON of an earlier run. */
#ifndef XGEMM_BIN_RESULTS_H
#define XGEMM_BIN_RESULTS_H

#include "plot.h"
#include "problem_options.h"
#include "report.h"
#include "sensors.h"
#include "measure.h"

typedef struct {
    shape size;
    problem_options problem; /* its layout, types, math mode, beta and epilogue */
    int64_t batch;           /* products */
    char kernel[64];         /* "auto:vectorized": chosen by the library */
    char data[64];           /* the kinds of data, as --data names them; empty: none was given */
    char device[128];        /* its name; empty: not known */
    bool graph;              /* timed by replays of a CUDA graph */
    timing ours;
    timing theirs;              /* cuBLAS; only median_us and host_us */
    bool compared;              /* whether theirs is there */
    double percent_recomputed;  /* of C, in one of the products; negative: unknown */
    double percent_of_roofline; /* negative: the device's peaks are not known */
    double error;               /* of error_sample(); negative: not asked for */
    readings sensed;            /* right after the last sample */
    double baseline_us;         /* negative: there is none */
    const char *verdict;        /* beside a baseline: "new", "faster", "slower", "same" */
} bench_result;

/* When a column is shown. */
typedef enum {
    ALWAYS = 0,
    OF_BATCHES = 1,
    OF_DATA = 2,
    COMPARED = 4,
    WITH_PEAKS = 8,
    CHECKED = 16,
    SENSED = 32,
    WITH_BASELINE = 64,
    OF_ORDERS = 128,
    OF_TRANSA = 256,
    OF_TRANSB = 512,
    OF_MATHS = 1024,
    OF_TYPES = 2048
} results_shown;

enum { RESULT_COLUMNS = 28 };

/* A report of results; not to be copied, since it points to its own columns. */
typedef struct {
    report out;
    column columns[RESULT_COLUMNS]; /* those shown */
    int cells[RESULT_COLUMNS];      /* of all columns, which each of them is */
} results;

/*
 * In percent, how near the result comes to what the device's peaks allow the kernel: of FP32, or
 * for kernels of tensor cores of theirs, and of the memory's bandwidth for each matrix once.
 * Negative where they are not known, as of FP64.
 */
double results_roofline(const bench_result *result, const char *kernel, const xgemm_device *on);

/* Shown is a set of results_shown. */
void results_open(results *to, const settings *common, unsigned shown, json_t *facts);

/* What of it a result has columns for. */
unsigned results_shown_by(const bench_result *result);
void results_row(results *to, const bench_result *result);

/*
 * A kernel's line, and cuBLAS's; "auto:..." is the line auto. Each kind of data has lines of its
 * own, and so has each layout and math mode where the columns shown have them. A NULL plot is fine.
 */
void results_point(plot *to, const bench_result *result, unsigned shown);

/* The JSON of an earlier run; NULL on failure, the sentence in message. For json_decref(). */
json_t *results_load(const char *path, char *message, size_t message_size);

/* Row number index of loaded results, without a baseline; false when there is no such row. */
bool results_at(const json_t *loaded, size_t index, bench_result *result);

#endif
