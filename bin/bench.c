/* SPDX-License-Identifier: BSD-3-Clause */
/* xgemm bench: times kernels over sizes, beside cuBLAS. */
#include "bench.h"
#include "commands.h"
#include "interrupt.h"
#include "kernel_list.h"

#include <getopt.h>
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
    KEY_FROM,
    KEY_BASELINE,
    KEY_NOISE,
    KEY_CHECK
};

static const option_row rows[] = {
    SHAPE_ROWS,
    KERNELS_ROW("auto"),
    {KEY_COMPARE, "compare", "cublas", "time cuBLAS beside each"},
    {KEY_ORDER, "order", "LIST", "layouts of the matrices: row, col or both; default row"},
    {KEY_TRANSA, "transa", "LIST", "transposes of A: N, T, C with commas between; default N"},
    {KEY_TRANSB, "transb", "LIST", "transposes of B"},
    {KEY_MATH, "math", "LIST", "default, strict, tf32, with commas between"},
    TYPES_ROW,
    TYPE_C_ROW,
    ALPHA_ROW,
    BETA_ROW("C"),
    LD_PAD_ROW,
    BATCH_ROW,
    EPILOGUE_ROWS,
    DATA_ROW,
    {KEY_CHECK, "check", NULL, "compare elements of each result with float64"},
    {KEY_SAMPLES, "samples", "N", "times taken; default 25"},
    {KEY_WARM, "warm", "MS", "work before the first sample; default 20"},
    {KEY_REST, "rest", "MS", "idle before each sample; default 0"},
    {KEY_TIME, "time", "MS", "least length of a sample; default 2"},
    {KEY_LIMIT, "limit", "SECONDS", "no new sample of a case after this; default 5"},
    {KEY_GRAPH, "graph", NULL, "record the calls of a sample as a CUDA graph, time its replays"},
    {KEY_SEED, "seed", "N", "of the random matrices; default 1"},
    {KEY_PLOT, "plot", "FILE", "draw the speeds (SVG or PNG; needs gnuplot)"},
    {KEY_FROM, "from", "FILE.json", "show (and draw) an earlier run's JSON; measures nothing"},
    {KEY_BASELINE, "baseline", "FILE.json", "compare with an earlier run's; 1 if slower"},
    {KEY_NOISE, "noise", "PERCENT", "least difference that counts for --baseline; default 2"},
};

static bool take_number(bench_request *r, int key, const char *value)
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
    case KEY_NOISE:
        r->noise = option_real(ME, "noise", value);
        if (!(r->noise >= 0.0 && r->noise <= 1000.0))
            usage_error(ME, "--noise takes a percentage from 0 to 1000, not \"%s\"", value);
        return true;
    case KEY_SEED:
        r->seed = (uint64_t)option_integer(ME, "seed", value, 0, INT64_MAX);
        return true;
    default:
        return false;
    }
}

static void take_word(bench_request *r, int key, const char *value)
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
    case KEY_CHECK:
        r->check = true;
        break;
    case KEY_BASELINE:
        r->baseline_path = value;
        break;
    case KEY_PLOT:
        r->plot_path = value;
        break;
    case KEY_FROM:
        r->from_path = value;
        break;
    }
}

static bool is_stdin(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

static void check_stdin(const bench_request *r)
{
    const bool from = is_stdin(r->from_path);
    if (is_stdin(r->baseline_path) && (from || is_stdin(r->shapes.file)))
        usage_error(ME, "--%s and --baseline cannot both be the standard input",
                    from ? "from" : "shapes");
}

static bench_request parse(int argc, char **argv)
{
    bench_request r = {.common = {.device = XGEMM_DEVICE_AUTO},
                       .kernel = "auto",
                       .problem = problem_defaults(),
                       .how = {.samples = 25, .warm_ms = 20.0, .time_ms = 2.0, .limit_s = 5.0},
                       .noise = 2.0,
                       .seed = 1};
    const char *value;
    for (int key; (key = option_next(ME, argc, argv, &r.common, &value)) != -1;)
        if (!shape_option(&r.shapes, key, value) && !sweep_option(ME, &r.sweep, key, value) &&
            !problem_option(ME, &r.problem, key, value) && !take_number(&r, key, value))
            take_word(&r, key, value);
    shapes_no_operand(ME, argc, argv);
    sweep_check(ME, &r.sweep, &r.problem);
    if (!r.compare) /* cuBLAS depends on the mode */
        sweep_check_kernel(ME, &r.sweep, &r.problem, r.kernel);
    if (option_given(KEY_NOISE) && !r.baseline_path)
        usage_error(ME, "--noise is for --baseline; give both");
    check_stdin(&r);
    if (!data_list_wanted(r.data_text))
        r.data = data_list_from(ME, r.data_text);
    return r;
}

static const char *text_at(const json_t *root, const char *object, const char *key)
{
    const char *text = json_string_value(json_object_get(json_object_get(root, object), key));
    return text ? text : "?";
}

/* Which columns an earlier run needs. */
static unsigned shown_columns(const json_t *loaded)
{
    bench_result first, result;
    unsigned shown = 0;
    for (size_t i = 0; results_at(loaded, i, &result); i++) {
        const problem_options *p = &result.problem, *q = &first.problem;
        if (i == 0)
            first = result;
        shown |= results_shown_by(&result) | (p->order != q->order ? OF_ORDERS : 0u) |
                 (p->transa != q->transa ? OF_TRANSA : 0u) |
                 (p->transb != q->transb ? OF_TRANSB : 0u) | (p->math != q->math ? OF_MATHS : 0u) |
                 (p->type != q->type ? OF_TYPES : 0u);
    }
    return shown;
}

static plot *plot_of(const bench_request *r, const json_t *loaded)
{
    const char *date = json_string_value(json_object_get(loaded, "date"));
    bench_result first;
    char product[64];
    const json_t *const how = json_object_get(loaded, "settings");
    const bool swept = json_is_null(json_object_get(how, "type"));
    const bool any = results_at(loaded, 0, &first);
    const bool several = json_is_null(json_object_get(how, "order")) ||
                         json_is_null(json_object_get(how, "transa")) ||
                         json_is_null(json_object_get(how, "transb"));
    bench_product_text(product, any && !swept ? first.problem.type : (xgemm_type)0,
                       text_at(loaded, "settings", "transa"), text_at(loaded, "settings", "transb"),
                       several ? NULL : text_at(loaded, "settings", "order"));
    return bench_plot(r, product, text_at(loaded, "device", "name"), date ? date : "");
}

static int show(const bench_request *r, json_t *loaded, baseline *before)
{
    bench_result result;
    const unsigned shown = shown_columns(loaded) | (before ? WITH_BASELINE : 0u);
    plot *drawing = plot_of(r, loaded);
    json_t *facts = json_copy(loaded);
    json_object_del(facts, "results");
    results out;
    results_open(&out, &r->common, shown, facts);
    for (size_t i = 0; results_at(loaded, i, &result); i++) {
        if (before)
            baseline_compare(before, &result);
        results_row(&out, &result);
        results_point(drawing, &result, shown);
    }
    report_close(&out.out);
    int status = bench_draw(r, drawing);
    plot_free(drawing);
    if (status == STATUS_DONE && before)
        status = bench_verdict(r, before);
    return status;
}

/* An earlier run again, from its JSON. */
static int replay(const bench_request *r)
{
    char message[512];
    json_t *loaded = results_load(r->from_path, message, sizeof message);
    if (!loaded)
        return failed(ME, "%s", message);
    baseline *before = NULL;
    int status = STATUS_DONE;
    if (r->baseline_path &&
        !(before = baseline_load(r->baseline_path, r->noise, message, sizeof message)))
        status = failed(ME, "%s", message);
    if (status == STATUS_DONE)
        status = show(r, loaded, before);
    baseline_free(before);
    json_decref(loaded);
    return status;
}

/* Where no sizes are given: some that take seconds on the device. */
static void add_default_sizes(shape_list *list, int device)
{
    static const int64_t of_gpus[] = {512, 1024, 2048, 4096, 8192}, of_hosts[] = {256, 512, 1024},
                         simulated[] = {64, 128};
    const int64_t *sizes = device >= 0                  ? of_gpus
                           : device == XGEMM_DEVICE_CPU ? of_hosts
                                                        : simulated;
    const int count = device >= 0 ? 5 : device == XGEMM_DEVICE_CPU ? 3 : 2;
    for (int i = 0; i < count; i++)
        shape_add(list, sizes[i], sizes[i], sizes[i]);
}

static int run(int argc, char **argv)
{
    const bench_request r = parse(argc, argv);
    if (data_list_wanted(r.data_text))
        return data_list_print(ME, &r.common);
    if (r.from_path)
        option_only(ME, "--from measures nothing",
                    (const int[]){KEY_PLOT, KEY_FROM, KEY_BASELINE, KEY_NOISE, 0});
    shape_list list = shapes_from(ME, &r.shapes);
    plot_prepare(ME, &r.common, r.plot_path);
    if (r.from_path)
        return replay(&r);
    const problem_options first = sweep_at(&r.sweep, &r.problem, 0);
    xgemm_handle *handle = problem_device(ME, &r.common, &first);
    if (list.count == 0)
        add_default_sizes(&list, xgemm_get_device(handle));
    const int status = bench_measure(&r, handle, &list);
    xgemm_destroy(handle);
    shape_list_free(&list);
    return interrupt_end(status);
}

const command command_bench = {
    "bench", "",   "time kernels over sizes, beside cuBLAS", rows, sizeof rows / sizeof *rows,
    run,     false};
