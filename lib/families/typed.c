/* SPDX-License-Identifier: BSD-3-Clause */
#include "typed.h"

#include "families/programs.h"
#include "families/transform/args.h"

#include <stddef.h>

_Static_assert((int)XG_TYPE_F32 == (int)XG_F32 && (int)XG_TYPE_F64 == (int)XG_F64 &&
                   (int)XG_TYPE_F16 == (int)XG_F16 && (int)XG_TYPE_BF16 == (int)XG_BF16 &&
                   (int)XG_TYPE_C32 == (int)XG_C32 && (int)XG_TYPE_C64 == (int)XG_C64,
               "kernels have the types' values");
_Static_assert((int)XG_ACTIVATION_RELU == (int)XGEMM_RELU &&
                   (int)XG_ACTIVATION_GELU == (int)XGEMM_GELU &&
                   (int)XG_ACTIVATION_GELU_TANH == (int)XGEMM_GELU_TANH &&
                   (int)XG_ACTIVATION_SILU == (int)XGEMM_SILU,
               "and the activations'");

static xg_epilogue_args epilogue_of(const xg_problem *p)
{
    const xg_epilogue_params *e = &p->epilogue;
    xg_epilogue_args args = {.type_a = (uint8_t)p->type_a,
                             .type_c = (uint8_t)p->type_c,
                             .type_bias = (uint8_t)e->bias_type,
                             .type_scalars = (uint8_t)e->type,
                             .activation = (uint8_t)e->activation,
                             .bias_per_row = e->bias_per_row,
                             .a_conjugate = p->a_conjugate,
                             .b_conjugate = p->b_conjugate,
                             .swapped = p->swapped,
                             .is_complex = xg_type_is_complex(p->type_c)};
    xg_scalar_parts(e->type, e->alpha, args.alpha);
    xg_scalar_parts(e->type, e->beta, args.beta);
    return args;
}

xg_typed_args xg_typed_args_of(const xg_problem *p)
{
    const bool lists = p->pointer_arrays;
    return (xg_typed_args){.m = p->m,
                           .n = p->n,
                           .k = p->k,
                           .a_stride_m = p->a_stride_m,
                           .a_stride_k = p->a_stride_k,
                           .b_stride_k = p->b_stride_k,
                           .b_stride_n = p->b_stride_n,
                           .c_stride_m = p->c_stride_m,
                           .a_batch_stride = lists ? XG_POINTER_ARRAYS : p->a_batch_stride,
                           .b_batch_stride = lists ? XG_POINTER_ARRAYS : p->b_batch_stride,
                           .c_batch_stride = lists ? XG_POINTER_ARRAYS : p->c_batch_stride,
                           .groups = (int32_t)p->groups,
                           .ragged = xg_ragged_lines(p),
                           .epilogue = epilogue_of(p)};
}

int xg_ragged_lines(const xg_problem *p)
{
    return p->groups == 0 ? 0 : p->ragged_columns ? XG_RAGGED_COLUMNS : XG_RAGGED_ROWS;
}

void xg_point_epilogue(xg_step *step, size_t argument, const xg_problem *p)
{
    if (p->epilogue.alpha_at)
        xg_step_point(step, argument + offsetof(xg_epilogue_args, alpha_at), xg_at_alpha());
    if (p->epilogue.beta_at)
        xg_step_point(step, argument + offsetof(xg_epilogue_args, beta_at), xg_at_beta());
    if (p->epilogue.bias)
        xg_step_point(step, argument + offsetof(xg_epilogue_args, bias), xg_at_bias());
}

void xg_step_uses_c(xg_step *step, const xg_plan *plan, const xg_problem *problem, size_t c,
                    size_t epilogue)
{
    xg_step_point(step, c, xg_at_c(plan, problem));
    xg_point_epilogue(step, epilogue, problem);
    xg_region_c(step, plan, problem);
    xg_regions_of_epilogue(step, problem);
}

void xg_point_typed(xg_step *step, const xg_plan *plan, const xg_problem *p)
{
    xg_step_point(step, offsetof(xg_typed_args, a), xg_at_a(plan, p));
    xg_step_point(step, offsetof(xg_typed_args, b), xg_at_b(plan, p));
    xg_step_point(step, offsetof(xg_typed_args, c), xg_at_c(plan, p));
    if (p->groups > 0)
        xg_step_point(step, offsetof(xg_typed_args, offsets), xg_at_offsets());
    xg_point_epilogue(step, offsetof(xg_typed_args, epilogue), p);
}

xg_step *xg_add_typed_product(xg_plan *plan, const xg_program *program, const void *args,
                              size_t size, const xg_problem *p, xg_error *error)
{
    xg_step *const step = xg_plan_add(plan, program, args, size, error);
    if (!step)
        return NULL;
    step->is_product = true;
    xg_point_typed(step, plan, p);
    xg_region_a(step, plan, p);
    xg_region_b(step, plan, p);
    xg_region_c(step, plan, p);
    xg_regions_of_epilogue(step, p);
    xg_region_offsets(step, p);
    return step;
}

/* A step whose alpha is 0. */
static xg_step *add_without_product(xg_plan *plan, xg_problem *p, const xg_program *program,
                                    xg_error *error)
{
    p->epilogue.alpha = xg_scalar_of(p->epilogue.type, 0);
    p->epilogue.alpha_at = NULL;
    const xg_typed_args args = xg_typed_args_of(p);
    xg_step *const step = xg_plan_add(plan, program, &args, sizeof args, error);
    if (!step)
        return NULL;
    xg_step_point(step, offsetof(xg_typed_args, c), xg_at_c(plan, p));
    xg_point_epilogue(step, offsetof(xg_typed_args, epilogue), p);
    return step;
}

xgemm_status xg_add_finish_on_host(xg_plan *plan, const xg_problem *problem,
                                   const xg_program *function, xg_error *error)
{
    xg_problem without = *problem;
    xg_step *const step = add_without_product(plan, &without, function, error);
    return step ? xg_step_grid(step, 1, 1, 1, 1, error) : XGEMM_ERROR_INTERNAL;
}

static xgemm_status set_finish_grid(xg_step *step, const xg_plan *plan, const xg_problem *p,
                                    xg_error *error)
{
    enum { THREADS_X = 32, THREADS_Y = 8 };
    step->pdl = true;
    xg_region_c(step, plan, p);
    xg_regions_of_epilogue(step, p);
    const int64_t high = xg_ceil_div(p->m, THREADS_Y * XG_FINISH_ROWS);
    return xg_step_grid(step, xg_ceil_div(p->n, THREADS_X),
                        high < XG_GRID_Y_MAX ? high : XG_GRID_Y_MAX, THREADS_X, THREADS_Y, error);
}

xgemm_status xg_add_finish(xg_plan *plan, const xg_problem *problem, xg_error *error)
{
    xg_problem without = *problem;
    xg_step *const step = add_without_product(plan, &without, &xg_program_finish, error);
    return step ? set_finish_grid(step, plan, &without, error) : XGEMM_ERROR_INTERNAL;
}

xgemm_status xg_add_finish_of(xg_plan *plan, const xg_problem *p, int64_t sums, int64_t stride,
                              xg_error *error)
{
    xg_typed_args args = xg_typed_args_of(p);
    args.a_stride_m = stride;
    args.a_batch_stride = p->m * stride;
    xg_step *const step = xg_plan_add(plan, &xg_program_finish, &args, sizeof args, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    xg_step_point(step, offsetof(xg_typed_args, a), xg_at_workspace(sums));
    xg_step_point(step, offsetof(xg_typed_args, c), xg_at_c(plan, p));
    xg_point_epilogue(step, offsetof(xg_typed_args, epilogue), p);
    xg_region_workspace(step, plan);
    return set_finish_grid(step, plan, p, error);
}

xgemm_status xg_add_activation(xg_plan *plan, const xg_problem *problem, xg_error *error)
{
    xg_problem rest = *problem;
    rest.epilogue.beta = xg_scalar_of(rest.epilogue.type, 1);
    rest.epilogue.beta_at = NULL;
    return xg_add_finish(plan, &rest, error);
}
