/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thin products: one launch of half_thin.inc, which reads the operands as they lie.
 *
 *     time = launch + max(alone_us + steps * alone_step_us,
 *                         CTAs of a multiprocessor * (tile_us + steps * step_us), memory)
 *
 * A step is 16 k: by itself a CTA waits for its loads, among others of its multiprocessor less.
 */
#include "thin.h"

#include "args.h"
#include "families/programs.h"
#include "families/typed.h"
#include "half.h"
#include "single_stage.h"

enum { SIZE_MOST = INT32_MAX / 2, STEP_K = 16 };

static int64_t tiles_of(const xg_problem *p)
{
    return xg_ceil_div(p->m, XG_THIN_TILE_M) * xg_ceil_div(p->n, XG_THIN_TILE_N);
}

bool xg_half_is_thin(const xg_kernel *kernel)
{
    return kernel->typed[XG_F16] == &xg_program_half_thin_f16 || xg_half_is_single_stage(kernel);
}

/* By element it is the sums of wgmma's kernels that count. */
static bool applies(const xg_request *request)
{
    const xg_problem *const p = &request->problem;
    return !request->by_element && p->groups == 0 && p->m <= SIZE_MOST && p->n <= SIZE_MOST &&
           p->k <= SIZE_MOST && tiles_of(p) <= INT32_MAX;
}

bool xg_half_thin_applies(const xg_kernel *kernel, const xg_request *request)
{
    return xg_half_is_single_stage(kernel) ? xg_half_single_stage_applies(request)
                                           : applies(request);
}

static xg_candidate candidate(const xg_kernel *kernel, const xg_request *request)
{
    const xg_problem *const p = &request->problem;
    const xg_costs *const costs = request->target.costs;
    const xg_thin_cost *const cost = &costs->half_thin;
    const xg_half_operand a = xg_half_operand_a(p), b = xg_half_operand_b(p);
    xg_candidate of = xg_candidate_begin(kernel, request);
    of.batch_per_pass = xg_products_of_grid(p);
    const double each = (double)xg_ceil_div(xg_of_pass(tiles_of(p), of.batch_per_pass),
                                            request->target.multiprocessors);
    const double steps = (double)xg_ceil_div(p->k, STEP_K);
    const double computed = xg_larger(cost->alone_us + steps * cost->alone_step_us,
                                      each * (cost->tile_us + steps * cost->step_us));
    const double memory = xg_half_memory_us(request, &a, &b, of.batch_per_pass);
    of.microseconds = xg_passes_us(costs, costs->half_launch_us + xg_larger(computed, memory),
                                   xg_ceil_div(p->batch_count, of.batch_per_pass));
    return of;
}

xg_candidate xg_half_thin_candidate(const xg_kernel *kernel, const xg_request *request)
{
    return xg_half_is_single_stage(kernel) ? xg_half_single_stage_candidate(kernel, request)
                                           : candidate(kernel, request);
}

xgemm_status xg_half_thin_build(const xg_candidate *of, const xg_request *request, xg_plan *plan,
                                xg_error *error)
{
    const xg_problem *const p = &request->problem;
    if (xg_half_is_single_stage(of->kernel))
        return xg_half_single_stage_build(of, request, plan, error);
    if (!applies(request))
        return xg_half_refuse(of, request, error);
    const xg_typed_args args = xg_typed_args_of(p);
    xg_step *const step =
        xg_add_typed_product(plan, of->kernel->typed[p->type_a], &args, sizeof args, p, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    step->pdl = true;
    return xg_step_grid(step, tiles_of(p), 1, XG_THIN_THREADS, 1, error);
}
