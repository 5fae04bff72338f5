/* SPDX-License-Identifier: BSD-3-Clause */
/* The family of the general kernel: any element type, layout, alignment and epilogue, one launch.
 */
#include "families/family.h"
#include "families/programs.h"
#include "families/typed.h"

#include <math.h>

/*
 * It is chosen where no other family's kernels apply: for all but F32 whose scalars are known. By
 * element, 16-bit operands are multiplied by tensor cores alone, where there are kernels for these.
 */
static bool applies(const xg_kernel *kernel, const xg_request *request)
{
    const xg_problem *const p = &request->problem;
    (void)kernel;
    if (request->by_element && xg_type_is_half(p->type_a))
        return xg_has_no_product(p);
    return !xg_is_f32(p) || p->epilogue.device_scalars || p->groups > 0;
}

/*
 * A time, for other kernels may be faster: half of the peak where the GPU is full, of complex
 * numbers 0.22, by itself a CTA's loads from one k to the next, and 3.5 us a wave at least
 * (measured on an H200, with operands of 16 bits and C32). A product of complex numbers is four.
 */
static double general_us(const xg_kernel *kernel, const xg_request *request)
{
    const xg_problem *const p = &request->problem;
    const xg_costs *const costs = request->target.costs;
    const double step_us = 2.0; /* of a step of the main loop */
    const double share = xg_type_is_complex(p->type_a) ? 0.22 : 0.5; /* of the peak */
    const double wave_us = 3.5;
    const double tiles = (double)xg_ceil_div(p->m, kernel->tile_m) *
                         (double)xg_ceil_div(p->n, kernel->tile_n) * (double)p->batch_count;
    const double waves = ceil(tiles / request->target.multiprocessors);
    const bool fp64 = xg_type_is_fp64(p->type_a);
    const double peak = fp64 ? costs->sm_fp64_gflops : costs->sm_fp32_gflops;
    const double products = xg_type_is_complex(p->type_a) ? 4.0 : 1.0;
    const double flops = products * 2.0 * kernel->tile_m * kernel->tile_n * (double)p->k;
    const double launch_us =
        xg_type_is_half(p->type_a) ? costs->half_launch_us : costs->double_launch_us;
    return launch_us + xg_larger(waves * xg_larger(1e-3 * flops / (share * peak), wave_us),
                                 step_us * (double)xg_ceil_div(p->k, kernel->tile_k));
}

/* As many products as a grid's z counts are computed by one launch. */
static xg_candidate candidate(const xg_kernel *kernel, const xg_request *request, double most_us)
{
    xg_candidate only = xg_only_candidate(kernel, request, most_us);
    only.batch_per_pass = xg_products_of_grid(&request->problem);
    if (!xg_is_f32(&request->problem))
        only.microseconds = general_us(kernel, request);
    return only;
}

static double workspace(const xg_candidate *of, const xg_request *request)
{
    (void)of, (void)request;
    return 0.0;
}

static xgemm_status build(const xg_candidate *of, const xg_request *request, xg_plan *plan,
                          xg_error *error)
{
    const xg_problem *const p = &request->problem;
    const xg_kernel *const kernel = of->kernel;
    xg_typed_args args = xg_typed_args_of(p);
    if (xg_has_no_product(p))
        args.k = 0; /* of groups, whose C is to be written all the same */
    const int64_t more_m = p->ragged_columns ? 0 : p->groups; /* tiles that groups may begin */
    const int64_t more_n = p->ragged_columns ? p->groups : 0;
    const double tiles = (double)(xg_ceil_div(p->m, kernel->tile_m) + more_m) *
                         (double)(xg_ceil_div(p->n, kernel->tile_n) + more_n);
    if (tiles > INT32_MAX)
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "the launch would need %.0f blocks, more than a grid holds", tiles);
    xg_step *const step =
        xg_add_typed_product(plan, kernel->typed[p->type_a], &args, sizeof args, p, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    return xg_step_grid(step, (int64_t)tiles, 1, kernel->block_x, 1, error);
}

static bool batches(const xg_kernel *kernel)
{
    (void)kernel;
    return true;
}

static bool takes_all(const xg_kernel *kernel, xg_type operands)
{
    (void)kernel, (void)operands;
    return true;
}

const xg_family xg_family_general = {
    .name = "general",
    .applies = applies,
    .candidate = candidate,
    .workspace = workspace,
    .build = build,
    .batches = batches,
    .takes_pointer_arrays = takes_all,
    .takes_groups = takes_all,
    .finishes = true,
};
