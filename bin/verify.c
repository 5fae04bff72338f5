/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * xgemm verify: every kernel against a float64 reference, on fixed or on random products; and
 * whether elements are reproducible.
 */
#include "checking.h"
#include "commands.h"
#include "device_fields.h"
#include "data_list.h"
#include "elements.h"
#include "interrupt.h"
#include "kernel_list.h"
#include "problem_options.h"
#include "progress.h"
#include "random_products.h"
#include "report.h"
#include "sweep.h"
#include "verify_complaint.h"

#include <inttypes.h>
#include <stdio.h>

#define ME (&command_verify)

enum {
    KEY_QUICK = 256,
    KEY_SEED,
    KEY_REPRODUCIBLE,
    KEY_PARTS,
    KEY_RANDOM,
    COMPLAINTS_MAX = 5,
    BATCH = 3,
    PARTS = 20
};

static const option_row rows[] = {
    SHAPE_ROWS,
    KERNELS_ROW("all"),
    {KEY_QUICK, "quick", NULL, "fewer cases"},
    MATH_ROW,
    TYPES_ROW,
    TYPE_C_ROW,
    EPILOGUE_ROWS,
    DATA_ROW,
    {KEY_SEED, "seed", "N", "of the matrices; default 1"},
    {KEY_REPRODUCIBLE, "reproducible", NULL, "compare bits of random parts of products instead"},
    {KEY_PARTS, "parts", "N", "of each product, for --reproducible; default 20"},
    {KEY_RANDOM, "random", "N",
     "so many random products instead, of sizes up to -m, -n, -k or --size"},
};

static const column columns[] = {
    {"type", -4},           {"kernel", -18}, {"cases", 7},   {"elements", 12},
    {"worst_of_bound", 14}, {"failed", 7},   {"result", -1},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static const column random_columns[] = {
    {"type", -4},  {"kernel", -18}, {"cases", 7}, {"elements", 12}, {"worst_of_bound", 14},
    {"error", 10}, {"bound", 10},   {"seed", 20}, {"failed", 7},    {"result", -1},
};
enum { RANDOM_COLUMNS = sizeof random_columns / sizeof *random_columns };

static const shape irregular[] = {
    {1, 1, 1},     {7, 5, 3},     {1, 129, 33},    {129, 1, 65},   {17, 33, 1},
    {31, 64, 100}, {65, 63, 127}, {100, 100, 100}, {128, 128, 16}, {129, 257, 66},
};

/* Of --reproducible: with some that are long enough for k to be split. */
static const shape with_parts[] = {
    {33, 65, 127}, {129, 257, 66}, {17, 130, 1031}, {70, 9, 2050}, {200, 96, 520},
};

/* The largest of --random. */
static const shape random_most = {128, 128, 128};

/* The last pair does not multiply. Of real numbers the real parts are taken. */
static const struct {
    scalar alpha, beta;
} factors[] = {{{1.0, 0.0}, {0.0, 0.0}},
               {{-1.0, 0.0}, {1.0, 0.0}},
               {{0.7, 0.4}, {-0.7, 0.1}},
               {{0.0, 0.0}, {0.7, -0.3}}};
enum { FACTORS = sizeof factors / sizeof *factors, NONZERO_FACTORS = FACTORS - 1 };

typedef struct {
    settings common;
    shape_options shapes;
    const char *kernel, *data_text;
    data_list data;
    bool quick, reproducible;
    int parts;               /* of a product; 0: the default */
    int64_t random;          /* products; 0: the fixed ones */
    problem_options problem; /* of which it takes the math mode, C's type and the epilogue */
    sweep sweep;             /* of the types */
    uint64_t seed;
} request;

/* What is open while the kernels of one type run. */
typedef struct {
    const request *r;
    xgemm_handle *handle;
    problem_options problem;
    progress *line;
    report *out;
} session;

typedef struct {
    int64_t cases, elements, failed;
    double worst, error, bound; /* as in check_result, of the worst product; and its seed */
    uint64_t seed;
    bool refused; /* by the library, which was said */
} tally;

/* In the columns; a kernel is stopped by a signal before its last case. */
static const char *result_word(bool good, bool done)
{
    return !good ? "FAILED" : done ? "ok" : "stopped";
}

/*
 * One case; false after a signal, and when the library refuses it, but for lists, which on a GPU
 * few kernels take.
 */
static bool run_seeded(const session *now, const char *kernel, const workload *w,
                       const values_choice *values, uint64_t seed, tally *sum)
{
    check_result result;
    char message[512];
    if (interrupted())
        return false;
    if (!check_product(now->handle, w, values, seed, &result, message, sizeof message)) {
        if (w->lists && result.status == XGEMM_ERROR_NOT_SUPPORTED)
            return true;
        failed(ME, "%s: %s", kernel, message);
        sum->refused = true;
        return false;
    }
    sum->cases++;
    sum->elements += (int64_t)result.elements;
    if (result.worst > sum->worst) {
        sum->worst = result.worst;
        sum->error = result.error;
        sum->bound = result.bound;
        sum->seed = seed;
    }
    if ((result.wrong || result.canaries) && sum->failed++ < COMPLAINTS_MAX) {
        verify_complain(kernel, w, values, &result);
        if (now->r->random)
            fprintf(stderr, "xgemm verify: this is --random 1 --seed %" PRIu64 "\n", seed);
    }
    return true;
}

static bool run_case(const session *now, const char *kernel, const workload *w,
                     const values_choice *values, tally *sum)
{
    return run_seeded(now, kernel, w, values, now->r->seed + (uint64_t)sum->cases, sum);
}

/* The orders and transposes: of complex numbers all three, of real ones N and T. */
static int layouts_of(const session *now)
{
    return type_is_complex(now->problem.type) ? 18 : 8;
}

/* A product in one of the layouts, with one of the pairs of factors. */
static workload case_of(const session *now, shape size, int layout, int factor, int64_t pad)
{
    static const xgemm_transpose transposes[] = {XGEMM_NO_TRANS, XGEMM_TRANS, XGEMM_CONJ_TRANS};
    const int letters = type_is_complex(now->problem.type) ? 3 : 2;
    problem_options p = now->problem;
    p.order = layout % 2 ? XGEMM_COL_MAJOR : XGEMM_ROW_MAJOR;
    p.transa = transposes[layout / 2 % letters];
    p.transb = transposes[layout / 2 / letters];
    p.alpha = factors[factor].alpha;
    p.beta = factors[factor].beta;
    p.pad = pad;
    if (!type_is_complex(p.type))
        p.alpha.im = p.beta.im = 0.0;
    return problem_workload(&p, size);
}

/* All layouts of a shape, with each pair of factors and kind of values (quick: in turn). */
static bool run_shape(const session *now, const char *kernel, shape size, tally *sum)
{
    for (int layout = 0; layout < layouts_of(now); layout++)
        for (int factor = 0; factor < FACTORS; factor++)
            for (int kind = 0; kind < VALUES_COUNT; kind++) {
                const int turn = layout + factor + kind;
                if (now->r->quick && turn % (FACTORS * VALUES_COUNT / 2) != 0)
                    continue;
                const values_choice values = {(values_kind)kind, NULL};
                const workload w = case_of(now, size, layout, factor, turn % 4);
                if (!run_case(now, kernel, &w, &values, sum))
                    return false;
            }
    return true;
}

/* The kinds of data in all layouts (quick: in one), with the factors that multiply in turn. */
static bool run_data(const session *now, const char *kernel, shape size, int number, tally *sum)
{
    const request *r = now->r;
    for (int i = 0; i < r->data.count; i++)
        for (int layout = 0; layout < layouts_of(now); layout++) {
            const int turn = number + i + layout;
            const values_choice values = {VALUES_DATA, &r->data.pairs[i]};
            if (r->quick && (number + i) % layouts_of(now) != layout)
                continue;
            const workload w = case_of(now, size, layout, turn % NONZERO_FACTORS, turn % 4);
            if (!run_case(now, kernel, &w, &values, sum))
                return false;
        }
    return true;
}

/* Batches of a shape in all layouts, with the factors and kinds of values in turn. */
static bool run_batches(const session *now, const char *kernel, shape size, int number, tally *sum)
{
    for (int layout = 0; layout < layouts_of(now); layout++)
        for (int lists = 0; lists < 2; lists++) {
            const int turn = number + layout + lists;
            if (now->r->quick && (layout + number) % 8 != 0)
                continue;
            workload w = case_of(now, size, layout, turn % FACTORS, turn % 3 * 2);
            workload_repeat(&w, BATCH, turn % 5);
            w.lists = lists == 1;
            const values_choice values = {(values_kind)(turn % VALUES_COUNT), NULL};
            if (!run_case(now, kernel, &w, &values, sum))
                return false;
        }
    return true;
}

static int run_kernel(const session *now, const char *kernel, const shape_list *list)
{
    tally sum = {0};
    bool done = xgemm_set_kernel(now->handle, kernel) == XGEMM_OK;
    if (!done) {
        failed_call(ME, now->handle);
        sum.refused = true;
    }
    for (size_t i = 0; i < list->count && done; i++) {
        const shape s = list->items[i];
        progress_step(now->line, "%s: %" PRId64 " x %" PRId64 " x %" PRId64, kernel, s.m, s.n, s.k);
        done = run_shape(now, kernel, s, &sum) && run_batches(now, kernel, s, (int)i, &sum) &&
               run_data(now, kernel, s, (int)i, &sum);
    }
    progress_clear(now->line);
    const bool good = !sum.refused && sum.failed == 0;
    if (good && !done && sum.cases == 0)
        return STATUS_DONE;
    const cell cells[COLUMNS] = {
        cell_text(type_word(now->problem.type)),
        cell_text(kernel),
        cell_integer(sum.cases),
        cell_integer(sum.elements),
        cell_real(sum.worst, 4),
        cell_integer(sum.failed),
        cell_text(result_word(good, done)),
    };
    report_row(now->out, now->out->columns == columns ? cells : cells + 1);
    return good ? STATUS_DONE : STATUS_FAILED;
}

/* A row for random products of one type by one kernel; each has the seed after the one before. */
static int run_random(const session *now, const char *kernel, shape most)
{
    const request *const r = now->r;
    tally sum = {.seed = r->seed};
    bool done = xgemm_set_kernel(now->handle, kernel) == XGEMM_OK;
    if (!done) {
        failed_call(ME, now->handle);
        sum.refused = true;
    }
    for (int64_t i = 0; i < r->random && done; i++) {
        const uint64_t seed = (r->seed + (uint64_t)i) & INT64_MAX; /* as --seed takes it */
        const random_product of =
            random_product_of(&now->problem, most, &r->data, r->data_text != NULL, seed);
        if (i % 64 == 0)
            progress_step(now->line, "%s: %" PRId64 " of %" PRId64, kernel, i, r->random);
        done = run_seeded(now, kernel, &of.work, &of.values, seed, &sum);
    }
    progress_clear(now->line);
    const bool good = !sum.refused && sum.failed == 0;
    if (good && !done && sum.cases == 0)
        return STATUS_DONE;
    const cell cells[RANDOM_COLUMNS] = {
        cell_text(type_word(now->problem.type)),
        cell_text(kernel),
        cell_integer(sum.cases),
        cell_integer(sum.elements),
        cell_real(sum.worst, 4),
        cell_real(sum.error, 4),
        cell_real(sum.bound, 4),
        cell_integer((int64_t)sum.seed),
        cell_integer(sum.failed),
        cell_text(result_word(good, done)),
    };
    report_row(now->out, now->out->columns == random_columns ? cells : cells + 1);
    return good ? STATUS_DONE : STATUS_FAILED;
}

/* A row for the parts of products of one type. */
static int run_elements(const session *now, const shape_list *list)
{
    const int parts = now->r->parts ? now->r->parts : PARTS;
    elements_result result = {0};
    char message[512];
    bool done = true;
    size_t i = 0;
    for (; i < list->count && done && !interrupted(); i++) {
        const shape s = list->items[i];
        problem_options p = now->problem;
        p.alpha = factors[i % NONZERO_FACTORS].alpha;
        p.beta = factors[i % NONZERO_FACTORS].beta;
        if (!type_is_complex(p.type))
            p.alpha.im = p.beta.im = 0.0;
        progress_step(now->line, "%" PRId64 " x %" PRId64 " x %" PRId64, s.m, s.n, s.k);
        done = elements_compare(now->handle, &p, s, parts, now->r->seed + i, &result, message,
                                sizeof message);
    }
    progress_clear(now->line);
    if (!done)
        failed(ME, "%s", message);
    if (*result.first)
        fprintf(stderr, "xgemm verify: %s: %s\n", type_word(now->problem.type), result.first);
    const bool good = done && result.different == 0;
    if (good && i == 0)
        return STATUS_DONE;
    const cell cells[COLUMNS] = {
        cell_text(type_word(now->problem.type)),
        cell_text("auto"),
        cell_integer(result.parts),
        cell_integer(result.elements),
        cell_none(),
        cell_integer(result.different),
        cell_text(result_word(good, i == list->count)),
    };
    report_row(now->out, now->out->columns == columns ? cells : cells + 1);
    return good ? STATUS_DONE : STATUS_FAILED;
}

static request parse(int argc, char **argv)
{
    request r = {.common = {.device = XGEMM_DEVICE_AUTO}, .problem = problem_defaults(), .seed = 1};
    const char *value;
    for (int key; (key = option_next(ME, argc, argv, &r.common, &value)) != -1;) {
        if (shape_option(&r.shapes, key, value) || problem_option(ME, &r.problem, key, value))
            continue;
        if (key == KEY_TYPE)
            sweep_option(ME, &r.sweep, key, value);
        else if (key == KEY_KERNELS)
            r.kernel = value;
        else if (key == KEY_DATA)
            r.data_text = value;
        else if (key == KEY_QUICK)
            r.quick = true;
        else if (key == KEY_REPRODUCIBLE)
            r.reproducible = true;
        else if (key == KEY_PARTS)
            r.parts = (int)option_integer(ME, "parts", value, 1, INT32_MAX);
        else if (key == KEY_RANDOM)
            r.random = option_integer(ME, "random", value, 1, INT32_MAX);
        else if (key == KEY_SEED)
            r.seed = (uint64_t)option_integer(ME, "seed", value, 0, INT64_MAX);
    }
    shapes_no_operand(ME, argc, argv);
    if (r.reproducible && (r.kernel || r.quick || r.data_text))
        usage_error(ME, "--reproducible runs auto on random numbers; %s has no effect",
                    r.kernel  ? "--kernel"
                    : r.quick ? "--quick"
                              : "--data");
    if (r.parts && !r.reproducible)
        usage_error(ME, "--parts is for --reproducible; give both");
    if (r.random && (r.quick || r.reproducible))
        usage_error(ME, "--random says how many products there are; %s has no effect",
                    r.quick ? "--quick" : "--reproducible");
    if (!r.kernel)
        r.kernel = r.random ? "auto" : "all";
    sweep_check(ME, &r.sweep, &r.problem);
    sweep_check_kernel(ME, &r.sweep, &r.problem, r.kernel);
    if (!data_list_wanted(r.data_text))
        r.data = data_list_from(ME, r.random && !r.data_text ? "all" : r.data_text);
    return r;
}

/* Null where cases differ. */
static json_t *settings_of(const request *r)
{
    static const char *const differ[] = {"order", "transa", "transb", "alpha", "beta"};
    const problem_options first = sweep_at(&r->sweep, &r->problem, 0);
    json_t *all = problem_settings(&first);
    sweep_forget(all, &r->sweep, &r->problem);
    for (size_t i = 0; i < sizeof differ / sizeof *differ; i++)
        json_object_set_new(all, differ[i], json_null());
    json_object_set_new(all, "reproducible", json_boolean(r->reproducible));
    json_object_set_new(all, "random", r->random ? json_integer(r->random) : json_null());
    json_object_del(all, "ld_pad");
    json_object_del(all, "batch");
    return all;
}

static int verify(const request *r, xgemm_handle *handle, const shape_list *list)
{
    const int first = r->sweep.type_count > 1 ? 0 : 1; /* leaves out the type */
    json_t *facts = report_facts(ME);
    int status = STATUS_DONE;
    kernel_list kernels[SWEEP_TYPES_MAX];
    kernels_of_types(ME, handle, r->kernel, &r->sweep, &r->problem, kernels);
    device_add_ordinal(facts, xgemm_get_device(handle));
    json_object_set_new(facts, "settings", settings_of(r));
    report out = r->random
                     ? report_open(&r->common, random_columns + first, RANDOM_COLUMNS - first,
                                   "results", facts)
                     : report_open(&r->common, columns + first, COLUMNS - first, "results", facts);
    for (int type = 0; type < sweep_count(&r->sweep) && !interrupted(); type++) {
        const problem_options p = sweep_at(&r->sweep, &r->problem, type);
        (void)xgemm_set_math(handle, problem_math(&p)); /* a mode there is */
        progress line =
            progress_begin(&r->common, (r->random ? (size_t)(r->random + 63) / 64 : list->count) *
                                           (size_t)kernels[type].count);
        const session now = {r, handle, p, &line, &out};
        if (r->reproducible) {
            if (run_elements(&now, list))
                status = STATUS_FAILED;
            continue;
        }
        for (int i = 0; i < kernels[type].count && !interrupted(); i++) {
            const char *const kernel = kernels[type].names[i];
            if (r->random ? run_random(&now, kernel, list->items[0])
                          : run_kernel(&now, kernel, list))
                status = STATUS_FAILED;
        }
    }
    report_fact(&out, "interrupted", json_boolean(interrupted()));
    report_close(&out);
    return status;
}

static int run(int argc, char **argv)
{
    const request r = parse(argc, argv);
    if (data_list_wanted(r.data_text))
        return data_list_print(ME, &r.common);
    shape_list list = shapes_from(ME, &r.shapes);
    if (r.random && list.count > 1)
        usage_error(ME, "--random takes one limit of sizes, not %zu", list.count);
    if (r.random && list.count == 0)
        shape_add(&list, random_most.m, random_most.n, random_most.k);
    const shape *const usual = r.reproducible ? with_parts : irregular;
    const size_t count = r.reproducible ? sizeof with_parts / sizeof *with_parts
                                        : sizeof irregular / sizeof *irregular;
    for (size_t i = 0, given = list.count; i < count && given == 0; i++)
        shape_add(&list, usual[i].m, usual[i].n, usual[i].k);
    xgemm_handle *handle = problem_device(ME, &r.common, &r.problem);
    interrupt_watch();
    const int status = verify(&r, handle, &list);
    xgemm_destroy(handle);
    shape_list_free(&list);
    return interrupt_end(status);
}

const command command_verify = {
    "verify", "",   "check kernels against a float64 reference", rows, sizeof rows / sizeof *rows,
    run,      false};
