/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan.h"

#include "choice.h"
#include "families/tensor/fp16_layout.h"
#include "steps.h"

#include <inttypes.h>
#include <string.h>

_Static_assert(sizeof(xg_args) <= 128, "see args.h");

static const xg_kernel *choose_host(void)
{
    const xg_kernel *blas = xg_kernel_named("blas");
    return xg_backend_cpu.can_run(blas->program) ? blas : xg_kernel_named("reference");
}

bool xg_has_lists(const xg_args *problem)
{
    return problem->a_batch == XG_LISTS;
}

/* C = beta * C. */
static xgemm_status plan_scale(const xg_backend *backend, const xg_request *request, xg_plan *plan,
                               xg_error *error)
{
    const xg_args *p = &request->problem;
    const bool host = !backend->can_run(&xg_program_scale);
    const int64_t most = host ? 1 : XG_GRID_Z_MAX;
    xg_step *step = xg_add_step(plan, host ? &xg_program_scale_host : &xg_program_scale, p);
    step->role = XG_STEP_SCALE;
    plan->shape.together = request->products < most ? request->products : most;
    if (host)
        return xg_set_grid(step, 1, 1, 1, 1, error);
    const int64_t high = xg_tiles_of(p->m, 8);
    return xg_set_grid(step, xg_tiles_of(p->n, 32), high < XG_GRID_Y_MAX ? high : XG_GRID_Y_MAX, 32,
                       8, error);
}

/* The kernel and its shape. */
static xgemm_status choose(const xg_backend *backend, const xg_request *request, xg_plan *plan,
                           xg_error *error)
{
    const bool host = !backend->can_run(&xg_program_scale);
    if (!request->kernel && !host) {
        plan->kernel = xg_choose(request, &plan->shape);
        return XGEMM_OK;
    }
    plan->kernel = request->kernel ? request->kernel : choose_host();
    if (xg_has_lists(&request->problem) && !xg_takes_lists(plan->kernel))
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel %s cannot compute a batch from lists of pointers on the %s device; "
                       "auto can, and strided batches are for every kernel",
                       plan->kernel->name, backend->name);
    plan->shape = xg_shape_of(plan->kernel, request);
    return XGEMM_OK;
}

static void begin(const xg_request *request, xg_plan *plan)
{
    const xg_args *p = &request->problem;
    plan->kernel = NULL;
    plan->steps = 0;
    plan->workspace_bytes = 0;
    plan->recomputed = 0;
    plan->shape = (xg_shape){.m = p->m, .n = p->n, .k_part = p->k, .together = 1};
    plan->products = request->products;
    plan->processors = request->processors;
    plan->architecture = request->architecture;
    plan->a = p->a;
    plan->b = p->b;
    plan->c = p->c;
    memset(plan->step, 0, sizeof plan->step);
}

xgemm_status xg_plan_make(const xg_backend *backend, const xg_request *request, xg_plan *plan,
                          xg_error *error)
{
    const xg_args *p = &request->problem;
    begin(request, plan);
    if (p->k == 0 || p->alpha == 0.0f)
        return p->beta == 1.0f ? XGEMM_OK : plan_scale(backend, request, plan, error);

    xgemm_status status = choose(backend, request, plan, error);
    if (!status)
        status = plan->kernel->steps(plan->kernel, p, plan, error);
    if (!status && plan->workspace_bytes > request->workspace_limit)
        return xg_fail(error, XGEMM_ERROR_WORKSPACE,
                       "kernel %s needs a workspace of %zu bytes for m = %" PRId64 ", n = %" PRId64
                       ", k = %" PRId64 " (row order), and was given %zu",
                       plan->kernel->name, plan->workspace_bytes, p->m, p->n, p->k,
                       request->workspace_limit);
    return status;
}

int64_t xg_plan_passes(const xg_plan *plan)
{
    return xg_tiles_of(plan->products, plan->shape.together);
}

/* rows × columns elements, one of whose steps is 1, as lines. */
static xg_region region_of(const char *name, const float *base, int64_t rows, int64_t columns,
                           int64_t row_step, int64_t column_step)
{
    const bool by_rows = column_step == 1 && (row_step != 1 || rows == 1);
    const xg_region region = {.name = name,
                              .base = base,
                              .lines = by_rows ? rows : columns,
                              .width = by_rows ? columns : rows,
                              .step = by_rows ? row_step : column_step};
    return region;
}

/* The copies for the pipelined kernels, one or both, in one piece of workspace. */
static xg_region packed_region(const xg_args *p)
{
    const int64_t a = p->k_part == 2 ? 0 : p->k * p->c_stride_m;
    const int64_t first = p->k_part == 2 ? p->a_batch : 0;
    const int64_t end = p->k_part == 1 ? a : p->a_batch + p->k * p->c_batch;
    return (xg_region){.name = "packed",
                       .base = p->c + first,
                       .lines = 1,
                       .width = end - first,
                       .step = 1,
                       .apart = end - first};
}

static xg_region parts_region(const float *base, int64_t parts, int64_t floats, int64_t apart)
{
    return (xg_region){.name = "parts",
                       .base = base,
                       .lines = parts,
                       .width = floats,
                       .step = floats,
                       .apart = apart};
}

/* The FP16 parts and what goes with them. */
static xg_region fp16_region(const xg_args *p, const float *base, const xg_step *step)
{
    const int64_t floats = xg_fp16_layout_of(p->m, p->n, p->k, step->parts).bytes / 4 + step->sums;
    return (xg_region){
        .name = "FP16 parts", .base = base, .lines = 1, .width = floats, .step = floats};
}

/* In the workspace all of a line is the matrix's. */
static xg_region operand_region(const xg_step *step, unsigned bit, xg_region region)
{
    if (step->in_workspace & bit)
        region.width = region.step;
    return region;
}

/* What the blocks of other products use. */
static void spread(xg_region *region, const xg_args *p, int64_t apart)
{
    if (xg_has_lists(p))
        region->list = (const float *const *)(const void *)region->base;
    else
        region->apart = apart;
}

/* A, B and C of a product that computes strips beside its tiles. */
static void set_regions_with_strips(xg_region *regions, const xg_args *p)
{
    const int64_t m = p->m + xg_rows_below(p), n = p->n + xg_columns_beside(p);
    regions[0] = region_of("A", p->a, m, p->k, p->a_stride_m, p->a_stride_k);
    regions[1] = region_of("B", p->b, p->k, n, p->b_stride_k, p->b_stride_n);
    regions[2] = region_of("C", p->c, m, n, p->c_stride_m, 1);
}

/* A, B and C (the one that is written last), as a backend that watches wants to know them. */
static void set_regions(xg_launch *launch, const xg_step *step, const xg_args *p)
{
    xg_region a = region_of("A", p->a, p->m, p->k, p->a_stride_m, p->a_stride_k);
    xg_region b = region_of("B", p->b, p->k, p->n, p->b_stride_k, p->b_stride_n);
    xg_region *regions = launch->regions;
    regions[2] = region_of("C", p->c, p->m, p->n, p->c_stride_m, 1);
    spread(&a, p, p->a_batch);
    spread(&b, p, p->b_batch);
    spread(&regions[2], p, p->c_batch);
    switch (step->role) {
    case XG_STEP_PRODUCT:
        regions[0] = operand_region(step, XG_A_IN_WORKSPACE, a);
        regions[1] = operand_region(step, XG_B_IN_WORKSPACE, b);
        if (p->k_part > 0 && xg_sums_of(p->k, p->k_part, step->cluster) > 1)
            regions[2] = parts_region(p->c, xg_sums_of(p->k, p->k_part, step->cluster),
                                      p->m * p->c_stride_m, p->c_batch);
        if (step->sums > 0)
            regions[XG_REGION_LIST] = parts_region(p->list, 1, step->sums, 0);
        break;
    case XG_STEP_PACK:
        if (p->k_part != 2)
            regions[0] = a;
        if (p->k_part != 1)
            regions[1] = b;
        regions[2] = packed_region(p);
        break;
    case XG_STEP_PAD:
        regions[0] = region_of("A", p->a, p->m, p->n, p->a_stride_m, p->a_stride_k);
        regions[2] = region_of("C", p->c, p->k, p->c_stride_m, p->c_stride_m, 1);
        break;
    case XG_STEP_UNPAD:
        regions[0] = region_of("A", p->a, p->m, p->n, p->a_stride_m, p->a_stride_k);
        break;
    case XG_STEP_REDUCE:
        regions[0] = parts_region(p->a, p->k, p->m * p->a_stride_m, p->a_batch);
        break;
    case XG_STEP_FP16_VECTORS:
    case XG_STEP_FP16_SPLIT:
    case XG_STEP_FP16_PRODUCT:
        set_regions_with_strips(regions, p);
        regions[XG_REGION_LIST] = fp16_region(p, p->list, step);
        break;
    case XG_STEP_SCALE:
        break;
    }
}

/* Where one of a step's matrices begins, for the products from number "first" on. */
typedef struct {
    const void *planned;   /* in the step's arguments; NULL: unused */
    const void *was, *now; /* the problem's: when it was planned, and in this call */
    bool in_workspace;
    size_t offset; /* into the workspace */
    int64_t apart; /* from one product to the next, XG_LISTS: pointers */
} place;

static void *place_of(const place *of, void *workspace, int64_t first)
{
    if (of->in_workspace)
        return (char *)workspace + of->offset;
    if (!of->planned)
        return NULL;
    const uintptr_t moved = (uintptr_t)of->planned - (uintptr_t)of->was + (uintptr_t)of->now;
    const uintptr_t bytes = of->apart == XG_LISTS
                                ? (uintptr_t)first * sizeof(float *)
                                : (uintptr_t)first * (uintptr_t)of->apart * sizeof(float);
    return (void *)(moved + bytes); /* NOLINT(performance-no-int-to-ptr) */
}

static void set_pointers(const xg_plan *plan, const xg_step *step, const xg_args *problem,
                         int64_t first, void *workspace, xg_args *args)
{
    const place a = {step->args.a,
                     step->a_is_b ? plan->b : plan->a,
                     step->a_is_b ? problem->b : problem->a,
                     step->in_workspace & XG_A_IN_WORKSPACE,
                     step->a_offset,
                     step->a_apart};
    const place b = {step->args.b,   plan->b,
                     problem->b,     step->in_workspace & XG_B_IN_WORKSPACE,
                     step->b_offset, step->b_apart};
    const place c = {step->args.c,   plan->c,
                     problem->c,     step->in_workspace & XG_C_IN_WORKSPACE,
                     step->c_offset, step->c_apart};
    args->a = place_of(&a, workspace, first);
    args->b = place_of(&b, workspace, first);
    args->c = place_of(&c, workspace, first);
    if (step->in_workspace & XG_LIST_IN_WORKSPACE)
        args->list = (char *)workspace + step->list_offset;
}

/* A and B for the copy engine: columns of A, or its rows, and rows of B are contiguous. */
static void set_tiled(xg_launch *launch, const xg_step *step, const xg_args *p)
{
    if (step->tile[2] == 0)
        return;
    launch->tiled[0] =
        p->a_stride_m == 1
            ? (xg_tiled){p->a, p->m, p->k, p->a_stride_k, step->tile[0], step->tile[2]}
            : (xg_tiled){p->a, p->k, p->m, p->a_stride_m, step->tile[2], step->tile[0]};
    launch->tiled[1] = (xg_tiled){p->b, p->n, p->k, p->b_stride_k, step->tile[1], step->tile[2]};
}

/* A split after the first of a call leaves the count of recomputed elements as it is. */
static void follow_a_pass(const xg_step *step, xg_args *args)
{
    if (step->role == XG_STEP_FP16_SPLIT)
        args->k_part |= INT64_MIN;
}

xg_launch xg_step_launch(const xg_plan *plan, int index, const xg_args *problem, int64_t pass,
                         void *workspace, xg_args *args)
{
    const xg_step *step = &plan->step[index];
    const int64_t together = plan->shape.together, first = pass * together;
    const int64_t left = plan->products - first;
    *args = step->args;
    set_pointers(plan, step, problem, first, workspace, args);
    xg_launch launch = {.program = step->program,
                        .shared_bytes = step->shared_bytes,
                        .cluster = step->cluster,
                        .overlaps = step->overlaps,
                        .even = step->even,
                        .arguments = args,
                        .arguments_size = sizeof *args};
    memcpy(launch.grid, step->grid, sizeof launch.grid);
    memcpy(launch.block, step->block, sizeof launch.block);
    if (pass > 0)
        follow_a_pass(step, args);
    if (together > 1 && !step->once)
        launch.grid[2] = (uint32_t)(left < together ? left : together);
    set_regions(&launch, step, args);
    set_tiled(&launch, step, args);
    /* A grid's z that is no product's number moves nothing. */
    if (together == 1)
        for (int i = 0; i < XG_REGIONS_MAX; i++)
            launch.regions[i].apart = 0;
    return launch;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/*
 * Panels count recomputed elements at one place: a smaller one has its part of the workspace so
 * much further on that its count is there. It ends no later, as what follows the count is smaller,
 * too.
 */
static void share_count(const xg_plan *plan, bool first, xg_plan *panel)
{
    for (int i = 0; i < panel->steps; i++) {
        xg_step *step = &panel->step[i];
        step->list_offset += plan->recomputed - panel->recomputed;
        if (!first)
            follow_a_pass(step, &step->args);
    }
}

/* A panel of a product: so much of C from its first row and column, and of k. */
static xgemm_status plan_panel(const xg_plan *plan, const xg_args *problem, int64_t row,
                               int64_t column, int64_t first_k, xg_plan *panel, xg_args *args,
                               xg_error *error)
{
    const xg_shape *s = &plan->shape;
    *args = xg_part_of_c(problem, row, least(s->panel_m, s->m - row), column,
                         least(s->panel_n, s->n - column));
    args->a += first_k * problem->a_stride_k;
    args->b += first_k * problem->b_stride_k;
    args->k = least(s->panel_k, problem->k - first_k);
    args->beta = first_k > 0 ? 1.0f : problem->beta;
    const xg_request request = {.problem = *args,
                                .products = 1,
                                .processors = plan->processors,
                                .architecture = plan->architecture};
    begin(&request, panel);
    panel->kernel = plan->kernel;
    return plan->kernel->steps(plan->kernel, args, panel, error);
}

static xgemm_status run_panels(const xg_plan *plan, const xg_args *problem, bool first,
                               const xg_backend *backend, xg_device *device, void *stream,
                               void *workspace, xg_error *error)
{
    const xg_shape *s = &plan->shape;
    xgemm_status status = XGEMM_OK;
    for (int64_t row = 0; row < s->m && !status; row += s->panel_m)
        for (int64_t column = 0; column < s->n && !status; column += s->panel_n)
            for (int64_t k = 0; k < problem->k && !status; k += s->panel_k) {
                xg_plan panel;
                xg_args args;
                status = plan_panel(plan, problem, row, column, k, &panel, &args, error);
                if (status)
                    return status;
                share_count(plan, first, &panel);
                first = false;
                status = xg_plan_run(&panel, &args, backend, device, stream, workspace, error);
            }
    return status;
}

/* Product after product in panels. */
static xgemm_status run_all_panels(const xg_plan *plan, const xg_args *problem,
                                   const xg_backend *backend, xg_device *device, void *stream,
                                   void *workspace, xg_error *error)
{
    xg_args one = *problem;
    xgemm_status status = XGEMM_OK;
    for (int64_t i = 0; i < plan->products && !status; i++) {
        status = run_panels(plan, &one, i == 0, backend, device, stream, workspace, error);
        one.a += problem->a_batch;
        one.b += problem->b_batch;
        one.c += problem->c_batch;
    }
    return status;
}

xgemm_status xg_plan_run(const xg_plan *plan, const xg_args *problem, const xg_backend *backend,
                         xg_device *device, void *stream, void *workspace, xg_error *error)
{
    if (plan->shape.panels > 1)
        return run_all_panels(plan, problem, backend, device, stream, workspace, error);
    const int64_t passes = xg_plan_passes(plan);
    xgemm_status status = XGEMM_OK;
    for (int64_t pass = 0; pass < passes && plan->steps > 0 && !status; pass++)
        for (int i = 0; i < plan->steps && !status; i++) {
            xg_args args;
            const xg_launch launch = xg_step_launch(plan, i, problem, pass, workspace, &args);
            status = backend->launch(device, stream, &launch, error);
        }
    return status;
}
