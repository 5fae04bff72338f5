/* SPDX-License-Identifier: BSD-3-Clause */
#include "family.h"

#include "families/common/args.h"

#include <math.h>
#include <stddef.h>

xg_candidate xg_candidate_begin(const xg_kernel *kernel, const xg_request *request)
{
    return (xg_candidate){.kernel = kernel,
                          .m = request->problem.m,
                          .n = request->problem.n,
                          .k_per_split = request->problem.k,
                          .batch_per_pass = 1};
}

double xg_bound_us(const xg_candidate *best, double most_us)
{
    return xg_smaller(best->kernel ? best->microseconds : INFINITY, most_us);
}

xg_candidate xg_slow_candidate(const xg_kernel *kernel, const xg_request *request)
{
    xg_candidate slow = xg_candidate_begin(kernel, request);
    slow.microseconds = INFINITY;
    return slow;
}

xg_candidate xg_only_candidate(const xg_kernel *kernel, const xg_request *request, double most_us)
{
    (void)most_us;
    return xg_candidate_begin(kernel, request);
}

double xg_passes_us(const xg_costs *costs, double pass_us, int64_t passes)
{
    return pass_us + (double)(passes - 1) * (pass_us + costs->next_pass_us);
}

xg_step *xg_add_plain_product(const xg_kernel *kernel, xg_plan *plan, const xg_problem *p,
                              xg_error *error)
{
    const xg_product_args args = {XG_PRODUCT_ARGS_OF(p)};
    xg_step *step = xg_plan_add(plan, kernel->programs[0], &args, sizeof args, error);
    if (!step)
        return NULL;
    step->is_product = true;
    xg_step_point(step, offsetof(xg_product_args, a), xg_at_a(plan, p));
    xg_step_point(step, offsetof(xg_product_args, b), xg_at_b(plan, p));
    xg_step_point(step, offsetof(xg_product_args, c), xg_at_c(plan, p));
    return step;
}
