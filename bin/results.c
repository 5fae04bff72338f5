/* SPDX-License-Identifier: BSD-3-Clause */
#include "results.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const column columns[] = {
    {"batch", 6},
    {"m", 6},
    {"n", 6},
    {"k", 6},
    {"kernel", -18},
    {"median_us", 11},
    {"p1_us", 11},
    {"p99_us", 11},
    {"gflops", 10},
    {"host_us", 8},
    {"cublas_us", 11},
    {"cublas_host_us", 14},
    {"percent_of_cublas", 17},
};
enum { COLUMNS = sizeof columns / sizeof *columns, COLUMNS_COMPARED = 3 };

static double gflops(const bench_result *r, double us)
{
    const shape *s = &r->size;
    const double products = (double)r->batch;
    return us > 0.0 ? 2e-3 * products * (double)s->m * (double)s->n * (double)s->k / us : 0.0;
}

/* The column of a batch is the first, so that all but it can be shown. */
report results_open(const settings *common, bool compared, bool batched, json_t *facts)
{
    const int first = batched ? 0 : 1;
    const int count = COLUMNS - first - (compared ? 0 : COLUMNS_COMPARED);
    return report_open(common, columns + first, count, "results", facts);
}

void results_row(report *to, const bench_result *r)
{
    const timing *t = &r->ours, *theirs = &r->theirs;
    const cell cells[COLUMNS] = {
        cell_integer(r->batch),
        cell_integer(r->size.m),
        cell_integer(r->size.n),
        cell_integer(r->size.k),
        cell_text(r->kernel),
        cell_real(t->median_us, 2),
        cell_real(t->p1_us, 2),
        cell_real(t->p99_us, 2),
        cell_real(gflops(r, t->median_us), 1),
        t->host_us >= 0.0 ? cell_real(t->host_us, 2) : cell_none(),
        r->compared ? cell_real(theirs->median_us, 2) : cell_none(),
        r->compared ? cell_real(theirs->host_us, 2) : cell_none(),
        r->compared ? cell_real(100.0 * theirs->median_us / t->median_us, 1) : cell_none(),
    };
    report_row(to, to->columns == columns ? cells : cells + 1);
}

static void size_text(const shape *s, char *text, size_t size)
{
    if (s->m == s->n && s->n == s->k)
        snprintf(text, size, "%" PRId64, s->m);
    else
        snprintf(text, size, "%" PRId64 "x%" PRId64 "x%" PRId64, s->m, s->n, s->k);
}

void results_point(plot *to, const bench_result *r)
{
    char label[80], line[64];
    if (!to)
        return;
    size_text(&r->size, label, sizeof label);
    snprintf(line, sizeof line, "%.*s", (int)strcspn(r->kernel, ":"), r->kernel);
    if (r->compared)
        plot_point(to, "cuBLAS", (double)r->size.m, label, gflops(r, r->theirs.median_us) * 1e-3);
    plot_point(to, line, (double)r->size.m, label, gflops(r, r->ours.median_us) * 1e-3);
}

static double number(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    return json_is_number(value) ? json_number_value(value) : -1.0;
}

/* A size, or -1. */
static int64_t size_at(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    const json_int_t size = json_is_integer(value) ? json_integer_value(value) : -1;
    return size >= 0 && size <= (json_int_t)1 << 40 ? size : -1;
}

static bool is_result(const json_t *row)
{
    return json_is_string(json_object_get(row, "kernel")) && size_at(row, "m") >= 0 &&
           size_at(row, "n") >= 0 && size_at(row, "k") >= 0 && number(row, "median_us") >= 0.0;
}

json_t *results_load(const char *path, char *message, size_t message_size)
{
    json_error_t error;
    size_t index;
    json_t *row, *root = json_load_file(path, 0, &error);
    if (!root) {
        snprintf(message, message_size, "%s:%d: %s", path, error.line, error.text);
        return NULL;
    }
    bool good = json_array_size(json_object_get(root, "results")) > 0;
    json_array_foreach(json_object_get(root, "results"), index, row) good = good && is_result(row);
    if (!good) {
        snprintf(message, message_size,
                 "%s is not what xgemm bench --json prints: it has no \"results\", or one without "
                 "sizes, kernel and time",
                 path);
        json_decref(root);
        return NULL;
    }
    return root;
}

bool results_at(const json_t *loaded, size_t index, bench_result *r)
{
    const json_t *row = json_array_get(json_object_get(loaded, "results"), index);
    if (!row)
        return false;
    memset(r, 0, sizeof *r);
    r->batch = size_at(row, "batch");
    r->batch = r->batch > 1 ? r->batch : 1;
    r->size = (shape){size_at(row, "m"), size_at(row, "n"), size_at(row, "k")};
    snprintf(r->kernel, sizeof r->kernel, "%s", json_string_value(json_object_get(row, "kernel")));
    r->ours.median_us = number(row, "median_us");
    r->ours.p1_us = number(row, "p1_us");
    r->ours.p99_us = number(row, "p99_us");
    r->ours.host_us = number(row, "host_us");
    r->theirs.median_us = number(row, "cublas_us");
    r->theirs.host_us = number(row, "cublas_host_us");
    r->compared = r->theirs.median_us > 0.0;
    return true;
}
