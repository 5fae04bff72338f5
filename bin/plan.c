/* SPDX-License-Identifier: BSD-3-Clause */
/* xgemm plan: what products would run, without running them; also on a GPU that is not here. */
#include "commands.h"
#include "gpu.h"
#include "kernel_list.h"
#include "report.h"
#include "workload.h"

#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define ME (&command_plan)

enum {
    KEY_KERNEL = 256,
    KEY_GPU,
    KEY_ORDER,
    KEY_TRANSA,
    KEY_TRANSB,
    KEY_ALPHA,
    KEY_BETA,
    KEY_MATH,
    KEY_LD_PAD,
    KEY_BATCH
};

static const option_row rows[] = {
    SHAPE_ROWS,
    {KEY_KERNEL, "kernel", "LIST", "names with commas between, auto, or all; default auto"},
    {KEY_GPU, "gpu", "NAME", "plan for this GPU, which need not be here"},
    {KEY_ORDER, "order", "row|col", "layout of the matrices; default row"},
    {KEY_TRANSA, "transa", "N|T|C", "transpose A"},
    {KEY_TRANSB, "transb", "N|T|C", "transpose B"},
    {KEY_ALPHA, "alpha", "X", "factor of the product; default 1"},
    {KEY_BETA, "beta", "X", "factor of C; default 0"},
    {KEY_MATH, "math", "MODE", "default, strict or tf32"},
    {KEY_LD_PAD, "ld-pad", "N", "elements added to each leading dimension"},
    {KEY_BATCH, "batch", "N", "products at once, one after another in memory; default 1"},
};

static const column columns[] = {
    {"batch", 6},
    {"m", 6},
    {"n", 6},
    {"k", 6},
    {"kernel", -26},
    {"tile", -11},
    {"split_k", 7},
    {"together", 8},
    {"launches", 8},
    {"workspace_bytes", 15},
    {"predicted_us", 12},
    {"predicted_gflops", 16},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

typedef struct {
    settings common;
    shape_options shapes;
    const char *kernel, *gpu_name;
    xgemm_device gpu;
    xgemm_order order;
    xgemm_transpose transa, transb;
    float alpha, beta;
    xgemm_math math;
    int64_t pad, batch;
} request;

static void take(request *r, int key, const char *value)
{
    switch (key) {
    case KEY_KERNEL:
        r->kernel = value;
        break;
    case KEY_GPU:
        r->gpu_name = value;
        break;
    case KEY_ORDER:
        r->order = option_order(ME, value);
        break;
    case KEY_TRANSA:
        r->transa = option_transpose(ME, "transa", value);
        break;
    case KEY_TRANSB:
        r->transb = option_transpose(ME, "transb", value);
        break;
    case KEY_ALPHA:
        r->alpha = (float)option_real(ME, "alpha", value);
        break;
    case KEY_BETA:
        r->beta = (float)option_real(ME, "beta", value);
        break;
    case KEY_MATH:
        r->math = option_math(ME, value);
        break;
    case KEY_LD_PAD:
        r->pad = option_integer(ME, "ld-pad", value, 0, 1 << 20);
        break;
    case KEY_BATCH:
        r->batch = option_integer(ME, "batch", value, 1, INT_MAX);
        break;
    }
}

static request parse(int argc, char **argv)
{
    request r = {.common = {.device = XGEMM_DEVICE_AUTO},
                 .kernel = "auto",
                 .order = XGEMM_ROW_MAJOR,
                 .transa = XGEMM_NO_TRANS,
                 .transb = XGEMM_NO_TRANS,
                 .alpha = 1.0f,
                 .batch = 1};
    const char *value;
    for (int key; (key = option_next(ME, argc, argv, &r.common, &value)) != -1;)
        if (!shape_option(&r.shapes, key, value))
            take(&r, key, value);
    if (optind < argc)
        usage_error(ME, "\"%s\" is no option; sizes are given by -m, -n, -k, --size or --shapes",
                    argv[optind]);
    return r;
}

static xgemm_status ask(const request *r, xgemm_handle *handle, const workload *w, xgemm_plan *plan)
{
    const shape *s = &w->size;
    *plan = (xgemm_plan){.struct_size = sizeof *plan, .device = r->gpu_name ? &r->gpu : NULL};
    if (w->batch > 1)
        return xgemm_sgemm_strided_batched_plan(handle, w->order, w->transa, w->transb, s->m, s->n,
                                                s->k, w->alpha, NULL, w->lda, w->stride_a, NULL,
                                                w->ldb, w->stride_b, w->beta, NULL, w->ldc,
                                                w->stride_c, w->batch, plan);
    return xgemm_sgemm_plan(handle, w->order, w->transa, w->transb, s->m, s->n, s->k, w->alpha,
                            NULL, w->lda, NULL, w->ldb, w->beta, NULL, w->ldc, plan);
}

static void add_row(report *to, const workload *w, const char *name, const xgemm_plan *plan)
{
    char kernel[64], tile[40];
    const char *planned = plan->kernel ? plan->kernel : "none";
    const bool automatic = strcmp(name, "auto") == 0, tiles = plan->tile_m > 0;
    snprintf(kernel, sizeof kernel, "%s%s", automatic ? "auto:" : "", planned);
    snprintf(tile, sizeof tile, "%dx%dx%d", plan->tile_m, plan->tile_n, plan->tile_k);
    const bool predicted = plan->microseconds > 0.0;
    const cell cells[COLUMNS] = {
        cell_integer(w->batch),
        cell_integer(w->size.m),
        cell_integer(w->size.n),
        cell_integer(w->size.k),
        cell_text(kernel),
        tiles ? cell_text(tile) : cell_none(),
        plan->kernel ? cell_integer(plan->split_k) : cell_none(),
        plan->launches ? cell_integer(plan->together) : cell_none(),
        cell_integer(plan->launches),
        cell_integer((int64_t)plan->workspace_bytes),
        predicted ? cell_real(plan->microseconds, 1) : cell_none(),
        predicted ? cell_real(workload_flops(w) / plan->microseconds * 1e-3, 0) : cell_none(),
    };
    report_row(to, to->columns == columns ? cells : cells + 1);
}

static int plan_shape(const request *r, xgemm_handle *handle, shape size,
                      const kernel_list *kernels, report *to)
{
    workload w = workload_of(size, r->order, r->transa, r->transb, r->alpha, r->beta, r->pad);
    workload_repeat(&w, r->batch, 0);
    for (int i = 0; i < kernels->count; i++) {
        xgemm_plan plan;
        if (xgemm_set_kernel(handle, kernels->names[i]) || ask(r, handle, &w, &plan))
            return failed_call(ME, handle);
        add_row(to, &w, kernels->names[i], &plan);
    }
    return STATUS_DONE;
}

static json_t *facts_of(const request *r, const xgemm_handle *handle)
{
    json_t *facts = report_facts(ME);
    if (r->gpu_name)
        gpu_facts(facts, &r->gpu);
    else
        report_device(facts, xgemm_get_device(handle));
    json_object_set_new(facts, "settings",
                        json_pack("{s:s, s:s, s:s, s:f, s:f, s:s, s:I, s:I}", "order",
                                  order_word(r->order), "transa", transpose_letter(r->transa),
                                  "transb", transpose_letter(r->transb), "alpha", (double)r->alpha,
                                  "beta", (double)r->beta, "math", math_word(r->math), "ld_pad",
                                  (json_int_t)r->pad, "batch", (json_int_t)r->batch));
    return facts;
}

static int plan_all(const request *r, xgemm_handle *handle, const shape_list *list)
{
    const kernel_list kernels = kernels_from(ME, handle, r->kernel);
    const int first = r->batch > 1 ? 0 : 1;
    int status = STATUS_DONE;
    report to =
        report_open(&r->common, columns + first, COLUMNS - first, "plans", facts_of(r, handle));
    for (size_t i = 0; i < list->count && status == STATUS_DONE; i++)
        status = plan_shape(r, handle, list->items[i], &kernels, &to);
    report_close(&to);
    return status;
}

static int run(int argc, char **argv)
{
    request r = parse(argc, argv);
    shape_list list = shapes_from(ME, &r.shapes);
    if (list.count == 0)
        usage_error(ME, "which sizes? Give -m, -n, -k, --size or --shapes");
    if (r.gpu_name) {
        /* The simulator has a GPU's kernels, and is everywhere. */
        r.gpu = gpu_choose(ME, &r.common, r.gpu_name);
        r.common.device = XGEMM_DEVICE_SIM;
    }
    xgemm_handle *handle = open_device(ME, &r.common);
    const int status =
        xgemm_set_math(handle, r.math) ? failed_call(ME, handle) : plan_all(&r, handle, &list);
    xgemm_destroy(handle);
    shape_list_free(&list);
    return status;
}

const command command_plan = {
    "plan", "", "say what products would run", rows, sizeof rows / sizeof *rows, run};
