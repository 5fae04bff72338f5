/* SPDX-License-Identifier: BSD-3-Clause */
/* The cases of bench: each size, layout, math mode, kind of data and kernel in turn. */
#include "bench.h"
#include "commands.h"
#include "cublas.h"
#include "device_fields.h"
#include "error_sample.h"
#include "interrupt.h"
#include "kernel_list.h"
#include "progress.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define ME (&command_bench)

/* What is open while the cases run. */
typedef struct {
    const bench_request *r;
    xgemm_handle *handle;
    cublas *other;
    recorder *recorder; /* NULL: calls are timed one by one */
    sensors *sensors;
    baseline *before; /* NULL: results are not compared */
    xgemm_device device;
    problem_options problem; /* of the case */
    results out;
    plot *drawing;
    progress line;
} session;

static bool run_kernel(void *context, const workload *w, const buffers *use)
{
    workload_scalars scalars;
    const xgemm_product product = workload_product(w, use, &scalars);
    return xgemm_gemm(context, &product) == XGEMM_OK;
}

static bool run_cublas(void *context, const workload *w, const buffers *use)
{
    return cublas_multiply(context, w, use) == 0;
}

static unsigned shown_columns(const session *now)
{
    const bench_request *r = now->r;
    const sweep *s = &r->sweep;
    return (r->problem.batch > 1 ? OF_BATCHES : 0u) | (r->data.count > 0 ? OF_DATA : 0u) |
           (now->other ? COMPARED : 0u) | (now->device.peak_bandwidth_gbs > 0.0 ? WITH_PEAKS : 0u) |
           (r->check ? CHECKED : 0u) | (now->sensors ? SENSED : 0u) |
           (now->before ? WITH_BASELINE : 0u) | (s->order_count > 1 ? OF_ORDERS : 0u) |
           (s->transa_count > 1 ? OF_TRANSA : 0u) | (s->transb_count > 1 ? OF_TRANSB : 0u) |
           (s->math_count > 1 ? OF_MATHS : 0u) | (s->type_count > 1 ? OF_TYPES : 0u);
}

static void add_result(session *now, bench_result *result)
{
    progress_clear(&now->line);
    if (now->before)
        baseline_compare(now->before, result);
    results_row(&now->out, result);
    results_point(now->drawing, result, shown_columns(now));
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
    bench_result result = {.size = w->size,
                           .problem = now->problem,
                           .batch = w->batch,
                           .compared = theirs != NULL,
                           .graph = now->r->graph,
                           .error = -1.0,
                           .baseline_us = -1.0};
    char message[512];
    int64_t recomputed;
    snprintf(result.data, sizeof result.data, "%s", data ? data->name : "");
    snprintf(result.device, sizeof result.device, "%s", now->device.name);
    progress_step(&now->line, "%" PRId64 " x %" PRId64 " x %" PRId64 ": %s", w->size.m, w->size.n,
                  w->size.k, name);
    if (xgemm_set_kernel(now->handle, name) ||
        !measure(now->handle, sets, w, run_kernel, now->handle, &now->r->how, now->recorder,
                 &result.ours) ||
        xgemm_last_recomputed(now->handle, &recomputed))
        return failed_measurement(now, NULL);
    result.sensed = sensors_read(now->sensors);
    if (interrupted())
        return STATUS_DONE; /* its samples may be too few */
    result.percent_recomputed = percent_recomputed(recomputed, w);
    const char *chosen = xgemm_last_kernel(now->handle);
    const bool automatic = strcmp(name, "auto") == 0;
    snprintf(result.kernel, sizeof result.kernel, "%s%s%s", name, automatic ? ":" : "",
             !automatic ? ""
             : chosen   ? chosen
                        : "none");
    if (theirs)
        result.theirs = *theirs;
    result.percent_of_roofline = results_roofline(&result, chosen, &now->device);
    if (now->r->check && !error_sample(now->handle, sets, w, run_kernel, now->handle, now->r->seed,
                                       &result.error, message, sizeof message)) {
        progress_clear(&now->line);
        return failed(ME, "%s", message);
    }
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
        return failed_measurement(now, cublas_function(w));
    return STATUS_DONE;
}

static int open_sets(session *now, rotation *sets, const workload *w, const data_pair *data)
{
    char message[512];
    if (rotation_open(sets, now->handle, w, data, now->r->seed, message, sizeof message))
        return STATUS_DONE;
    progress_clear(&now->line);
    return failed(ME, "%" PRId64 " x %" PRId64 " x %" PRId64 ": %s", w->size.m, w->size.n,
                  w->size.k, message);
}

/* A size with one kind of data, or as without --data where that is NULL. */
static int time_shape(session *now, shape size, const data_pair *data, const kernel_list *kernels)
{
    const workload w = problem_workload(&now->problem, size);
    const bool compared = now->other && cublas_has(&w);
    rotation sets;
    timing theirs;
    int status = open_sets(now, &sets, &w, data);
    if (status != STATUS_DONE)
        return status;
    if (compared)
        status = time_cublas(now, &sets, &w, &theirs);
    for (int i = 0; i < kernels->count && status == STATUS_DONE && !interrupted(); i++)
        status = time_kernel(now, &sets, &w, data, kernels->names[i], compared ? &theirs : NULL);
    rotation_close(&sets);
    return status;
}

static json_t *facts_of(const session *now)
{
    const bench_request *r = now->r;
    json_t *facts = report_facts(ME);
    device_add_ordinal(facts, xgemm_get_device(now->handle));
    json_t *how = problem_settings(&now->problem);
    sweep_forget(how, &r->sweep, &r->problem);
    report_add(how, json_pack("{s:i, s:f, s:f, s:f, s:b, s:b, s:I}", "samples", r->how.samples,
                              "warm_ms", r->how.warm_ms, "rest_ms", r->how.rest_ms, "time_ms",
                              r->how.time_ms, "graph", r->graph, "check", r->check, "seed",
                              (json_int_t)r->seed));
    json_object_set_new(facts, "settings", how);
    if (now->other)
        json_object_set_new(facts, "cublas_version", json_integer(cublas_version(now->other)));
    return facts;
}

int bench_draw(const bench_request *request, const plot *drawing)
{
    char message[4352];
    if (drawing && plot_write(drawing, request->plot_path, PLOT_SPEEDS, message, sizeof message))
        return failed(ME, "%s", message);
    return STATUS_DONE;
}

void bench_product_text(char text[64], xgemm_type type, const char *transa, const char *transb,
                        const char *order)
{
    const char *const word = type_product_word(type);
    if (order)
        snprintf(text, 64, "%s %.8s%.8s, %.8s order", word, transa, transb, order);
    else
        snprintf(text, 64, "%s of several layouts", word);
}

plot *bench_plot(const bench_request *request, const char *product, const char *device,
                 const char *date)
{
    char title[256];
    if (!request->plot_path)
        return NULL;
    snprintf(title, sizeof title, "%s, %s, %.10s", product, device, date);
    return plot_new(title, "m x n x k", "GFLOP/s");
}

/* What only a GPU has: the recorder, cuBLAS. */
static int open_for_gpu(session *now)
{
    const bench_request *r = now->r;
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
                                                 message, sizeof message)))
        return failed(ME, "%s", message);
    return STATUS_DONE;
}

static bool has_failed(session *now, xgemm_status status)
{
    if (status)
        failed_call(ME, now->handle);
    return status != XGEMM_OK;
}

/* All sizes and kinds of data in one layout and math mode. */
static int time_shapes(session *now, const shape_list *list)
{
    const bench_request *r = now->r;
    const data_list *data = &r->data;
    int status = STATUS_DONE;
    if (has_failed(now, xgemm_set_math(now->handle, problem_math(&now->problem))))
        return STATUS_FAILED;
    if (now->other)
        cublas_set_math(now->other, now->problem.math);
    const workload any = problem_workload(&now->problem, (shape){1, 1, 1});
    const kernel_list kernels = kernels_from(ME, now->handle, r->kernel, &any);
    for (size_t i = 0; i < list->count && status == STATUS_DONE && !interrupted(); i++) {
        if (data->count == 0)
            status = time_shape(now, list->items[i], NULL, &kernels);
        for (int d = 0; d < data->count && status == STATUS_DONE && !interrupted(); d++)
            status = time_shape(now, list->items[i], &data->pairs[d], &kernels);
    }
    return status;
}

/* How many lines of progress there will be: kernels are counted for each math mode and type. */
static size_t count_cases(session *now, const shape_list *list)
{
    const bench_request *r = now->r;
    size_t cases = 0;
    for (int i = 0; i < sweep_count(&r->sweep); i++) {
        const problem_options p = sweep_at(&r->sweep, &r->problem, i);
        if (has_failed(now, xgemm_set_math(now->handle, problem_math(&p))))
            return 0;
        const workload any = problem_workload(&p, (shape){1, 1, 1});
        const kernel_list kernels = kernels_from(ME, now->handle, r->kernel, &any);
        cases += list->count * (size_t)(r->data.count ? r->data.count : 1) *
                 (size_t)(kernels.count + (now->other ? 1 : 0));
    }
    return cases;
}

static plot *open_plot(const session *now, const json_t *facts)
{
    const problem_options *p = &now->problem;
    const char *date = json_string_value(json_object_get(facts, "date"));
    const sweep *of = &now->r->sweep;
    const bool several = of->order_count > 1 || of->transa_count > 1 || of->transb_count > 1;
    char product[64];
    bench_product_text(product, of->type_count > 1 ? (xgemm_type)0 : p->type,
                       transpose_letter(p->transa), transpose_letter(p->transb),
                       several ? NULL : order_word(p->order));
    return bench_plot(now->r, product, now->device.name, date ? date : "");
}

int bench_verdict(const bench_request *r, const baseline *of)
{
    const int compared = baseline_compared(of), missing = baseline_missing(of);
    const int slower = baseline_slower(of);
    const char *const device = baseline_other_device(of);
    if (device)
        return failed(ME, "the baseline %s has no result of this device, %s", r->baseline_path,
                      device);
    if (compared == 0)
        return failed(ME, "no result is of a case of the baseline %s", r->baseline_path);
    if (!r->common.quiet && missing > 0)
        fprintf(stderr, "xgemm bench: %d result%s of the baseline %s not measured again\n", missing,
                plural(missing), missing == 1 ? "was" : "were");
    if (slower > 0)
        return failed(ME, "%d of %d result%s %s slower than in %s", slower, compared,
                      plural(compared), slower == 1 ? "is" : "are", r->baseline_path);
    return STATUS_DONE;
}

static int bench(session *now, const shape_list *list)
{
    const bench_request *r = now->r;
    const size_t cases = count_cases(now, list);
    int status = cases > 0 ? STATUS_DONE : STATUS_FAILED;
    if (status == STATUS_DONE)
        interrupt_watch();
    now->line = progress_begin(&r->common, cases);
    json_t *facts = facts_of(now);
    now->drawing = open_plot(now, facts);
    results_open(&now->out, &r->common, shown_columns(now), facts);
    for (int i = 0; i < sweep_count(&r->sweep) && status == STATUS_DONE && !interrupted(); i++) {
        now->problem = sweep_at(&r->sweep, &r->problem, i);
        status = time_shapes(now, list);
    }
    progress_clear(&now->line);
    report_fact(&now->out.out, "interrupted", json_boolean(interrupted()));
    report_close(&now->out.out);
    if (status == STATUS_DONE)
        status = bench_draw(r, now->drawing);
    if (status == STATUS_DONE && now->before && !interrupted())
        status = bench_verdict(r, now->before);
    return status;
}

static int open_baseline(session *now)
{
    const bench_request *r = now->r;
    char message[512];
    if (!r->baseline_path)
        return STATUS_DONE;
    now->before = baseline_load(r->baseline_path, r->noise, message, sizeof message);
    return now->before ? STATUS_DONE : failed(ME, "%s", message);
}

int bench_measure(const bench_request *r, xgemm_handle *handle, const shape_list *list)
{
    session now = {.r = r,
                   .handle = handle,
                   .problem = sweep_at(&r->sweep, &r->problem, 0),
                   .device = {.struct_size = sizeof now.device}};
    int status = open_baseline(&now);
    if (status == STATUS_DONE)
        status = open_for_gpu(&now);
    if (status == STATUS_DONE && xgemm_device_get(xgemm_get_device(handle), &now.device))
        status = failed_call(ME, NULL);
    if (status == STATUS_DONE) {
        now.sensors = sensors_open(xgemm_get_device(handle));
        status = bench(&now, list);
    }
    plot_free(now.drawing);
    cublas_close(now.other);
    recorder_close(now.recorder);
    sensors_close(now.sensors);
    baseline_free(now.before);
    return status;
}
