/* SPDX-License-Identifier: BSD-3-Clause */
#include "execute.h"

#include <string.h>

/* Where the matrices of a call are. */
typedef struct {
    const xg_plan *plan;
    const xg_problem *problem;
    char *workspace;
    int64_t first; /* of the pass's products, its number in the batch */
    bool is_first; /* the pass is the call's first one */
    bool watched;  /* launches say their regions */
} bases;

static void *resolve(const bases *from, const xg_location *at)
{
    const void *base = NULL;
    switch (at->base) {
    case XG_BASE_NONE:
        return NULL;
    case XG_BASE_A:
        base = from->problem->a;
        break;
    case XG_BASE_B:
        base = from->problem->b;
        break;
    case XG_BASE_C:
        base = from->problem->c;
        break;
    case XG_BASE_WORKSPACE:
        base = from->workspace;
        break;
    case XG_BASE_BIAS:
        base = from->problem->epilogue.bias;
        break;
    case XG_BASE_ALPHA:
        base = from->problem->epilogue.alpha_at;
        break;
    case XG_BASE_BETA:
        base = from->problem->epilogue.beta_at;
        break;
    case XG_BASE_OFFSETS:
        base = from->problem->offsets;
        break;
    }
    const uintptr_t bytes = (uintptr_t)at->offset + (uintptr_t)(from->first * at->batch_stride);
    return (void *)((uintptr_t)base + bytes); /* NOLINT(performance-no-int-to-ptr) */
}

/* The products of a batch that the pass computes. */
static int64_t products_of_pass(const bases *from)
{
    const int64_t left = from->plan->batch_count - from->first;
    return left < from->plan->batch_per_pass ? left : from->plan->batch_per_pass;
}

static void set_arguments(const bases *from, const xg_step *step, unsigned char *arguments)
{
    const uint16_t products = (uint16_t)products_of_pass(from);
    memcpy(arguments, step->arguments, step->arguments_size);
    for (int i = 0; i < step->pointer_count; i++) {
        void *const pointer = resolve(from, &step->pointers[i].to);
        memcpy(arguments + step->pointers[i].argument, &pointer, sizeof pointer);
    }
    if (step->later_pass_argument && !from->is_first)
        arguments[step->later_pass_argument] = 1;
    if (step->products_argument)
        memcpy(arguments + step->products_argument, &products, sizeof products);
}

static xg_launch launch_of(const bases *from, int index, void *arguments)
{
    const xg_plan *const plan = from->plan;
    const xg_step *const step = &plan->steps[index];
    const int64_t products = products_of_pass(from), together = plan->batch_per_pass;
    set_arguments(from, step, arguments);
    xg_launch launch = {.program = step->program,
                        .shared_bytes = step->shared_bytes,
                        .cluster = step->cluster,
                        .pdl = step->pdl,
                        .spread = step->spread,
                        .arguments = arguments,
                        .arguments_size = step->arguments_size};
    memcpy(launch.grid, step->grid, sizeof launch.grid);
    memcpy(launch.block, step->block, sizeof launch.block);
    if (together > 1 && !step->covers_pass)
        launch.grid[2] = (uint32_t)products;
    for (int i = 0; from->watched && i < XG_REGIONS_MAX; i++) {
        launch.regions[i] = step->regions[i];
        launch.regions[i].base = resolve(from, &step->region_at[i]);
        if (launch.regions[i].matrices > 0) /* a group each */
            continue;
        if (step->covers_pass) /* its CTAs use the matrices of all products */
            launch.regions[i].matrices = products;
        else if (together == 1) /* the grid's z is not the product's number here */
            launch.regions[i].batch_stride_bytes = 0;
    }
    for (int i = 0; i < XG_TENSORS_MAX; i++) {
        launch.tensors[i] = step->tensors[i];
        launch.tensors[i].base = resolve(from, &step->tensor_at[i]);
    }
    return launch;
}

xg_launch xg_step_launch(const xg_plan *plan, int index, const xg_problem *problem, int64_t pass,
                         void *workspace, void *arguments)
{
    const bases from = {plan, problem, workspace, pass * plan->batch_per_pass, pass == 0, true};
    return launch_of(&from, index, arguments);
}

/* Where the launches go, and whether there was one. */
typedef struct {
    const xg_backend *backend;
    xg_device *device;
    void *stream;
    bool has_launched;
} launcher;

static xgemm_status run_steps(launcher *by, const bases *from, xg_error *error)
{
    xgemm_status status = XGEMM_OK;
    for (int i = 0; i < from->plan->step_count && !status; i++) {
        _Alignas(8) unsigned char arguments[XG_ARGUMENTS_BYTES];
        const xg_launch launch = launch_of(from, i, arguments);
        status = by->backend->launch(by->device, by->stream, &launch, error);
        by->has_launched = by->has_launched || !status;
    }
    return status;
}

/* One product in panels. */
static xgemm_status run_panels(launcher *by, const xg_panels *panels, const xg_problem *problem,
                               bool is_first, void *workspace, xg_error *error)
{
    xgemm_status status = XGEMM_OK;
    int64_t at[3];
    for (at[0] = 0; at[0] < panels->counts[0] && !status; at[0]++)
        for (at[1] = 0; at[1] < panels->counts[1] && !status; at[1]++)
            for (at[2] = 0; at[2] < panels->counts[2] && !status; at[2]++) {
                const xg_problem panel = xg_panel_problem(panels, problem, at);
                const bases from = {panels->kinds[xg_panel_kind(panels, at)],
                                    &panel,
                                    workspace,
                                    0,
                                    is_first,
                                    by->backend->watches_accesses};
                status = run_steps(by, &from, error);
                is_first = false;
            }
    return status;
}

static xgemm_status run_all(launcher *by, const xg_plan *plan, const xg_problem *problem,
                            void *workspace, xg_error *error)
{
    const bool watched = by->backend->watches_accesses;
    xgemm_status status = XGEMM_OK;
    if (plan->panels) {
        for (int64_t i = 0; i < plan->batch_count && !status; i++) {
            const xg_problem one = xg_problem_of_batch(problem, i);
            const bases from = {plan, problem, workspace, i, i == 0, watched};
            status = run_panels(by, plan->panels, &one, i == 0, workspace, error);
            if (!status)
                status = run_steps(by, &from, error);
        }
        return status;
    }
    const int64_t passes = plan->step_count > 0 ? xg_plan_passes(plan) : 0;
    for (int64_t pass = 0; pass < passes && !status; pass++) {
        const bases from = {plan,      problem, workspace, pass * plan->batch_per_pass,
                            pass == 0, watched};
        status = run_steps(by, &from, error);
    }
    return status;
}

/*
 * A plan's own steps (*i = 0), then those of the kinds of panels that occur, to which it moves *i;
 * NULL: there are no more.
 */
static const xg_plan *part_of(const xg_plan *plan, int *i)
{
    if (*i == 0)
        return plan;
    while (plan->panels && *i < XG_PANEL_KINDS && !plan->panels->kinds[*i - 1])
        ++*i;
    return plan->panels && *i <= XG_PANEL_KINDS ? plan->panels->kinds[*i - 1] : NULL;
}

static xgemm_status load_kernels(const launcher *by, const xg_plan *plan, xg_error *error)
{
    xgemm_status status = XGEMM_OK;
    const xg_plan *part;
    for (int i = 0; (part = part_of(plan, &i)) != NULL; i++)
        for (int step = 0; step < part->step_count && !status; step++)
            status = by->backend->load(by->device, part->steps[step].program, error);
    return status;
}

size_t xg_load_begin(const xg_plan *plan, const xg_backend *backend, xg_device *device, bool *begun)
{
    size_t most = 0;
    const xg_plan *part;
    *begun = false;
    for (int i = 0; (part = part_of(plan, &i)) != NULL; i++)
        for (int step = 0; step < part->step_count; step++) {
            const xg_program *const program = part->steps[step].program;
            const size_t bytes = backend->ptx_bytes(device, program);
            most = bytes > most ? bytes : most;
            if (bytes > 0 && backend->load_begin(device, program))
                *begun = true;
        }
    return most;
}

bool xg_load_wait(const xg_plan *plan, const xg_backend *backend, xg_device *device,
                  int milliseconds)
{
    bool has_ended = true;
    const xg_plan *part;
    for (int i = 0; (part = part_of(plan, &i)) != NULL; i++)
        for (int step = 0; step < part->step_count && has_ended; step++)
            has_ended = backend->load_wait(device, part->steps[step].program, milliseconds);
    return has_ended;
}

xgemm_status xg_execute(const xg_plan *plan, const xg_problem *problem, const xg_backend *backend,
                        xg_device *device, void *stream, void *workspace, xg_error *error)
{
    launcher by = {backend, device, stream, false};
    xgemm_status status = backend->load ? load_kernels(&by, plan, error) : XGEMM_OK;
    if (!status)
        status = run_all(&by, plan, problem, workspace, error);
    const bool is_kept = status == XGEMM_ERROR_DRIVER || status == XGEMM_ERROR_OUT_OF_MEMORY;
    return status && by.has_launched && !is_kept ? XGEMM_ERROR_LAUNCH : status;
}
