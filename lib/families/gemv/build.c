/* SPDX-License-Identifier: BSD-3-Clause */
/* The launches of gemv/, and the family. */
#include "gemv.h"

#include "args.h"
#include "families/half/skinny.h"
#include "families/programs.h"
#include "families/transform/transform.h"
#include "gemv_mn_major.h"

#include <stddef.h>

/* The program for the side, and its threads; those for vectors have their own. */
static const xg_program *program_of(const xg_gemv_shape *shape, int *threads)
{
    enum { K_MAJOR_THREADS = 128, THREADS = 512 };
    static const struct {
        int side;
        const xg_program *program;
    } programs[] = {{2, &xg_program_skinny2},
                    {4, &xg_program_skinny4},
                    {8, &xg_program_skinny8},
                    {XG_STRIP_MOST, &xg_program_skinny16}};
    size_t i = 0;
    *threads = shape->k_major ? K_MAJOR_THREADS : shape->mn_major ? 32 * shape->warps : THREADS;
    if (shape->k_major || shape->mn_major)
        return shape->k_major ? &xg_program_gemv_k_major : &xg_program_gemv_mn_major;
    while (programs[i].side < XG_STRIP_MOST && programs[i].side < shape->side)
        i++;
    return programs[i].program;
}

/* C, or the partial sums of split-K, as what the product writes. */
static void set_result(xg_step *step, const xg_plan *plan, const xg_problem *p, int64_t splits,
                       int64_t partial_sums)
{
    const xg_location to = splits > 1 ? xg_at_workspace(partial_sums) : xg_at_c(plan, p);
    xg_step_point(step, offsetof(xg_gemv_args, c), to);
    if (splits > 1)
        xg_step_region(step, XG_REGION_C, "partial sums", to, splits, p->m * p->n, p->m * p->n,
                       p->type_c);
    else
        xg_region_c(step, plan, p);
}

static xgemm_status add(xg_plan *plan, const xg_problem *p, const xg_target *target, bool is_strip,
                        xg_error *error)
{
    const xg_gemv_shape shape = xg_gemv_shape_of(p, target);
    const int64_t splits = xg_partial_sums(p->k, shape.k_per_split, shape.cluster);
    int64_t partial_sums = 0;
    int threads;
    const xg_program *program = program_of(&shape, &threads);
    if (shape.groups > XG_GRID_Y_MAX)
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel skinny takes a C whose shorter side is at most %d",
                       XG_GRID_Y_MAX * XG_STRIP_MOST);
    if (splits > 1 && !xg_reserve_partial_sums(plan, p, splits, &partial_sums, error))
        return XGEMM_ERROR_OVERFLOW;
    xg_gemv_args args = {XG_PRODUCT_ARGS_OF(p), .k_per_split = shape.k_per_split,
                         .is_strip = is_strip};
    if (splits > 1) {
        args.c_stride_m = p->n;
        args.alpha = 1.0f;
        args.beta = 0.0f;
    }
    xg_step *step = xg_plan_add(plan, program, &args, sizeof args, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    step->is_product = true;
    step->pdl = true;
    step->shared_bytes = shape.mn_major ? sizeof(xg_gemv_mn_shared) : 0;
    step->cluster = (uint32_t)shape.cluster;
    xg_step_point(step, offsetof(xg_gemv_args, a), xg_at_a(plan, p));
    xg_step_point(step, offsetof(xg_gemv_args, b), xg_at_b(plan, p));
    xg_region_a(step, plan, p);
    xg_region_b(step, plan, p);
    set_result(step, plan, p, splits, partial_sums);
    const xgemm_status status = xg_step_grid(
        step, shape.blocks * (shape.cluster > 1 ? shape.cluster : 1), 1, threads, 1, error);
    if (status)
        return status;
    step->grid[1] = (uint32_t)splits;
    step->grid[2] = (uint32_t)shape.groups;
    return splits > 1 ? xg_add_reduce(plan, p, splits, partial_sums, error) : XGEMM_OK;
}

xgemm_status xg_add_strips(xg_plan *plan, const xg_request *request, int64_t m, int64_t n,
                           xg_error *error)
{
    const xg_problem *p = &request->problem;
    const xg_problem below = xg_problem_part(p, m, p->m - m, 0, p->n);
    const xg_problem beside = xg_problem_part(p, 0, m, n, p->n - n);
    xgemm_status status = XGEMM_OK;
    if (below.m > 0)
        status = add(plan, &below, &request->target, true, error);
    if (beside.n > 0 && !status)
        status = add(plan, &beside, &request->target, true, error);
    return status;
}

static double bytes_of(const xg_problem *p, const xg_target *target)
{
    if (p->m == 0 || p->n == 0)
        return 0.0;
    const xg_gemv_shape s = xg_gemv_shape_of(p, target);
    return xg_reduce_bytes(p, xg_partial_sums(p->k, s.k_per_split, s.cluster), 1);
}

double xg_strips_bytes(const xg_request *request, int64_t m, int64_t n)
{
    const xg_problem *p = &request->problem;
    const xg_problem below = xg_problem_part(p, m, p->m - m, 0, p->n);
    const xg_problem beside = xg_problem_part(p, 0, m, n, p->n - n);
    return bytes_of(&below, &request->target) + bytes_of(&beside, &request->target);
}

static bool applies(const xg_kernel *kernel, const xg_request *request)
{
    (void)kernel;
    return !xg_type_is_half(request->problem.type_a) || xg_half_skinny_applies(request);
}

static xg_candidate candidate(const xg_kernel *kernel, const xg_request *request, double most_us)
{
    (void)most_us;
    const xg_costs *const costs = request->target.costs;
    if (xg_type_is_half(request->problem.type_a))
        return xg_half_skinny_candidate(kernel, request);
    xg_candidate of = xg_candidate_begin(kernel, request);
    const xg_gemv_shape shape = xg_gemv_shape_of(&request->problem, &request->target);
    of.k_per_split = shape.k_per_split;
    of.cluster = shape.cluster;
    of.microseconds =
        xg_passes_us(costs, costs->launch_us + xg_gemv_us(&request->problem, &request->target),
                     request->problem.batch_count);
    return of;
}

static double workspace(const xg_candidate *of, const xg_request *request)
{
    (void)of;
    return xg_type_is_half(request->problem.type_a) ? 0.0
                                                    : bytes_of(&request->problem, &request->target);
}

static xgemm_status build(const xg_candidate *of, const xg_request *request, xg_plan *plan,
                          xg_error *error)
{
    if (xg_type_is_half(request->problem.type_a))
        return xg_half_skinny_build(of, request, plan, error);
    return add(plan, &request->problem, &request->target, false, error);
}

static bool takes_pointer_arrays(const xg_kernel *kernel, xg_type type)
{
    (void)kernel;
    return xg_type_is_half(type);
}

const xg_family xg_family_gemv = {
    .name = "gemv",
    .applies = applies,
    .candidate = candidate,
    .workspace = workspace,
    .build = build,
    .takes_pointer_arrays = takes_pointer_arrays,
};
