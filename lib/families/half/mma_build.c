/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The launches of products by mma.sync: copies of operands that are not aligned to 16 bytes, if
 * they are not read as they lie, the product, and with split-K the reduction, of which the first
 * and the last are build.c's.
 */
#include "args.h"
#include "families/programs.h"
#include "families/typed.h"
#include "mma.h"

#include <stddef.h>

_Static_assert(sizeof(xg_mma_args) <= XG_ARGUMENTS_BYTES, "see plan/plan.h");
_Static_assert(offsetof(xg_mma_args, product) == 0, "locations of the product's pointers");

/* From a product's, or a group's, operand to the next one's, in elements. */
static int64_t batch_stride_of(const xg_half_operand *of, const xg_problem *p)
{
    if (of->aligned && p->pointer_arrays)
        return XG_POINTER_ARRAYS;
    if (!of->batched)
        return 0;
    return of->aligned ? of->batch_stride : of->lines * of->copied_stride;
}

static xgemm_status add_product(const xg_half_launches *of, const xg_mma_tile *tile, xg_plan *plan,
                                xg_error *error)
{
    const xg_problem *const p = of->problem;
    const xg_mma_args args = {.product = xg_half_args_of(of),
                              .a_stride = of->a.aligned ? of->a.stride : of->a.copied_stride,
                              .b_stride = of->b.aligned ? of->b.stride : of->b.copied_stride,
                              .a_batch_stride = batch_stride_of(&of->a, p),
                              .b_batch_stride = batch_stride_of(&of->b, p),
                              .k = (int32_t)p->k};
    xg_step *const step =
        xg_plan_add(plan, p->type_a == XG_F16 ? tile->f16 : tile->bf16, &args, sizeof args, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    step->is_product = true;
    step->pdl = true;
    step->shared_bytes = xg_mma_shared_bytes(tile);
    xg_step_point(step, offsetof(xg_mma_args, a),
                  of->a.aligned ? xg_at_a(plan, p) : xg_at_workspace(of->room.a));
    xg_step_point(step, offsetof(xg_mma_args, b),
                  of->b.aligned ? xg_at_b(plan, p) : xg_at_workspace(of->room.b));
    xg_half_use_operands(step, of, plan);
    return xg_step_grid(step, of->schedule.ctas, 1, tile->threads, 1, error);
}

xgemm_status xg_mma_build(const xg_candidate *of, const xg_request *request, xg_plan *plan,
                          xg_error *error)
{
    const xg_problem *const p = &request->problem;
    if (!xg_mma_applies(of->kernel, request))
        return xg_half_refuse(of, request, error);
    const xg_mma_tile *const tile = xg_mma_tile_of_candidate(of, request);
    xg_half_launches all = {.problem = p,
                            .products = xg_half_products(of, request),
                            .a = xg_mma_operand(of, request, XG_A),
                            .b = xg_mma_operand(of, request, XG_B),
                            .schedule = xg_mma_schedule_of_candidate(of, request),
                            .tile_m = tile->m,
                            .tile_n = tile->n};
    if (!xg_half_reserve(&all, plan, error))
        return XGEMM_ERROR_OVERFLOW;
    xgemm_status status = xg_half_add_align(&all, plan, error);
    if (!status)
        status = add_product(&all, tile, plan, error);
    return status ? status : xg_half_add_reduce(&all, plan, error);
}
