/* SPDX-License-Identifier: BSD-3-Clause */
/* The family of the host's functions: the CPU's BLAS, and plain C. */
#include "families/family.h"

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
    xg_step *const step = xg_add_plain_product(of->kernel, plan, &request->problem, error);
    return step ? xg_step_grid(step, 1, 1, 1, 1, error) : XGEMM_ERROR_INTERNAL;
}

const xg_family xg_family_host = {
    .name = "host",
    .applies = applies,
    .candidate = xg_only_candidate,
    .workspace = workspace,
    .build = build,
};
