/* SPDX-License-Identifier: BSD-3-Clause */
/* The last plans of a handle, so that a call like one before costs no planning. */
#ifndef XGEMM_LIB_PLAN_CACHE_H
#define XGEMM_LIB_PLAN_CACHE_H

#include "planner.h"

enum { XG_PLANS_KEPT = 4, XG_PLAN_KEY_WORDS = 24 };

/* All that a plan depends on; of pointers that is how they are aligned. */
typedef struct {
    int64_t words[XG_PLAN_KEY_WORDS];
} xg_plan_key;

typedef struct {
    bool is_there;
    xg_plan_key key;
    xg_plan plan;
    xg_candidate chosen;
} xg_cached_plan;

typedef struct {
    xg_cached_plan plans[XG_PLANS_KEPT];
    int oldest, latest;
} xg_plan_cache;

/* The plan of a request, kept or made; it is good until the next call. */
xgemm_status xg_plan_cache_get(xg_plan_cache *cache, const xg_backend *backend,
                               const xg_request *request, const xg_cached_plan **plan,
                               xg_error *error);

/* Frees the plans. */
void xg_plan_cache_clear(xg_plan_cache *cache);

#endif
