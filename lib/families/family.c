/* SPDX-License-Identifier: BSD-3-Clause */
#include "family.h"

xg_candidate xg_candidate_begin(const xg_kernel *kernel, const xg_request *request)
{
    return (xg_candidate){.kernel = kernel,
                          .m = request->problem.m,
                          .n = request->problem.n,
                          .k_per_split = request->problem.k,
                          .batch_per_pass = 1};
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
