/* SPDX-License-Identifier: BSD-3-Clause */
#include "loading.h"

#include "families/kernels.h"
#include "planner/execute.h"

/* A kernel that is loaded in place of another has so many times less PTX. */
enum { LESS = 8 };

/* The most that kernels take that are in the driver's cache. */
enum { CACHED_MS = 10 };

/* Those that are considered for a product. */
enum { PLANS = 4 };

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

void xg_replace_unloaded(xgemm_handle *handle, const xg_request *request,
                         const xg_cached_plan **plan)
{
    const xg_backend *const backend = handle->backend;
    const xg_cached_plan *plans[PLANS] = {*plan};
    bool begun;
    if (!backend->load_begin)
        return;
    const size_t bytes = xg_load_begin(&(*plan)->plan, backend, handle->device, &begun);
    const bool has_product = (*plan)->chosen.kernel != NULL;
    if (bytes == 0 || !has_product || handle->reproducible != XGEMM_REPRODUCIBLE_NONE ||
        handle->kernel || backend->is_captured(handle->device, handle->stream))
        return;
    if (xg_load_wait(&(*plan)->plan, backend, handle->device, begun ? CACHED_MS : 0))
        return;
    const int count = begin_others(handle, request, bytes, plans);
    int i = 0;
    do
        *plan = plans[i++];
    while (i < count && !xg_load_wait(&(*plan)->plan, backend, handle->device, 0));
}
