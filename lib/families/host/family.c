/* SPDX-License-Identifier: BSD-3-Clause */
/* The family of the host's functions: the CPU's BLAS, and plain C. */
#include "families/family.h"
#include "families/typed.h"
#include "functions.h"

#include <stddef.h>

static bool applies(const xg_kernel *kernel, const xg_request *request)
{
    (void)kernel;
    return request->target.host && !request->problem.pointer_arrays;
}

/* Whether 16-bit operands are copied to floats: for a function that is not made for them. */
static bool copies(const xg_kernel *kernel, const xg_problem *p)
{
    return kernel->copies_half && xg_type_is_half(p->type_a);
}

static double workspace(const xg_candidate *of, const xg_request *request)
{
    const xg_problem *const p = &request->problem;
    const double m = (double)p->m, n = (double)p->n, k = (double)p->k;
    return copies(of->kernel, p) ? xg_room_bytes(1.0, m * k + k * n + m * n, XG_F32) : 0.0;
}

static xgemm_status build(const xg_candidate *of, const xg_request *request, xg_plan *plan,
                          xg_error *error)
{
    const xg_problem *const p = &request->problem;
    const xg_host_args args = {.product = xg_typed_args_of(p)};
    int64_t mk, kn, mn, all = 0, offset = 0;
    const bool too_large =
        __builtin_mul_overflow(p->m, p->k, &mk) || __builtin_mul_overflow(p->k, p->n, &kn) ||
        __builtin_mul_overflow(p->m, p->n, &mn) || __builtin_add_overflow(mk, kn, &all) ||
        __builtin_add_overflow(all, mn, &all);
    if (copies(of->kernel, p)) {
        if (too_large)
            return xg_fail(error, XGEMM_ERROR_OVERFLOW,
                           "the operands' copies as floats do not fit the address space");
        if (!xg_plan_reserve(plan, 1, all, XG_F32, "the operands", &offset, error))
            return XGEMM_ERROR_OVERFLOW;
    }
    xg_step *const step = xg_plan_add(plan, of->kernel->programs[0], &args, sizeof args, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    step->is_product = true;
    xg_point_typed(step, plan, p);
    if (copies(of->kernel, p))
        xg_step_point(step, offsetof(xg_host_args, floats), xg_at_workspace(offset));
    return xg_step_grid(step, 1, 1, 1, 1, error);
}

static bool takes_groups(const xg_kernel *kernel, xg_type operands)
{
    (void)kernel, (void)operands;
    return true;
}

const xg_family xg_family_host = {
    .name = "host",
    .applies = applies,
    .candidate = xg_only_candidate,
    .workspace = workspace,
    .build = build,
    .takes_groups = takes_groups,
    .finishes = true,
};
