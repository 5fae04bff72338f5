/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last plans of a handle, so that a call like one before costs no planning. They are found by a
 * hash; beyond XG_PLANS_KEPT of them, some 3 MB (and 25 where all are in panels), the one that was
 * not used for longest goes.
 */
#ifndef XGEMM_LIB_PLAN_CACHE_H
#define XGEMM_LIB_PLAN_CACHE_H

#include "planner.h"

enum { XG_PLANS_KEPT = 1024, XG_PLAN_BUCKETS = 2048, XG_PLAN_KEY_WORDS = 23 };

/* All that a plan depends on; of pointers that is how they are aligned. */
typedef struct {
    int64_t words[XG_PLAN_KEY_WORDS];
} xg_plan_key;

typedef struct xg_cached_plan {
    xg_plan_key key;
    uint64_t hash;
    xg_candidate chosen;
    struct xg_cached_plan *next;          /* in the same bucket */
    struct xg_cached_plan *newer, *older; /* by their last use */
    xg_plan plan;                         /* of which memory is there for its steps alone */
} xg_cached_plan;

/* All zero: empty. */
typedef struct {
    xg_cached_plan *buckets[XG_PLAN_BUCKETS];
    xg_cached_plan *newest, *oldest;
    int count;
} xg_plan_cache;

/* The plan of a request, kept or made; it is good until the next call. */
xgemm_status xg_plan_cache_get(xg_plan_cache *cache, const xg_backend *backend,
                               const xg_request *request, const xg_cached_plan **plan,
                               xg_error *error);

/* Frees the plans. */
void xg_plan_cache_clear(xg_plan_cache *cache);

#endif
