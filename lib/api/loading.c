/* SPDX-License-Identifier: BSD-3-Clause */
#include "loading.h"

#include "families/kernels.h"
#include "planner/execute.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A kernel that is loaded in place of another has so many times less PTX. */
enum { LESS = 8 };

/* Those that are considered for a product. */
enum { PLANS = 4 };

/*
 * The most milliseconds that kernels take that are in the driver's cache, twice what an H200's
 * driver does: it reads all of the longest one's PTX.
 */
static int cached_ms(size_t bytes)
{
    enum { LEAST = 3, BYTES_PER_MS = 1 << 17 };
    return LEAST + (int)(bytes / BYTES_PER_MS);
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The PTX of the longest of a kernel's programs for products of a type. */
static size_t ptx_bytes(const xgemm_handle *handle, const xg_kernel *kernel, xg_type type)
{
    const bool is_f32 = type == XG_F32;
    const xg_program *const programs[] = {kernel->typed[type],
                                          is_f32 ? kernel->programs[0] : NULL,
                                          is_f32 ? kernel->programs[1] : NULL,
                                          is_f32 ? kernel->programs[2] : NULL,
                                          is_f32 ? kernel->programs[3] : NULL,
                                          is_f32 ? kernel->batched : NULL};
    size_t most = 0;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (programs[i] && handle->backend->can_run(programs[i]))
            most = larger(most, handle->backend->ptx_bytes(handle->device, programs[i]));
    return most;
}

/* Those that are not loaded and have more PTX than that, as bits 1 << id. */
static uint64_t longer_than(const xgemm_handle *handle, xg_type type, size_t bytes)
{
    uint64_t longer = 0;
    for (int i = 0; i < XG_KERNEL_COUNT; i++)
        longer |= (uint64_t)(ptx_bytes(handle, xg_kernel_at(i), type) > bytes) << i;
    return longer;
}

/*
 * A kernel of the CUDA cores that takes the problem, whether auto would or not: one that is loaded,
 * else the one with the most PTX up to a limit. Those of the ladder are the faster the longer they
 * are.
 */
static const xg_kernel *shorter_kernel(const xgemm_handle *handle, const xg_request *request,
                                       size_t most)
{
    const xg_kernel *best = NULL;
    size_t best_bytes = 0;
    for (int i = 0; i < XG_KERNEL_COUNT; i++) {
        const xg_kernel *const kernel = xg_kernel_at(i);
        const size_t bytes = ptx_bytes(handle, kernel, request->problem.type_a);
        if (kernel->tensor_products || kernel->programs[0]->compute_capability || bytes > most ||
            !handle->backend->can_run(kernel->programs[0]) ||
            !xg_kernel_takes(kernel, &request->problem))
            continue;
        if (!best || bytes == 0 || (best_bytes > 0 && bytes > best_bytes)) {
            best = kernel;
            best_bytes = bytes;
        }
    }
    return best;
}

/* What auto takes of the kernels that are loaded or have so much PTX at most; or such a kernel. */
static const xg_cached_plan *shorter_plan(xgemm_handle *handle, const xg_request *request,
                                          size_t most)
{
    const xg_cached_plan *plan;
    xg_error why;
    xg_request other = *request;
    other.target.left_out |= longer_than(handle, request->problem.type_a, most);
    /* Where auto finds no kernel it takes one whatever is left out. */
    if (xg_plan_cache_get(&handle->plans, handle->backend, &other, &plan, &why) == XGEMM_OK &&
        !(other.target.left_out >> plan->chosen.kernel->id & 1))
        return plan;
    other.kernel = shorter_kernel(handle, request, most);
    return other.kernel && xg_plan_cache_get(&handle->plans, handle->backend, &other, &plan,
                                             &why) == XGEMM_OK
               ? plan
               : NULL;
}

/*
 * Adds to a plan, whose kernels are loading, those that could run in its place, each with far less
 * PTX than the one before: they are loaded at the same time. Returns how many there are.
 */
static int begin_others(xgemm_handle *handle, const xg_request *request, size_t bytes,
                        const xg_cached_plan *plans[PLANS])
{
    int count = 1;
    while (count < PLANS && bytes > 0) {
        bool begun;
        plans[count] = shorter_plan(handle, request, bytes / LESS);
        if (!plans[count]) /* those before it stay in the cache */
            break;
        const size_t left =
            xg_load_begin(&plans[count]->plan, handle->backend, handle->device, &begun);
        if (left >= bytes) /* of what both plans need */
            break;
        bytes = left;
        count++;
    }
    return count;
}

/* The first one that is loaded of plans whose loading has begun, or the last one. */
static const xg_cached_plan *first_loaded(xgemm_handle *handle,
                                          const xg_cached_plan *const plans[PLANS], int count)
{
    int i = 0;
    while (i < count - 1 && !xg_load_wait(&plans[i]->plan, handle->backend, handle->device, 0))
        i++;
    return plans[i];
}

/* The same product by a compact program, in memory of the handle's; NULL: there is none. */
static const xg_cached_plan *compact_plan(xgemm_handle *handle, const xg_request *request,
                                          const xg_cached_plan *plan)
{
    const xg_family *const family = plan->chosen.kernel->family;
    if (!family->make_compact || plan->plan.panels)
        return NULL;
    if (!handle->compact)
        handle->compact = calloc(1, sizeof *handle->compact);
    if (!handle->compact)
        return NULL;
    memcpy(handle->compact, plan, offsetof(xg_cached_plan, plan) + xg_plan_bytes(&plan->plan));
    return family->make_compact(&plan->chosen, request, &handle->compact->plan) ? handle->compact
                                                                                : NULL;
}

/*
 * Waits for the plan or its compact program, none of which is loaded, and returns the first that
 * is. The compact program runs about twice as long; so the plan, which may be in the driver's cache
 * on disk, is waited for first: "cached" milliseconds, but no longer than it is predicted to run.
 */
static const xg_cached_plan *sooner_loaded(xgemm_handle *handle, const xg_cached_plan *plan,
                                           const xg_cached_plan *compact, int cached)
{
    enum { STEP_MS = 1 };
    const double own_ms = plan->chosen.microseconds / 1e3;
    bool begun;
    xg_load_begin(&compact->plan, handle->backend, handle->device, &begun);
    if (xg_load_wait(&plan->plan, handle->backend, handle->device,
                     own_ms < cached ? (int)own_ms : cached))
        return plan;
    for (;;) {
        if (xg_load_wait(&plan->plan, handle->backend, handle->device, 0))
            return plan;
        if (xg_load_wait(&compact->plan, handle->backend, handle->device, STEP_MS))
            return compact;
    }
}

xg_loading xg_loading_begin(xgemm_handle *handle, const xg_cached_plan *plan)
{
    xg_loading loading = {0, false};
    if (handle->backend->load_begin)
        loading.bytes =
            xg_load_begin(&plan->plan, handle->backend, handle->device, &loading.is_new);
    return loading;
}

void xg_replace_unloaded(xgemm_handle *handle, const xg_request *request, xg_loading loading,
                         const xg_cached_plan **plan)
{
    const xg_backend *const backend = handle->backend;
    const xg_cached_plan *plans[PLANS] = {*plan};
    const bool has_product = (*plan)->chosen.kernel != NULL;
    const bool takes_any = handle->reproducible == XGEMM_REPRODUCIBLE_NONE;
    if (loading.bytes == 0 || !has_product || handle->kernel)
        return;
    const xg_cached_plan *const compact = takes_any ? NULL : compact_plan(handle, request, *plan);
    if ((!takes_any && !compact) || backend->is_captured(handle->device, handle->stream))
        return;
    const int cached = loading.is_new ? cached_ms(loading.bytes) : 0;
    if (compact) {
        *plan = sooner_loaded(handle, *plan, compact, cached);
    } else if (!xg_load_wait(&(*plan)->plan, backend, handle->device, cached)) {
        const int count = begin_others(handle, request, loading.bytes, plans);
        *plan = first_loaded(handle, plans, count);
    }
}
