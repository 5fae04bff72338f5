/* SPDX-License-Identifier: BSD-3-Clause */
#include "results.h"

#include "kernel_list.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    column column;
    results_shown shown;
} columns[RESULT_COLUMNS] = {
    {{"order", -5}, OF_ORDERS},
    {{"transa", -6}, OF_TRANSA},
    {{"transb", -6}, OF_TRANSB},
    {{"math", -7}, OF_MATHS},
    {{"type", -4}, OF_TYPES},
    {{"batch", 6}, OF_BATCHES},
    {{"m", 6}, ALWAYS},
    {{"n", 6}, ALWAYS},
    {{"k", 6}, ALWAYS},
    {{"kernel", -18}, ALWAYS},
    {{"data", -18}, OF_DATA},
    {{"median_us", 11}, ALWAYS},
    {{"p1_us", 11}, ALWAYS},
    {{"p99_us", 11}, ALWAYS},
    {{"gflops", 10}, ALWAYS},
    {{"gbs", 7}, ALWAYS},
    {{"percent_of_roofline", 19}, WITH_PEAKS},
    {{"host_us", 8}, ALWAYS},
    {{"cublas_us", 11}, COMPARED},
    {{"cublas_host_us", 14}, COMPARED},
    {{"percent_of_cublas", 17}, COMPARED},
    {{"percent_recomputed", 18}, ALWAYS},
    {{"error", 9}, CHECKED},
    {{"clock_mhz", 9}, SENSED},
    {{"power_w", 7}, SENSED},
    {{"temperature_c", 13}, SENSED},
    {{"baseline_us", 11}, WITH_BASELINE},
    {{"verdict", -7}, WITH_BASELINE},
};

/* 0 where nothing is multiplied. */
static double gflops(const bench_result *r, double us)
{
    const workload one = problem_workload(&r->problem, r->size);
    const bool multiplies = r->problem.alpha.re != 0.0 || r->problem.alpha.im != 0.0;
    return us > 0.0 && multiplies ? 1e-3 * workload_flops(&one) / us : 0.0;
}

/* Of each matrix read and written once, however often the kernel does. */
static double gbs(const bench_result *r, double us)
{
    problem_options p = r->problem;
    p.batch = 1;
    p.pad = 0;
    const workload work = problem_workload(&p, r->size);
    const double c = (double)r->size.m * (double)r->size.n * (double)type_bytes(problem_type_c(&p));
    const double one = workload_bytes(&work) + (scalar_is_zero(p.beta) ? 0.0 : c);
    return us > 0.0 ? 1e-3 * one * (double)r->batch / us : 0.0;
}

/* GFLOP/s; 0: not known. */
static double peak_of(xgemm_type type, xgemm_math math, const xgemm_device *on)
{
    if (type_part(type) == XGEMM_F64)
        return math == XGEMM_MATH_STRICT ? fmax(on->peak_fp64_gflops, on->peak_fp64_tensor_gflops)
                                         : 0.0; /* residues: as many as the data need */
    if (math == XGEMM_MATH_STRICT)
        return on->peak_fp32_gflops;
    if (type == XGEMM_BF16)
        return on->peak_bf16_gflops;
    /* DEFAULT takes three products of FP16 for one of floats, and TF32 one. */
    return type == XGEMM_F16 || math == XGEMM_MATH_TF32 ? on->peak_fp16_gflops
                                                        : on->peak_fp16_gflops / 3.0;
}

double results_roofline(const bench_result *r, const char *kernel, const xgemm_device *on)
{
    xgemm_kernel_info info;
    const double us = r->ours.median_us;
    if (!kernel || !kernel_find(kernel, &info) || on->peak_bandwidth_gbs <= 0.0 || us <= 0.0)
        return -1.0;
    const double peak = peak_of(r->problem.type, info.math, on);
    if (peak <= 0.0)
        return -1.0;
    const double compute = gflops(r, us) / peak, memory = gbs(r, us) / on->peak_bandwidth_gbs;
    return 100.0 * (compute > memory ? compute : memory);
}

void results_open(results *to, const settings *common, unsigned shown, json_t *facts)
{
    int count = 0;
    for (int i = 0; i < RESULT_COLUMNS; i++)
        if (columns[i].shown == ALWAYS || (columns[i].shown & shown)) {
            to->columns[count] = columns[i].column;
            to->cells[count++] = i;
        }
    to->out = report_open(common, to->columns, count, "results", facts);
}

unsigned results_shown_by(const bench_result *r)
{
    return (r->batch > 1 ? OF_BATCHES : 0u) | (*r->data ? OF_DATA : 0u) |
           (r->compared ? COMPARED : 0u) | (r->percent_of_roofline >= 0.0 ? WITH_PEAKS : 0u) |
           (r->error >= 0.0 ? CHECKED : 0u) | (r->sensed.clock_mhz >= 0.0 ? SENSED : 0u) |
           (r->verdict ? WITH_BASELINE : 0u);
}

/* A figure that is unknown when it is negative. */
static cell unless_negative(double value, int digits)
{
    return value >= 0.0 ? cell_real(value, digits) : cell_none();
}

void results_row(results *to, const bench_result *r)
{
    const timing *t = &r->ours, *theirs = &r->theirs;
    const problem_options *p = &r->problem;
    const cell all[RESULT_COLUMNS] = {
        cell_text(order_word(p->order)),
        cell_text(transpose_letter(p->transa)),
        cell_text(transpose_letter(p->transb)),
        cell_text(math_word(p->math)),
        cell_text(type_word(p->type)),
        cell_integer(r->batch),
        cell_integer(r->size.m),
        cell_integer(r->size.n),
        cell_integer(r->size.k),
        cell_text(r->kernel),
        *r->data ? cell_text(r->data) : cell_none(),
        cell_real(t->median_us, 2),
        unless_negative(t->p1_us, 2),
        unless_negative(t->p99_us, 2),
        cell_real(gflops(r, t->median_us), 1),
        cell_real(gbs(r, t->median_us), 1),
        unless_negative(r->percent_of_roofline, 1),
        unless_negative(t->host_us, 2),
        r->compared ? cell_real(theirs->median_us, 2) : cell_none(),
        r->compared ? unless_negative(theirs->host_us, 2) : cell_none(),
        r->compared ? cell_real(100.0 * theirs->median_us / t->median_us, 1) : cell_none(),
        unless_negative(r->percent_recomputed, 2),
        unless_negative(r->error, 2),
        unless_negative(r->sensed.clock_mhz, 0),
        unless_negative(r->sensed.power_w, 0),
        unless_negative(r->sensed.temperature_c, 0),
        unless_negative(r->baseline_us, 2),
        r->verdict ? cell_text(r->verdict) : cell_none(),
    };
    cell shown[RESULT_COLUMNS];
    for (int i = 0; i < to->out.count; i++)
        shown[i] = all[to->cells[i]];
    report_row(&to->out, shown);
}

/* What tells a line from another one of its kernel: the layout and so on, where several are shown.
 */
static void line_suffix(const bench_result *r, unsigned shown, char *text, size_t size)
{
    const problem_options *p = &r->problem;
    const bool letters = shown & (OF_TRANSA | OF_TRANSB);
    snprintf(text, size, "%s%s%s%s%s%s%s%s%s%s", letters ? " " : "",
             letters ? transpose_letter(p->transa) : "", letters ? transpose_letter(p->transb) : "",
             shown & OF_ORDERS ? " " : "", shown & OF_ORDERS ? order_word(p->order) : "",
             shown & OF_MATHS ? " " : "", shown & OF_MATHS ? math_word(p->math) : "",
             shown & OF_TYPES ? " " : "", shown & OF_TYPES ? type_word(p->type) : "",
             *r->data ? ", " : "");
}

void results_point(plot *to, const bench_result *r, unsigned shown)
{
    char line[180], theirs[180], suffix[40];
    if (!to)
        return;
    line_suffix(r, shown, suffix, sizeof suffix);
    snprintf(line, sizeof line, "%.*s%s%s", (int)strcspn(r->kernel, ":"), r->kernel, suffix,
             r->data);
    snprintf(theirs, sizeof theirs, "cuBLAS%s%s", suffix, r->data);
    if (r->compared)
        plot_speed(to, theirs, &r->size, gflops(r, r->theirs.median_us));
    plot_speed(to, line, &r->size, gflops(r, r->ours.median_us));
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

/* ---- Earlier results ---- */

/* A figure of schema 1, in which 0 was unknown, in other units. */
static json_t *upgraded(const json_t *device, const char *key, double unit)
{
    const double value = number(device, key);
    return value > 0.0 ? json_real(value / unit) : json_null();
}

static void copy_text(json_t *to, const json_t *from, const char *key)
{
    const char *text = json_string_value(json_object_get(from, key));
    json_object_set_new(to, key, text && *text ? json_string(text) : json_null());
}

/* A number as an int, 0 where it is none that fits. */
static int int_at(const json_t *of, const char *key)
{
    const double value = number(of, key);
    return value > INT_MIN && value < INT_MAX ? (int)value : 0;
}

/* The device of schema 1 as today's has it, without what was not there. */
static json_t *upgraded_device(const json_t *old)
{
    static const char *const figures[] = {"core_clock_mhz", "memory_clock_mhz", "peak_fp32_gflops",
                                          "peak_bandwidth_gbs"};
    char text[24];
    const int capability = int_at(old, "compute_capability");
    const int ordinal = int_at(old, "ordinal"); /* below 0: not a GPU */
    json_t *device = json_object();
    snprintf(text, sizeof text, "%d", ordinal);
    json_object_set_new(device, "device_id",
                        json_string(ordinal == XGEMM_DEVICE_CPU   ? "cpu"
                                    : ordinal == XGEMM_DEVICE_SIM ? "sim"
                                                                  : text));
    copy_text(device, old, "name");
    copy_text(device, old, "detail");
    snprintf(text, sizeof text, "%d.%d", capability / 10, capability % 10);
    json_object_set_new(device, "compute_capability",
                        capability > 0 ? json_string(text) : json_null());
    json_object_set_new(device, "multiprocessors", json_integer(int_at(old, "multiprocessors")));
    json_object_set_new(device, "memory_gib", upgraded(old, "memory_bytes", 1 << 30));
    json_object_set_new(device, "l2_mib", upgraded(old, "l2_bytes", 1 << 20));
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        json_object_set_new(device, figures[i], upgraded(old, figures[i], 1.0));
    return device;
}

static void upgrade(json_t *root)
{
    json_t *const device = json_object_get(root, "device");
    const json_int_t schema = json_integer_value(json_object_get(root, "schema_version"));
    json_object_set_new(root, "schema_version", json_integer(REPORT_SCHEMA));
    if (schema == 2) { /* there the device's "device_id" was called as the object */
        json_object_set(device, "device_id", json_object_get(device, "device"));
        json_object_del(device, "device");
        return;
    }
    json_object_set_new(root, "command_line", json_null());
    json_object_set_new(root, "host", json_null());
    json_object_set_new(root, "device",
                        json_is_object(device) ? upgraded_device(device) : json_null());
}

/* Whether it is what bench prints; false with the sentence in message. */
static bool check_results(const char *path, json_t *root, char *message, size_t message_size)
{
    const json_t *version = json_object_get(root, "schema_version");
    const json_int_t schema = json_integer_value(version);
    size_t index;
    json_t *row;
    const char *const of = json_string_value(json_object_get(root, "command"));
    bool good =
        (!of || strcmp(of, "bench") == 0) && json_array_size(json_object_get(root, "results")) > 0;
    json_array_foreach(json_object_get(root, "results"), index, row) good = good && is_result(row);
    /* Of a version to come nothing else is known, and not what it calls its results. */
    const bool known = schema >= REPORT_SCHEMA_OLDEST && schema <= REPORT_SCHEMA;
    if (!json_is_integer(version) || (known && !good))
        snprintf(message, message_size,
                 "%s is not what xgemm bench --json prints: it has no \"%s\"%s", path,
                 good ? "schema_version" : "results",
                 good ? "" : ", or one without sizes, kernel and time");
    else if (!known)
        snprintf(message, message_size,
                 "%s is of schema version %" JSON_INTEGER_FORMAT
                 ", which xgemm %s does not know; it knows %d to %d",
                 path, schema, xgemm_version(), REPORT_SCHEMA_OLDEST, REPORT_SCHEMA);
    else
        return true;
    return false;
}

json_t *results_load(const char *path, char *message, size_t message_size)
{
    json_error_t error;
    FILE *const file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    json_t *root = file ? json_loadf(file, 0, &error) : NULL;
    if (!file || ferror(file)) /* jansson takes what cannot be read for the end */
        snprintf(message, message_size, "cannot read %s: %s", path, strerror(errno));
    else if (!root)
        snprintf(message, message_size, "%s:%d: %s", path, error.line, error.text);
    if (file && file != stdin)
        fclose(file);
    if (!root)
        return NULL;
    if (!check_results(path, root, message, message_size)) {
        json_decref(root);
        return NULL;
    }
    if (json_integer_value(json_object_get(root, "schema_version")) < REPORT_SCHEMA)
        upgrade(root);
    return root;
}

/* A text of the row, or where it has none that all rows of the run share. */
static const char *text_of(const json_t *loaded, const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    if (!text)
        text = json_string_value(json_object_get(json_object_get(loaded, "settings"), key));
    return text ? text : "";
}

static xgemm_transpose transpose_of(const char *text)
{
    return *text == 'T' ? XGEMM_TRANS : *text == 'C' ? XGEMM_CONJ_TRANS : XGEMM_NO_TRANS;
}

/* A number, or two in an array. */
static scalar scalar_at(const json_t *value)
{
    if (json_is_null(value)) /* JSON has no NaN and no Inf */
        return (scalar){NAN, 0.0};
    return json_is_array(value) ? (scalar){json_number_value(json_array_get(value, 0)),
                                           json_number_value(json_array_get(value, 1))}
                                : (scalar){json_number_value(value), 0.0};
}

/* Types and epilogue, which earlier versions did not write: floats without one. */
static void take_types(problem_options *to, const json_t *loaded, const json_t *row)
{
    const xgemm_type type = type_of_word(text_of(loaded, row, "type"));
    const char *const activation = text_of(loaded, row, "activation");
    const char *const bias = text_of(loaded, row, "bias");
    to->type = type ? type : XGEMM_F32;
    to->type_c = type_of_word(text_of(loaded, row, "type_c"));
    for (int i = XGEMM_ACTIVATION_NONE; i <= XGEMM_SILU; i++)
        if (strcmp(activation, activation_word((xgemm_activation)i)) == 0)
            to->activation = (xgemm_activation)i;
    to->bias_per_row = strcmp(bias, "row") == 0;
    to->has_bias = to->bias_per_row || strcmp(bias, "column") == 0;
}

static problem_options problem_of(const json_t *loaded, const json_t *row)
{
    problem_options p = problem_defaults();
    const char *math = text_of(loaded, row, "math");
    p.order = strcmp(text_of(loaded, row, "order"), "col") ? XGEMM_ROW_MAJOR : XGEMM_COL_MAJOR;
    p.transa = transpose_of(text_of(loaded, row, "transa"));
    p.transb = transpose_of(text_of(loaded, row, "transb"));
    const json_t *const given = json_object_get(loaded, "settings");
    if (json_object_get(given, "alpha"))
        p.alpha = scalar_at(json_object_get(given, "alpha"));
    p.beta = scalar_at(json_object_get(given, "beta"));
    if (json_object_get(given, "ld_pad"))
        p.pad = size_at(given, "ld_pad");
    take_types(&p, loaded, row);
    for (int mode = XGEMM_MATH_DEFAULT; mode <= XGEMM_MATH_TF32; mode++)
        if (strcmp(math, math_word((xgemm_math)mode)) == 0)
            p.math = (xgemm_math)mode;
    return p;
}

/* As baseline.c has it; NULL: the run was compared with none. */
static const char *verdict_of(const char *text)
{
    static const char *const verdicts[] = {"new", "slower", "faster", "same"};
    for (size_t i = 0; text && i < sizeof verdicts / sizeof *verdicts; i++)
        if (strcmp(text, verdicts[i]) == 0)
            return verdicts[i];
    return NULL;
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
    const char *data = json_string_value(json_object_get(row, "data"));
    snprintf(r->data, sizeof r->data, "%s", data ? data : "");
    r->ours.median_us = number(row, "median_us");
    r->ours.p1_us = number(row, "p1_us");
    r->ours.p99_us = number(row, "p99_us");
    r->ours.host_us = number(row, "host_us");
    r->theirs.median_us = number(row, "cublas_us");
    r->theirs.host_us = number(row, "cublas_host_us");
    r->compared = r->theirs.median_us > 0.0;
    r->percent_recomputed = number(row, "percent_recomputed");
    r->percent_of_roofline = number(row, "percent_of_roofline");
    r->error = number(row, "error");
    r->sensed =
        (readings){number(row, "clock_mhz"), number(row, "power_w"), number(row, "temperature_c")};
    r->problem = problem_of(loaded, row);
    r->problem.batch = r->batch;
    const char *device =
        json_string_value(json_object_get(json_object_get(loaded, "device"), "name"));
    snprintf(r->device, sizeof r->device, "%s", device ? device : "");
    r->graph = json_is_true(json_object_get(json_object_get(loaded, "settings"), "graph"));
    r->verdict = verdict_of(json_string_value(json_object_get(row, "verdict")));
    r->baseline_us = r->verdict ? number(row, "baseline_us") : -1.0;
    return true;
}
