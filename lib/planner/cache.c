/* SPDX-License-Identifier: BSD-3-Clause */
#include "cache.h"

#include <string.h>

static int64_t alignment(const void *pointer)
{
    return (int64_t)((uintptr_t)pointer % 256);
}

static xg_plan_key key_of(const xg_request *request)
{
    const xg_problem *p = &request->problem;
    const xg_target *t = &request->target;
    return (xg_plan_key){{p->m,
                          p->n,
                          p->k,
                          p->type_a | (int64_t)p->type_b << 8 | (int64_t)p->type_c << 16 |
                              (int64_t)p->epilogue.type << 24,
                          (int64_t)xg_scalar_bits(p->epilogue.type, p->epilogue.alpha),
                          (int64_t)xg_scalar_bits(p->epilogue.type, p->epilogue.beta),
                          alignment(p->a),
                          alignment(p->b),
                          alignment(p->c),
                          p->a_stride_m,
                          p->a_stride_k,
                          p->b_stride_k,
                          p->b_stride_n,
                          p->c_stride_m,
                          p->batch_count,
                          p->a_batch_stride,
                          p->b_batch_stride,
                          p->c_batch_stride,
                          p->pointer_arrays,
                          t->host | (int64_t)t->compute_capability << 8,
                          t->multiprocessors,
                          request->kernel ? request->kernel->id : -1,
                          request->math,
                          (int64_t)request->workspace_limit}};
}

xgemm_status xg_plan_cache_get(xg_plan_cache *cache, const xg_backend *backend,
                               const xg_request *request, const xg_cached_plan **plan,
                               xg_error *error)
{
    const xg_plan_key key = key_of(request);
    for (int i = 0; i < XG_PLANS_KEPT; i++) {
        const int at = (cache->latest + i) % XG_PLANS_KEPT;
        xg_cached_plan *const kept = &cache->plans[at];
        if (kept->is_there && memcmp(&kept->key, &key, sizeof key) == 0) {
            cache->latest = at;
            *plan = kept;
            return XGEMM_OK;
        }
    }
    xg_cached_plan *const made = &cache->plans[cache->oldest];
    if (made->is_there)
        xg_plan_free(&made->plan);
    made->is_there = false;
    const xgemm_status status = xg_plan_make(backend, request, &made->plan, &made->chosen, error);
    if (status)
        return status;
    made->is_there = true;
    made->key = key;
    cache->latest = cache->oldest;
    cache->oldest = (cache->oldest + 1) % XG_PLANS_KEPT;
    *plan = made;
    return XGEMM_OK;
}

void xg_plan_cache_clear(xg_plan_cache *cache)
{
    for (int i = 0; i < XG_PLANS_KEPT; i++) {
        if (cache->plans[i].is_there)
            xg_plan_free(&cache->plans[i].plan);
        cache->plans[i].is_there = false;
    }
}
