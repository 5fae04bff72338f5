/* SPDX-License-Identifier: BSD-3-Clause */
/* xgemm verify: every kernel against a float64 reference. */
#include "checking.h"
#include "commands.h"
#include "device_fields.h"
#include "data_list.h"
#include "kernel_list.h"
#include "problem_options.h"
#include "progress.h"
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define ME (&command_verify)

enum { KEY_QUICK = 256, KEY_SEED, COMPLAINTS_MAX = 5, BATCH = 3 };

static const option_row rows[] = {
    SHAPE_ROWS, KERNELS_ROW("all"), {KEY_QUICK, "quick", NULL, "fewer cases"},
    MATH_ROW,   DATA_ROW,           {KEY_SEED, "seed", "N", "of the matrices; default 1"},
};

static const column columns[] = {
    {"kernel", -18},        {"cases", 7},  {"elements", 12},
    {"worst_of_bound", 14}, {"failed", 7}, {"result", -1},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static const shape irregular[] = {
    {1, 1, 1},     {7, 5, 3},     {1, 129, 33},    {129, 1, 65},   {17, 33, 1},
    {31, 64, 100}, {65, 63, 127}, {100, 100, 100}, {128, 128, 16}, {129, 257, 66},
};

static const struct {
    float alpha, beta;
} factors[] = {{1.0f, 0.0f}, {-1.0f, 1.0f}, {0.7f, -0.7f}, {0.0f, 0.7f}};
enum { FACTORS = sizeof factors / sizeof *factors, NONZERO_FACTORS = FACTORS - 1 };

typedef struct {
    settings common;
    shape_options shapes;
    const char *kernel, *data_text;
    data_list data;
    bool quick;
    problem_options problem; /* of which it takes the math mode */
    uint64_t seed;
} request;

typedef struct {
    int64_t cases, elements, failed;
    double worst;
} tally;

static void complain(const char *kernel, const workload *w, const values_choice *values,
                     const check_result *result)
{
    fprintf(stderr,
            "xgemm verify: %s, %s order, %s%s, m = %" PRId64 ", n = %" PRId64 ", k = %" PRId64
            ", %s%salpha = %g, beta = %g, %s values: ",
            kernel, order_word(w->order), transpose_letter(w->transa), transpose_letter(w->transb),
            w->size.m, w->size.n, w->size.k, w->batch > 1 ? "a batch" : "",
            w->lists       ? " of pointers, "
            : w->batch > 1 ? ", "
                           : "",
            (double)w->alpha, (double)w->beta, values_name(values));
    if (result->wrong)
        fprintf(stderr,
                "%zu of %zu elements are wrong, the first at (%" PRId64 ", %" PRId64
                "): %.9g instead of %.9g\n",
                result->wrong, result->elements, result->row, result->col, result->got,
                result->want);
    else
        fprintf(stderr, "%zu elements beside C were changed\n", result->canaries);
}

/* One case; false when the library refuses it, but for lists, which on a GPU few kernels take. */
static bool run_case(xgemm_handle *handle, const char *kernel, const workload *w,
                     const values_choice *values, uint64_t seed, tally *sum)
{
    check_result result;
    char message[512];
    if (!check_product(handle, w, values, seed, &result, message, sizeof message)) {
        if (w->lists && result.status == XGEMM_ERROR_NOT_SUPPORTED)
            return true;
        failed(ME, "%s: %s", kernel, message);
        return false;
    }
    sum->cases++;
    sum->elements += (int64_t)result.elements;
    if (result.worst > sum->worst)
        sum->worst = result.worst;
    if ((result.wrong || result.canaries) && sum->failed++ < COMPLAINTS_MAX)
        complain(kernel, w, values, &result);
    return true;
}

/* All layouts of a shape, with each pair of factors and kind of values (quick: in turn). */
static bool run_shape(const request *r, xgemm_handle *handle, const char *kernel, shape size,
                      tally *sum)
{
    for (int layout = 0; layout < 8; layout++)
        for (int factor = 0; factor < FACTORS; factor++)
            for (int kind = 0; kind < VALUES_COUNT; kind++) {
                if (r->quick && (layout + factor + kind) % (FACTORS * VALUES_COUNT / 2) != 0)
                    continue;
                const values_choice values = {(values_kind)kind, NULL};
                const workload w =
                    workload_of(size, layout & 1 ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR,
                                layout & 2 ? XGEMM_TRANS : XGEMM_NO_TRANS,
                                layout & 4 ? XGEMM_TRANS : XGEMM_NO_TRANS, factors[factor].alpha,
                                factors[factor].beta, (layout + factor + kind) % 4);
                if (!run_case(handle, kernel, &w, &values, r->seed + (uint64_t)sum->cases, sum))
                    return false;
            }
    return true;
}

/* The kinds of data in all layouts (quick: in one), with the factors that multiply in turn. */
static bool run_data(const request *r, xgemm_handle *handle, const char *kernel, shape size,
                     int number, tally *sum)
{
    for (int i = 0; i < r->data.count; i++)
        for (int layout = 0; layout < 8; layout++) {
            const int turn = number + i + layout, factor = turn % NONZERO_FACTORS;
            const values_choice values = {VALUES_DATA, &r->data.pairs[i]};
            if (r->quick && (number + i) % 8 != layout)
                continue;
            const workload w = workload_of(size, layout & 1 ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR,
                                           layout & 2 ? XGEMM_TRANS : XGEMM_NO_TRANS,
                                           layout & 4 ? XGEMM_TRANS : XGEMM_NO_TRANS,
                                           factors[factor].alpha, factors[factor].beta, turn % 4);
            if (!run_case(handle, kernel, &w, &values, r->seed + (uint64_t)sum->cases, sum))
                return false;
        }
    return true;
}

/* Batches of a shape in all layouts, with the factors and kinds of values in turn. */
static bool run_batches(const request *r, xgemm_handle *handle, const char *kernel, shape size,
                        int number, tally *sum)
{
    for (int layout = 0; layout < 8; layout++)
        for (int lists = 0; lists < 2; lists++) {
            const int turn = number + layout + lists;
            if (r->quick && (layout + number) % 8 != 0)
                continue;
            workload w = workload_of(size, layout & 1 ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR,
                                     layout & 2 ? XGEMM_TRANS : XGEMM_NO_TRANS,
                                     layout & 4 ? XGEMM_TRANS : XGEMM_NO_TRANS,
                                     factors[turn % FACTORS].alpha, factors[turn % FACTORS].beta,
                                     turn % 3 * 2);
            workload_repeat(&w, BATCH, turn % 5);
            w.lists = lists == 1;
            const values_choice values = {(values_kind)(turn % VALUES_COUNT), NULL};
            if (!run_case(handle, kernel, &w, &values, r->seed + (uint64_t)sum->cases, sum))
                return false;
        }
    return true;
}

static int run_kernel(const request *r, xgemm_handle *handle, const char *kernel,
                      const shape_list *list, progress *line, report *out)
{
    tally sum = {0};
    bool done = xgemm_set_kernel(handle, kernel) == XGEMM_OK;
    if (!done)
        failed_call(ME, handle);
    for (size_t i = 0; i < list->count && done; i++) {
        const shape s = list->items[i];
        progress_step(line, "%s: %" PRId64 " x %" PRId64 " x %" PRId64, kernel, s.m, s.n, s.k);
        done = run_shape(r, handle, kernel, s, &sum) &&
               run_batches(r, handle, kernel, s, (int)i, &sum) &&
               run_data(r, handle, kernel, s, (int)i, &sum);
    }
    progress_clear(line);
    const bool good = done && sum.failed == 0;
    const cell cells[COLUMNS] = {
        cell_text(kernel),       cell_integer(sum.cases),  cell_integer(sum.elements),
        cell_real(sum.worst, 4), cell_integer(sum.failed), cell_text(good ? "ok" : "FAILED"),
    };
    report_row(out, cells);
    return good ? STATUS_DONE : STATUS_FAILED;
}

static request parse(int argc, char **argv)
{
    request r = {.common = {.device = XGEMM_DEVICE_AUTO},
                 .kernel = "all",
                 .problem = problem_defaults(),
                 .seed = 1};
    const char *value;
    for (int key; (key = option_next(ME, argc, argv, &r.common, &value)) != -1;) {
        if (shape_option(&r.shapes, key, value) || problem_option(ME, &r.problem, key, value))
            continue;
        if (key == KEY_KERNELS)
            r.kernel = value;
        else if (key == KEY_DATA)
            r.data_text = value;
        else if (key == KEY_QUICK)
            r.quick = true;
        else if (key == KEY_SEED)
            r.seed = (uint64_t)option_integer(ME, "seed", value, 0, INT64_MAX);
    }
    shapes_no_operand(ME, argc, argv);
    if (!data_list_wanted(r.data_text))
        r.data = data_list_from(ME, r.data_text);
    return r;
}

static int verify(const request *r, xgemm_handle *handle, const shape_list *list)
{
    const kernel_list kernels = kernels_from(ME, handle, r->kernel);
    json_t *facts = report_facts(ME);
    int status = STATUS_DONE;
    device_add_ordinal(facts, xgemm_get_device(handle));
    report out = report_open(&r->common, columns, COLUMNS, "results", facts);
    progress line = progress_begin(&r->common, list->count * (size_t)kernels.count);
    for (int i = 0; i < kernels.count; i++)
        if (run_kernel(r, handle, kernels.names[i], list, &line, &out))
            status = STATUS_FAILED;
    report_close(&out);
    return status;
}

static int run(int argc, char **argv)
{
    const request r = parse(argc, argv);
    if (data_list_wanted(r.data_text))
        return data_list_print(ME, &r.common);
    shape_list list = shapes_from(ME, &r.shapes);
    if (list.count == 0)
        for (size_t i = 0; i < sizeof irregular / sizeof *irregular; i++)
            shape_add(&list, irregular[i].m, irregular[i].n, irregular[i].k);
    xgemm_handle *handle = problem_device(ME, &r.common, &r.problem);
    const int status = verify(&r, handle, &list);
    xgemm_destroy(handle);
    shape_list_free(&list);
    return status;
}

const command command_verify = {
    "verify", "", "check kernels against a float64 reference", rows, sizeof rows / sizeof *rows,
    run};
