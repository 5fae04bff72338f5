/* SPDX-License-Identifier: BSD-3-Clause */
#include "cache.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* How a pointer is aligned, from that bit on of a word. */
static int64_t alignment(const void *pointer, int bit)
{
    return (int64_t)((uintptr_t)pointer % 256) << bit;
}

/* All of a problem that is a matter of a few bits. */
static int64_t kind_of(const xg_problem *p)
{
    const xg_epilogue_params *e = &p->epilogue;
    return p->type_a | (int64_t)p->type_b << 4 | (int64_t)p->type_c << 8 | (int64_t)e->type << 12 |
           (int64_t)e->bias_type << 16 | (int64_t)e->activation << 20 |
           (int64_t)(e->bias != NULL) << 24 | (int64_t)e->bias_per_row << 25 |
           (int64_t)(e->alpha_at != NULL) << 26 | (int64_t)(e->beta_at != NULL) << 27 |
           (int64_t)p->a_conjugate << 28 | (int64_t)p->b_conjugate << 29 |
           (int64_t)p->pointer_arrays << 30 | (int64_t)p->swapped << 31;
}

static xg_plan_key key_of(const xg_request *request)
{
    const xg_problem *p = &request->problem;
    const xg_target *t = &request->target;
    xg_plan_key key = {{p->m, p->n, p->k, kind_of(p),
                        alignment(p->a, 0) | alignment(p->b, 8) | alignment(p->c, 16) |
                            (int64_t)t->compute_capability << 24 | (int64_t)t->host << 48,
                        p->a_stride_m, p->a_stride_k, p->b_stride_k, p->b_stride_n, p->c_stride_m,
                        p->batch_count, p->a_batch_stride, p->b_batch_stride, p->c_batch_stride,
                        t->multiprocessors,
                        (request->kernel ? request->kernel->id : -1) * INT64_C(16) + request->math +
                            (request->by_element ? 8 : 0),
                        (int64_t)request->workspace_limit}};
    memcpy(&key.words[17], &p->epilogue.alpha, sizeof p->epilogue.alpha);
    memcpy(&key.words[19], &p->epilogue.beta, sizeof p->epilogue.beta);
    key.words[21] = p->ragged_columns ? -p->groups : p->groups;
    memcpy(&key.words[22], &t->left_out, sizeof t->left_out);
    return key;
}

static uint64_t hash_of(const xg_plan_key *key)
{
    uint64_t hash = 0;
    for (int i = 0; i < XG_PLAN_KEY_WORDS; i++) {
        hash = (hash ^ (uint64_t)key->words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return hash;
}

static xg_cached_plan **bucket_of(xg_plan_cache *cache, uint64_t hash)
{
    return &cache->buckets[hash % XG_PLAN_BUCKETS];
}

static bool is_for(const xg_cached_plan *kept, const xg_plan_key *key)
{
    return memcmp(&kept->key, key, sizeof *key) == 0;
}

/* Takes a plan out of the order of use. */
static void unlink_use(xg_plan_cache *cache, xg_cached_plan *kept)
{
    *(kept->newer ? &kept->newer->older : &cache->newest) = kept->older;
    *(kept->older ? &kept->older->newer : &cache->oldest) = kept->newer;
}

static void link_newest(xg_plan_cache *cache, xg_cached_plan *kept)
{
    kept->newer = NULL;
    kept->older = cache->newest;
    *(kept->older ? &kept->older->newer : &cache->oldest) = kept;
    cache->newest = kept;
}

static xg_cached_plan *find(xg_plan_cache *cache, const xg_plan_key *key, uint64_t hash)
{
    xg_cached_plan *kept = *bucket_of(cache, hash);
    while (kept && !(kept->hash == hash && is_for(kept, key)))
        kept = kept->next;
    return kept;
}

static void drop_oldest(xg_plan_cache *cache)
{
    xg_cached_plan *const kept = cache->oldest;
    xg_cached_plan **at = bucket_of(cache, kept->hash);
    while (*at != kept)
        at = &(*at)->next;
    *at = kept->next;
    unlink_use(cache, kept);
    xg_plan_free(&kept->plan);
    free(kept);
    cache->count--;
}

static void insert(xg_plan_cache *cache, xg_cached_plan *made)
{
    xg_cached_plan **const bucket = bucket_of(cache, made->hash);
    if (cache->count == XG_PLANS_KEPT)
        drop_oldest(cache);
    made->next = *bucket;
    *bucket = made;
    link_newest(cache, made);
    cache->count++;
}

xgemm_status xg_plan_cache_get(xg_plan_cache *cache, const xg_backend *backend,
                               const xg_request *request, const xg_cached_plan **plan,
                               xg_error *error)
{
    const xg_plan_key key = key_of(request);
    if (cache->newest && is_for(cache->newest, &key)) {
        *plan = cache->newest;
        return XGEMM_OK;
    }
    const uint64_t hash = hash_of(&key);
    xg_cached_plan *kept = find(cache, &key, hash);
    if (kept) {
        unlink_use(cache, kept);
        link_newest(cache, kept);
        *plan = kept;
        return XGEMM_OK;
    }
    xg_plan whole;
    xg_candidate chosen;
    const xgemm_status status = xg_plan_make(backend, request, &whole, &chosen, error);
    if (status)
        return status;
    xg_cached_plan *const made = malloc(offsetof(xg_cached_plan, plan) + xg_plan_bytes(&whole));
    if (!made) {
        xg_plan_free(&whole);
        return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "the host is out of memory");
    }
    made->key = key;
    made->hash = hash;
    made->chosen = chosen;
    memcpy(&made->plan, &whole, xg_plan_bytes(&whole));
    insert(cache, made);
    *plan = made;
    return XGEMM_OK;
}

void xg_plan_cache_clear(xg_plan_cache *cache)
{
    while (cache->oldest)
        drop_oldest(cache);
}
