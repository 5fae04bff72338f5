/* SPDX-License-Identifier: BSD-3-Clause */
/* xgemm bench: times kernels over sizes, beside cuBLAS. */
#include "commands.h"
#include "device_fields.h"
#include "cublas.h"
#include "data_list.h"
#include "kernel_list.h"
#include "plot.h"
#include "problem_options.h"
#include "progress.h"
#include "results.h"

#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ME (&command_bench)

enum {
    KEY_COMPARE = 256,
    KEY_SAMPLES,
    KEY_WARM,
    KEY_REST,
    KEY_TIME,
    KEY_LIMIT,
    KEY_GRAPH,
    KEY_SEED,
    KEY_PLOT,
    KEY_FROM
};

static const option_row rows[] = {
    SHAPE_ROWS,
    KERNELS_ROW("auto"),
    {KEY_COMPARE, "compare", "cublas", "time cuBLAS beside each"},
    PROBLEM_ROWS,
    DATA_ROW,
    {KEY_SAMPLES, "samples", "N", "times taken; default 25"},
    {KEY_WARM, "warm", "MS", "work before the first sample; default 20"},
    {KEY_REST, "rest", "MS", "idle before each sample; default 0"},
    {KEY_TIME, "time", "MS", "least length of a sample; default 2"},
    {KEY_LIMIT, "limit", "SECONDS", "no new sample of a case after this; default 5"},
    {KEY_GRAPH, "graph", NULL, "record the calls of a sample as a CUDA graph, time its replays"},
    {KEY_SEED, "seed", "N", "of the random matrices; default 1"},
    {KEY_PLOT, "plot", "FILE", "draw the speeds (SVG or PNG; needs gnuplot)"},
    {KEY_FROM, "from", "FILE.json", "show (and draw) an earlier run's JSON; measures nothing"},
};

typedef struct {
    settings common;
    shape_options shapes;
    const char *kernel, *data_text, *plot_path, *from_path;
    data_list data;
    bool compare, graph;
    problem_options problem;
    schedule how;
    uint64_t seed;
} request;

/* What is open while the cases run. */
typedef struct {
    const request *r;
    xgemm_handle *handle;
    cublas *other;
    recorder *recorder; /* NULL: calls are timed one by one */
    results out;
    plot *drawing;
    progress line;
} session;

static bool take_number(request *r, int key, const char *value)
{
    switch (key) {
    case KEY_SAMPLES:
        r->how.samples = (int)option_integer(ME, "samples", value, 1, 100000);
        return true;
    case KEY_WARM:
        r->how.warm_ms = (double)option_integer(ME, "warm", value, 0, 600000);
        return true;
    case KEY_REST:
        r->how.rest_ms = (double)option_integer(ME, "rest", value, 0, 600000);
        return true;
    case KEY_TIME:
        r->how.time_ms = (double)option_integer(ME, "time", value, 0, 600000);
        return true;
    case KEY_LIMIT:
        r->how.limit_s = (double)option_integer(ME, "limit", value, 0, 86400);
        return true;
    case KEY_SEED:
        r->seed = (uint64_t)option_integer(ME, "seed", value, 0, INT64_MAX);
        return true;
    default:
        return false;
    }
}

static void take_word(request *r, int key, const char *value)
{
    switch (key) {
    case KEY_KERNELS:
        r->kernel = value;
        break;
    case KEY_DATA:
        r->data_text = value;
        break;
    case KEY_COMPARE:
        if (strcmp(value, "cublas") != 0)
            usage_error(ME, "--compare takes cublas, not \"%s\"", value);
        r->compare = true;
        break;
    case KEY_GRAPH:
        r->graph = true;
        break;
    case KEY_PLOT:
        r->plot_path = value;
        break;
    case KEY_FROM:
        r->from_path = value;
        break;
    }
}

static request parse(int argc, char **argv)
{
    request r = {.common = {.device = XGEMM_DEVICE_AUTO},
                 .kernel = "auto",
                 .problem = problem_defaults(),
                 .how = {.samples = 25, .warm_ms = 20.0, .time_ms = 2.0, .limit_s = 5.0},
                 .seed = 1};
    const char *value;
    for (int key; (key = option_next(ME, argc, argv, &r.common, &value)) != -1;)
        if (!shape_option(&r.shapes, key, value) && !problem_option(ME, &r.problem, key, value) &&
            !take_number(&r, key, value))
            take_word(&r, key, value);
    shapes_no_operand(ME, argc, argv);
    if (!data_list_wanted(r.data_text))
        r.data = data_list_from(ME, r.data_text);
    return r;
}

static bool run_kernel(void *context, const workload *w, const buffers *use)
{
    const shape *s = &w->size;
    if (w->batch > 1)
        return xgemm_sgemm_strided_batched(context, w->order, w->transa, w->transb, s->m, s->n,
                                           s->k, w->alpha, use->a, w->lda, w->stride_a, use->b,
                                           w->ldb, w->stride_b, w->beta, use->c, w->ldc,
                                           w->stride_c, w->batch) == XGEMM_OK;
    return xgemm_sgemm(context, w->order, w->transa, w->transb, s->m, s->n, s->k, w->alpha, use->a,
                       w->lda, use->b, w->ldb, w->beta, use->c, w->ldc) == XGEMM_OK;
}

static bool run_cublas(void *context, const workload *w, const buffers *use)
{
    return cublas_sgemm(context, w, use) == 0;
}

static void add_result(session *now, const bench_result *result)
{
    progress_clear(&now->line);
    results_row(&now->out, result);
    results_point(now->drawing, result);
}

/* Whose failure it was when a measurement failed. */
static int failed_measurement(session *now, const char *function)
{
    progress_clear(&now->line);
    if (recorder_error(now->recorder))
        return failed(ME, "%s", recorder_error(now->recorder));
    return function ? failed(ME, "%s failed", function) : failed_call(ME, now->handle);
}

/* Of the product that was measured last. */
static double percent_recomputed(int64_t elements, const workload *w)
{
    const double all = (double)w->size.m * (double)w->size.n * (double)w->batch;
    return all > 0.0 ? 100.0 * (double)elements / all : 0.0;
}

static int time_kernel(session *now, const rotation *sets, const workload *w, const data_pair *data,
                       const char *name, const timing *theirs)
{
    bench_result result = {.size = w->size, .batch = w->batch, .compared = theirs != NULL};
    int64_t recomputed;
    snprintf(result.data, sizeof result.data, "%s", data ? data->name : "");
    progress_step(&now->line, "%" PRId64 " x %" PRId64 " x %" PRId64 ": %s", w->size.m, w->size.n,
                  w->size.k, name);
    if (xgemm_set_kernel(now->handle, name) ||
        !measure(now->handle, sets, w, run_kernel, now->handle, &now->r->how, now->recorder,
                 &result.ours) ||
        xgemm_last_recomputed(now->handle, &recomputed))
        return failed_measurement(now, NULL);
    result.percent_recomputed = percent_recomputed(recomputed, w);
    const char *chosen = xgemm_last_kernel(now->handle);
    const bool automatic = strcmp(name, "auto") == 0;
    snprintf(result.kernel, sizeof result.kernel, "%s%s%s", name, automatic ? ":" : "",
             !automatic ? ""
             : chosen   ? chosen
                        : "none");
    if (theirs)
        result.theirs = *theirs;
    add_result(now, &result);
    return STATUS_DONE;
}

static int time_cublas(session *now, const rotation *sets, const workload *w, timing *theirs)
{
    progress_step(&now->line, "%" PRId64 " x %" PRId64 " x %" PRId64 ": cuBLAS", w->size.m,
                  w->size.n, w->size.k);
    if (w->size.m > INT_MAX || w->size.n > INT_MAX || w->size.k > INT_MAX)
        return failed(ME, "cuBLAS takes sizes up to %d", INT_MAX);
    if (!measure(now->handle, sets, w, run_cublas, now->other, &now->r->how, now->recorder, theirs))
        return failed_measurement(now, w->batch > 1 ? "cublasSgemmStridedBatched" : "cublasSgemm");
    return STATUS_DONE;
}

/* A size with one kind of data, or as without --data where that is NULL. */
static int time_shape(session *now, shape size, const data_pair *data, const kernel_list *kernels)
{
    const request *r = now->r;
    const workload w = problem_workload(&r->problem, size);
    rotation sets;
    timing theirs;
    char message[512];
    if (!rotation_open(&sets, now->handle, &w, data, r->seed, message, sizeof message)) {
        progress_clear(&now->line);
        return failed(ME, "%" PRId64 " x %" PRId64 " x %" PRId64 ": %s", size.m, size.n, size.k,
                      message);
    }
    int status = now->other ? time_cublas(now, &sets, &w, &theirs) : STATUS_DONE;
    for (int i = 0; i < kernels->count && status == STATUS_DONE; i++)
        status = time_kernel(now, &sets, &w, data, kernels->names[i], now->other ? &theirs : NULL);
    rotation_close(&sets);
    return status;
}

static json_t *facts_of(const session *now)
{
    const request *r = now->r;
    json_t *facts = report_facts(ME);
    device_add_ordinal(facts, xgemm_get_device(now->handle));
    json_t *how = problem_settings(&r->problem);
    report_add(how, json_pack("{s:i, s:f, s:f, s:f, s:b, s:I}", "samples", r->how.samples,
                              "warm_ms", r->how.warm_ms, "rest_ms", r->how.rest_ms, "time_ms",
                              r->how.time_ms, "graph", r->graph, "seed", (json_int_t)r->seed));
    json_object_set_new(facts, "settings", how);
    if (now->other)
        json_object_set_new(facts, "cublas_version", json_integer(cublas_version(now->other)));
    return facts;
}

static bool is_square(const shape *s)
{
    return s->m == s->n && s->n == s->k;
}

static bool all_square(const shape_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (!is_square(&list->items[i]))
            return false;
    return true;
}

static int draw(plot *drawing, const char *path, bool squares)
{
    char message[4352];
    const plot_scale scale = squares ? PLOT_LOGARITHMIC : PLOT_NAMES;
    if (drawing && plot_write(drawing, path, scale, message, sizeof message))
        return failed(ME, "%s", message);
    return STATUS_DONE;
}

static plot *new_plot(const char *transa, const char *transb, const char *order, const char *device,
                      bool squares)
{
    char title[160];
    snprintf(title, sizeof title, "SGEMM %s%s, %s order, %s", transa, transb, order, device);
    return plot_new(title, squares ? "m = n = k" : "m x n x k", "TFLOP/s");
}

/* What only a GPU has: the recorder, cuBLAS. */
static int open_for_gpu(session *now)
{
    const request *r = now->r;
    char message[512];
    if (!r->compare && !r->graph)
        return STATUS_DONE;
    if (xgemm_get_device(now->handle) < 0)
        return failed(ME, "%s needs a GPU; this is the %s",
                      r->compare ? "--compare cublas" : "--graph",
                      xgemm_get_device(now->handle) == XGEMM_DEVICE_CPU ? "CPU" : "simulator");
    if (r->graph && !(now->recorder = recorder_open(now->handle, message, sizeof message)))
        return failed(ME, "%s", message);
    if (r->compare && !(now->other = cublas_open(now->handle, recorder_stream(now->recorder),
                                                 r->problem.math, message, sizeof message)))
        return failed(ME, "%s", message);
    return STATUS_DONE;
}

static int bench(session *now, const shape_list *list)
{
    const request *r = now->r;
    const data_list *data = &r->data;
    const kernel_list kernels = kernels_from(ME, now->handle, r->kernel);
    int status = open_for_gpu(now);
    if (status != STATUS_DONE)
        return status;
    if (r->plot_path) {
        xgemm_device device = {.struct_size = sizeof device};
        xgemm_device_get(xgemm_get_device(now->handle), &device);
        now->drawing =
            new_plot(transpose_letter(r->problem.transa), transpose_letter(r->problem.transb),
                     order_word(r->problem.order), device.name, all_square(list));
    }
    now->line = progress_begin(&r->common, list->count * (size_t)(data->count ? data->count : 1) *
                                               (size_t)(kernels.count + (now->other ? 1 : 0)));
    const results_shown shown = {r->problem.batch > 1, data->count > 0, now->other != NULL};
    results_open(&now->out, &r->common, &shown, facts_of(now));
    for (size_t i = 0; i < list->count && status == STATUS_DONE; i++) {
        if (data->count == 0)
            status = time_shape(now, list->items[i], NULL, &kernels);
        for (int d = 0; d < data->count && status == STATUS_DONE; d++)
            status = time_shape(now, list->items[i], &data->pairs[d], &kernels);
    }
    progress_clear(&now->line);
    report_close(&now->out.out);
    if (status == STATUS_DONE)
        status = draw(now->drawing, r->plot_path, all_square(list));
    return status;
}

static int bench_on(const request *r, xgemm_handle *handle, const shape_list *list)
{
    session now = {.r = r, .handle = handle};
    const int status = bench(&now, list);
    plot_free(now.drawing);
    cublas_close(now.other);
    recorder_close(now.recorder);
    return status;
}

static const char *text_at(const json_t *root, const char *object, const char *key)
{
    const char *text = json_string_value(json_object_get(json_object_get(root, object), key));
    return text ? text : "?";
}

/* An earlier run again, from its JSON. */
static int replay(const request *r)
{
    char message[512];
    json_t *loaded = results_load(r->from_path, message, sizeof message);
    bench_result result;
    results_shown shown = {false, false, false};
    bool squares = true;
    if (!loaded)
        return failed(ME, "%s", message);
    for (size_t i = 0; results_at(loaded, i, &result); i++) {
        squares = squares && is_square(&result.size);
        shown.compared = shown.compared || result.compared;
        shown.batch = shown.batch || result.batch > 1;
        shown.data = shown.data || *result.data;
    }
    plot *drawing = NULL;
    if (r->plot_path)
        drawing = new_plot(
            text_at(loaded, "settings", "transa"), text_at(loaded, "settings", "transb"),
            text_at(loaded, "settings", "order"), text_at(loaded, "device", "name"), squares);
    json_t *facts = json_copy(loaded);
    json_object_del(facts, "results");
    results out;
    results_open(&out, &r->common, &shown, facts);
    for (size_t i = 0; results_at(loaded, i, &result); i++) {
        results_row(&out, &result);
        results_point(drawing, &result);
    }
    report_close(&out.out);
    json_decref(loaded);
    const int status = draw(drawing, r->plot_path, squares);
    plot_free(drawing);
    return status;
}

/* Beside --from, what says how to measure would have no effect. */
static void refuse_measuring_options(void)
{
    if (option_given('d'))
        usage_error(ME, "--from measures nothing, so that --device has no effect");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (option_given(rows[i].key) && rows[i].key != KEY_PLOT && rows[i].key != KEY_FROM)
            usage_error(ME, "--from measures nothing, so that %s%s has no effect",
                        rows[i].name ? "--" : "-",
                        rows[i].name ? rows[i].name : (char[2]){(char)rows[i].key, '\0'});
}

static int run(int argc, char **argv)
{
    const request r = parse(argc, argv);
    if (data_list_wanted(r.data_text))
        return data_list_print(ME, &r.common);
    shape_list list = shapes_from(ME, &r.shapes);
    if (list.count == 0 && !r.from_path)
        usage_error(ME, "which sizes? Give -m, -n, -k, --size or --shapes");
    if (r.from_path)
        refuse_measuring_options();
    plot_prepare(ME, &r.common, r.plot_path);
    if (r.from_path)
        return replay(&r);
    xgemm_handle *handle = problem_device(ME, &r.common, &r.problem);
    const int status = bench_on(&r, handle, &list);
    xgemm_destroy(handle);
    shape_list_free(&list);
    return status;
}

const command command_bench = {
    "bench", "", "time kernels over sizes, beside cuBLAS", rows, sizeof rows / sizeof *rows, run};
