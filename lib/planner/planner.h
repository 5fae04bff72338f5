/* SPDX-License-Identifier: BSD-3-Clause */
/* From a request to a plan: the fastest candidate of all families, built. */
#ifndef XGEMM_LIB_PLANNER_H
#define XGEMM_LIB_PLANNER_H

#include "families/kernels.h"

/*
 * What plans are for: a device of a backend (NULL: the backend's usual one), of which the
 * description tells the peaks (NULL: not known). Constants that are scaled for it go to *scaled,
 * which must live as long as the target.
 */
xg_target xg_target_of(const xg_backend *backend, const xg_device *device,
                       const xgemm_device *description, xg_costs *scaled);

/*
 * Plans a problem that is not empty (problem/call.h), into *plan, which must be freed. "chosen" is
 * what the plan was built from; its kernel is NULL where nothing is multiplied, and its time 0
 * where the target predicts none. Without a kernel in the request, the fastest by the cost models
 * is taken, of those that the backend can run, may serve in the math mode, and need no more
 * workspace than there is: there always is one.
 */
xgemm_status xg_plan_make(const xg_backend *backend, const xg_request *request, xg_plan *plan,
                          xg_candidate *chosen, xg_error *error);

/* Whether one launch of the kernel can compute a batch that comes as pointer arrays. */
bool xg_takes_pointer_arrays(const xg_kernel *kernel, xg_type operands);

#endif
