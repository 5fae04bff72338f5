/* SPDX-License-Identifier: BSD-3-Clause */
/* The last plans of a handle, so that a call like one before costs no planning. */
#ifndef XGEMM_LIB_PLANS_H
#define XGEMM_LIB_PLANS_H

#include "plan.h"

enum { XG_PLANS_KEPT = 4 };

typedef struct {
    xg_request like[XG_PLANS_KEPT]; /* products 0: no plan */
    xg_plan plan[XG_PLANS_KEPT];
    int oldest, latest;
} xg_plans;

/* The plan of a request, kept or made; it is good until the next call. */
xgemm_status xg_plans_get(xg_plans *plans, const xg_backend *backend, const xg_request *request,
                          const xg_plan **plan, xg_error *error);

#endif
