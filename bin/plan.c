/* SPDX-License-Identifier: BSD-3-Clause */
/* xgemm plan: what products would run, without running them; also on a GPU that is not here. */
#include "commands.h"
#include "device_fields.h"
#include "gpu.h"
#include "kernel_list.h"
#include "problem_options.h"
#include "report.h"
#include "sweep.h"

#include <stdio.h>
#include <string.h>

#define ME (&command_plan)

enum { KEY_GPU = 256 };

static const option_row rows[] = {
    SHAPE_ROWS,
    KERNELS_ROW("auto"),
    {KEY_GPU, "gpu", "NAME", "plan for this GPU, which need not be here"},
    PROBLEM_ROWS,
};

static const column columns[] = {
    {"type", -4},
    {"batch", 6},
    {"m", 6},
    {"n", 6},
    {"k", 6},
    {"kernel", -26},
    {"tile", -11},
    {"split_k", 7},
    {"shared_tiles", 14},
    {"together", 16},
    {"launches", 8},
    {"workspace_bytes", 15},
    {"predicted_us", 12},
    {"predicted_gflops", 16},
    {"prediction", -10},
    {"needs_gib", 9},
    {"fits", -4},
};
enum { TYPE, BATCH, COLUMNS = sizeof columns / sizeof *columns };

/* A report of some of the columns; not to be copied, since it points to them. */
typedef struct {
    report out;
    column columns[COLUMNS]; /* those shown */
    int cells[COLUMNS];      /* of all columns, which each of them is */
} plan_report;

typedef struct {
    settings common;
    shape_options shapes;
    const char *kernel, *gpu_name;
    xgemm_device gpu;
    problem_options problem;
    sweep sweep; /* of the types */
} request;

static request parse(int argc, char **argv)
{
    request r = {
        .common = {.device = XGEMM_DEVICE_AUTO}, .kernel = "auto", .problem = problem_defaults()};
    const char *value;
    for (int key; (key = option_next(ME, argc, argv, &r.common, &value)) != -1;) {
        if (shape_option(&r.shapes, key, value) || problem_option(ME, &r.problem, key, value))
            continue;
        if (key == KEY_TYPE)
            sweep_option(ME, &r.sweep, key, value);
        else if (key == KEY_KERNELS)
            r.kernel = value;
        else
            r.gpu_name = value;
    }
    shapes_no_operand(ME, argc, argv);
    sweep_check(ME, &r.sweep, &r.problem);
    sweep_check_kernel(ME, &r.sweep, &r.problem, r.kernel);
    return r;
}

static xgemm_status ask(const request *r, xgemm_handle *handle, const workload *w, xgemm_plan *plan)
{
    const buffers aligned = {NULL, NULL, NULL, (const void *)256};
    workload_scalars scalars;
    const xgemm_product product = workload_product(w, &aligned, &scalars);
    *plan = (xgemm_plan){.struct_size = sizeof *plan, .device = r->gpu_name ? &r->gpu : NULL};
    return xgemm_gemm_plan(handle, &product, plan);
}

static const char *without_maker(const char *name)
{
    static const char maker[] = "NVIDIA ";
    return strncmp(name, maker, sizeof maker - 1) == 0 ? name + sizeof maker - 1 : name;
}

/* Constants of another GPU are scaled by the peaks: a time from them is an estimate. */
static cell prediction(const xgemm_plan *plan, const xgemm_device *on)
{
    if (!plan->measured_on || plan->microseconds <= 0.0)
        return cell_none();
    const char *measured = without_maker(plan->measured_on), *name = without_maker(on->name);
    return cell_text(strncmp(name, measured, strlen(measured)) == 0 ? "measured" : "estimate");
}

/* Whether the matrices and the workspace fit the memory; nothing where its size is not known. */
static cell fits(double bytes, const xgemm_device *on)
{
    return on->memory_bytes > 0 ? cell_text(bytes <= (double)on->memory_bytes ? "yes" : "no")
                                : cell_none();
}

static void add_row(plan_report *to, const request *r, const workload *w, const char *name,
                    const xgemm_plan *plan)
{
    const double bytes = workload_bytes(w) + (double)plan->workspace_bytes;
    char kernel[64], tile[40];
    const char *planned = plan->kernel ? plan->kernel : "none";
    const bool automatic = strcmp(name, "auto") == 0, tiles = plan->tile_m > 0;
    snprintf(kernel, sizeof kernel, "%s%s", automatic ? "auto:" : "", planned);
    snprintf(tile, sizeof tile, "%dx%dx%d", plan->tile_m, plan->tile_n, plan->tile_k);
    const bool predicted = plan->microseconds > 0.0;
    const cell cells[COLUMNS] = {
        cell_text(type_word(w->type)),
        cell_integer(w->batch),
        cell_integer(w->size.m),
        cell_integer(w->size.n),
        cell_integer(w->size.k),
        cell_text(kernel),
        tiles ? cell_text(tile) : cell_none(),
        plan->kernel ? cell_integer(plan->split_k) : cell_none(),
        plan->kernel ? cell_integer(plan->shared_tiles) : cell_none(),
        plan->launches ? cell_integer(plan->together) : cell_none(),
        cell_integer(plan->launches),
        cell_integer((int64_t)plan->workspace_bytes),
        predicted ? cell_real(plan->microseconds, 1) : cell_none(),
        predicted ? cell_real(workload_flops(w) / plan->microseconds * 1e-3, 0) : cell_none(),
        prediction(plan, &r->gpu),
        cell_real(bytes / (1 << 30), 3),
        fits(bytes, &r->gpu),
    };
    cell shown[COLUMNS];
    for (int i = 0; i < to->out.count; i++)
        shown[i] = cells[to->cells[i]];
    report_row(&to->out, shown);
}

static int plan_shape(const request *r, xgemm_handle *handle, const workload *w,
                      const kernel_list *kernels, plan_report *to)
{
    const bool all = strcmp(r->kernel, "all") == 0;
    int added = 0;
    for (int i = 0; i < kernels->count; i++) {
        xgemm_plan plan;
        xgemm_status status = xgemm_set_kernel(handle, kernels->names[i]);
        if (!status)
            status = ask(r, handle, w, &plan);
        if (status == XGEMM_ERROR_NOT_SUPPORTED && all && r->gpu_name)
            continue; /* of all kernels, those that the GPU of the catalogue runs */
        if (status)
            return failed_call(ME, handle);
        add_row(to, r, w, kernels->names[i], &plan);
        added++;
    }
    return added > 0 ? STATUS_DONE : failed_call(ME, handle);
}

static json_t *facts_of(const request *r, const xgemm_handle *handle)
{
    json_t *facts = report_facts(ME);
    if (r->gpu_name)
        device_add(facts, "gpu", &r->gpu);
    else
        device_add_ordinal(facts, xgemm_get_device(handle));
    const problem_options first = sweep_at(&r->sweep, &r->problem, 0);
    json_t *how = problem_settings(&first);
    sweep_forget(how, &r->sweep, &r->problem);
    json_object_set_new(facts, "settings", how);
    return facts;
}

/* The batch is shown where it is one, and the type where there are several. */
static void open_report(plan_report *to, const request *r, const xgemm_handle *handle)
{
    int count = 0;
    for (int i = 0; i < COLUMNS; i++) {
        if ((i == TYPE && r->sweep.type_count < 2) || (i == BATCH && r->problem.batch < 2))
            continue;
        to->columns[count] = columns[i];
        to->cells[count++] = i;
    }
    to->out = report_open(&r->common, to->columns, count, "plans", facts_of(r, handle));
}

static int plan_all(const request *r, xgemm_handle *handle, const shape_list *list)
{
    int status = STATUS_DONE;
    kernel_list kernels[SWEEP_TYPES_MAX];
    plan_report to;
    kernels_of_types(ME, handle, r->kernel, &r->sweep, &r->problem, kernels);
    open_report(&to, r, handle);
    for (int type = 0; type < sweep_count(&r->sweep); type++) {
        const problem_options p = sweep_at(&r->sweep, &r->problem, type);
        (void)xgemm_set_math(handle, problem_math(&p)); /* a mode there is */
        for (size_t i = 0; i < list->count && status == STATUS_DONE; i++) {
            const workload w = problem_workload(&p, list->items[i]);
            status = plan_shape(r, handle, &w, &kernels[type], &to);
        }
    }
    report_close(&to.out);
    return status;
}

/* Names that no GPU has: the device is not the one that plans. */
static void check_names(const char *text)
{
    while (*text) {
        char name[64];
        xgemm_kernel_info kernel;
        const size_t length = strcspn(text, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, text);
        const bool word = !*name || strcmp(name, "all") == 0 || strcmp(name, "auto") == 0;
        if (!word && !kernel_find(name, &kernel))
            kernel_unknown(ME, name);
        if (!word && !(kernel.devices & (XGEMM_RUNS_ON_CUDA | XGEMM_RUNS_ON_SIM)))
            usage_error(ME, "kernel %s is not for GPUs", name);
        text += length + (text[length] == ',');
    }
}

static int run(int argc, char **argv)
{
    request r = parse(argc, argv);
    shape_list list = shapes_from(ME, &r.shapes);
    if (list.count == 0)
        usage_error(ME, "which sizes? Give -m, -n, -k, --size or --shapes");
    if (r.gpu_name) {
        check_names(r.kernel);
        /* The simulator has a GPU's kernels, and is everywhere. */
        r.gpu = gpu_choose(ME, &r.common, r.gpu_name);
        r.common.device = XGEMM_DEVICE_SIM;
    }
    xgemm_handle *handle = problem_device(ME, &r.common, &r.problem);
    if (!r.gpu_name) {
        r.gpu.struct_size = sizeof r.gpu;
        if (xgemm_device_get(xgemm_get_device(handle), &r.gpu))
            exit(failed_call(ME, NULL));
    }
    const int status = plan_all(&r, handle, &list);
    xgemm_destroy(handle);
    shape_list_free(&list);
    return status;
}

const command command_plan = {
    "plan", "", "say what products would run", rows, sizeof rows / sizeof *rows, run, false};
