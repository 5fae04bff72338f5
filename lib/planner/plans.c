/* SPDX-License-Identifier: BSD-3-Clause */
#include "plans.h"

#include <string.h>

_Static_assert(sizeof(xg_request) == sizeof(xg_args) + 6 * 8, "compared as bytes: no padding");

/* Of a pointer, a plan depends on nothing but how it is aligned. */
static uintptr_t alignment(const void *pointer)
{
    return (uintptr_t)pointer % 256;
}

static xg_request key_of(const xg_request *request)
{
    xg_request key = *request;
    key.problem.a = (const float *)alignment(request->problem.a);
    key.problem.b = (const float *)alignment(request->problem.b);
    key.problem.c = (float *)alignment(request->problem.c);
    return key;
}

xgemm_status xg_plans_get(xg_plans *plans, const xg_backend *backend, const xg_request *request,
                          const xg_plan **plan, xg_error *error)
{
    const xg_request key = key_of(request);
    for (int i = 0; i < XG_PLANS_KEPT; i++) {
        const int at = (plans->latest + i) % XG_PLANS_KEPT;
        if (memcmp(&plans->like[at], &key, sizeof key) == 0) {
            plans->latest = at;
            *plan = &plans->plan[at];
            return XGEMM_OK;
        }
    }
    const int at = plans->oldest;
    plans->like[at].products = 0;
    const xgemm_status status = xg_plan_make(backend, request, &plans->plan[at], error);
    if (status)
        return status;
    plans->like[at] = key;
    plans->latest = at;
    plans->oldest = (at + 1) % XG_PLANS_KEPT;
    *plan = &plans->plan[at];
    return XGEMM_OK;
}
