/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan.h"

#include "choice.h"
#include "kernels/fp16_layout.h"
#include "steps.h"

#include <inttypes.h>
#include <string.h>

_Static_assert(sizeof(xg_args) <= 128, "see args.h");

static const xg_kernel *choose_host(void)
{
    const xg_kernel *blas = xg_kernel_named("blas");
    return xg_backend_cpu.can_run(blas->program) ? blas : xg_kernel_named("reference");
}

/* C = beta * C. */
static xgemm_status plan_scale(const xg_backend *backend, const xg_args *problem, xg_plan *plan,
                               xg_error *error)
{
    const bool host = !backend->can_run(&xg_program_scale);
    xg_step *step = xg_add_step(plan, host ? &xg_program_scale_host : &xg_program_scale, problem);
    step->role = XG_STEP_SCALE;
    if (host)
        return xg_set_grid(step, 1, 1, 1, 1, error);
    return xg_set_grid(step, xg_tiles_of(problem->n, 32), xg_tiles_of(problem->m, 8), 32, 8, error);
}

xgemm_status xg_plan_make(const xg_backend *backend, int processors, const xg_kernel *kernel,
                          const xg_args *problem, size_t workspace_limit, xg_plan *plan,
                          xg_error *error)
{
    plan->kernel = NULL;
    plan->steps = 0;
    plan->processors = processors;
    plan->workspace_bytes = 0;
    plan->microseconds = 0.0;
    memset(plan->step, 0, sizeof plan->step);
    if (problem->k == 0 || problem->alpha == 0.0f)
        return problem->beta == 1.0f ? XGEMM_OK : plan_scale(backend, problem, plan, error);

    plan->kernel = kernel ? kernel
                   : backend->can_run(&xg_program_scale)
                       ? xg_choose(problem, processors, workspace_limit)
                       : choose_host();
    const xgemm_status status = plan->kernel->steps(plan->kernel, problem, plan, error);
    if (!status && plan->workspace_bytes > workspace_limit)
        return xg_fail(error, XGEMM_ERROR_WORKSPACE,
                       "kernel %s needs a workspace of %zu bytes for m = %" PRId64 ", n = %" PRId64
                       ", k = %" PRId64 " (row order), and was given %zu",
                       plan->kernel->name, plan->workspace_bytes, problem->m, problem->n,
                       problem->k, workspace_limit);
    return status;
}

static void *at(void *workspace, size_t offset)
{
    return (char *)workspace + offset;
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
    const int64_t first = p->k_part == 2 ? p->a_batch : 0;
    const int64_t end = p->k_part == 1 ? p->k * p->c_row : p->a_batch + p->k * p->c_batch;
    return (xg_region){
        .name = "packed", .base = p->c + first, .lines = 1, .width = end - first, .step = 1};
}

static xg_region parts_region(const float *base, int64_t parts, int64_t floats)
{
    return (xg_region){
        .name = "parts", .base = base, .lines = parts, .width = floats, .step = floats};
}

/* The FP16 parts and what goes with them. */
static xg_region fp16_region(const xg_args *p, const float *base, int parts)
{
    const int64_t floats = xg_fp16_layout_of(p->m, p->n, p->k, parts).bytes / 4;
    return (xg_region){
        .name = "FP16 parts", .base = base, .lines = 1, .width = floats, .step = floats};
}

static xg_region list_region(const xg_args *p)
{
    const xg_fp16_layout at = xg_fp16_layout_of(p->m, p->n, p->k, 1);
    const int64_t floats = (at.bytes - at.list) / 4;
    return (xg_region){
        .name = "the list of tiles", .base = p->list, .lines = 1, .width = floats, .step = floats};
}

/* In the workspace all of a line is the matrix's. */
static xg_region operand_region(const xg_step *step, unsigned bit, xg_region region)
{
    if (step->in_workspace & bit)
        region.width = region.step;
    return region;
}

/* A, B and C (the one that is written last), as a backend that watches wants to know them. */
static void set_regions(xg_launch *launch, const xg_step *step, const xg_args *p)
{
    const xg_region a = region_of("A", p->a, p->m, p->k, p->a_row, p->a_col);
    const xg_region b = region_of("B", p->b, p->k, p->n, p->b_row, p->b_col);
    xg_region *regions = launch->regions;
    regions[2] = region_of("C", p->c, p->m, p->n, p->c_row, 1);
    switch (step->role) {
    case XG_STEP_PRODUCT:
        regions[0] = operand_region(step, XG_A_IN_WORKSPACE, a);
        regions[1] = operand_region(step, XG_B_IN_WORKSPACE, b);
        if (p->k_part > 0 && p->k_part < p->k)
            regions[2] = parts_region(p->c, xg_tiles_of(p->k, p->k_part), p->m * p->c_row);
        break;
    case XG_STEP_PACK:
        if (p->k_part != 2)
            regions[0] = a;
        if (p->k_part != 1)
            regions[1] = b;
        regions[2] = packed_region(p);
        break;
    case XG_STEP_PAD:
        regions[0] = region_of("A", p->a, p->m, p->n, p->a_row, p->a_col);
        regions[2] = region_of("C", p->c, p->k, p->c_row, p->c_row, 1);
        break;
    case XG_STEP_UNPAD:
        regions[0] = region_of("A", p->a, p->m, p->n, p->a_row, p->a_col);
        break;
    case XG_STEP_REDUCE:
        regions[0] = parts_region(p->a, p->k, p->m * p->a_row);
        break;
    case XG_STEP_FP16_SPLIT:
        regions[0] = a;
        regions[1] = b;
        regions[2] = fp16_region(p, p->c, (int)p->k_part);
        break;
    case XG_STEP_FP16_PRODUCT:
        regions[0] = fp16_region(p, p->a, (int)p->k_part);
        break;
    case XG_STEP_FP16_REST:
        regions[0] = a;
        regions[1] = b;
        regions[3] = list_region(p);
        break;
    case XG_STEP_SCALE:
        break;
    }
}

xg_launch xg_step_launch(const xg_step *step, void *workspace, xg_args *args)
{
    *args = step->args;
    if (step->in_workspace & XG_A_IN_WORKSPACE)
        args->a = at(workspace, step->a_offset);
    if (step->in_workspace & XG_B_IN_WORKSPACE)
        args->b = at(workspace, step->b_offset);
    if (step->in_workspace & XG_C_IN_WORKSPACE)
        args->c = at(workspace, step->c_offset);
    if (step->in_workspace & XG_LIST_IN_WORKSPACE)
        args->list = at(workspace, step->list_offset);
    xg_launch launch = {.program = step->program,
                        .shared_bytes = step->shared_bytes,
                        .cluster = step->cluster,
                        .overlaps = step->overlaps,
                        .arguments = args,
                        .arguments_size = sizeof *args};
    memcpy(launch.grid, step->grid, sizeof launch.grid);
    memcpy(launch.block, step->block, sizeof launch.block);
    set_regions(&launch, step, args);
    return launch;
}

xgemm_status xg_plan_run(const xg_plan *plan, const xg_backend *backend, xg_device *device,
                         void *stream, void *workspace, xg_error *error)
{
    xgemm_status status = XGEMM_OK;
    for (int i = 0; i < plan->steps && !status; i++) {
        xg_args args;
        const xg_launch launch = xg_step_launch(&plan->step[i], workspace, &args);
        status = backend->launch(device, stream, &launch, error);
    }
    return status;
}
