/* SPDX-License-Identifier: BSD-3-Clause */
/* The family of the host's functions: the CPU's BLAS, and plain C. */
#include "families/common/args.h"
#include "families/family.h"

#include <stddef.h>

static bool applies(const xg_kernel *kernel, const xg_request *request)
{
    (void)kernel;
    return request->target.host && !request->problem.pointer_arrays;
}

static double workspace(const xg_candidate *of, const xg_request *request)
{
    (void)of, (void)request;
    return 0.0;
}

static xgemm_status build(const xg_candidate *of, const xg_request *request, xg_plan *plan,
                          xg_error *error)
{
    const xg_problem *p = &request->problem;
    const xg_product_args args = {XG_PRODUCT_ARGS_OF(p)};
    xg_step *step = xg_plan_add(plan, of->kernel->programs[0], &args, sizeof args, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    step->is_product = true;
    xg_step_point(step, offsetof(xg_product_args, a), xg_at_a(plan, p));
    xg_step_point(step, offsetof(xg_product_args, b), xg_at_b(plan, p));
    xg_step_point(step, offsetof(xg_product_args, c), xg_at_c(plan, p));
    return xg_step_grid(step, 1, 1, 1, 1, error);
}

const xg_family xg_family_host = {
    .name = "host",
    .applies = applies,
    .candidate = xg_only_candidate,
    .workspace = workspace,
    .build = build,
};
