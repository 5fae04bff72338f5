/* SPDX-License-Identifier: BSD-3-Clause */
/* Products by FP16 parts: the split, the product, and what is left to plain FP32. */
#include "kernels/fp16_layout.h"
#include "steps.h"

#include <inttypes.h>

enum {
    SPLIT_EXTRA_BYTES = (XG_SPLIT_THREADS / 32 + 2) * 32 * 4, /* beside the slice */
    REST_BLOCKS = 3,                                          /* of a multiprocessor */
    REST_SHARED_BYTES = 4 * 16 * (64 + 4 + 128 + 4) * 4       /* four stages, see pipelined.inc */
};

static xgemm_status add_split(xg_plan *plan, const xg_args *problem, const xg_fp16_layout *at,
                              int parts, size_t workspace, xg_error *error)
{
    xg_step *step = xg_add_step(plan, &xg_program_fp16_split, problem);
    const int64_t groups =
        (int64_t)(at->a_blocks + at->b_blocks) * (XG_UNIT_LINES / XG_SPLIT_LINES);
    step->role = XG_STEP_FP16_SPLIT;
    step->in_workspace = XG_C_IN_WORKSPACE;
    step->c_offset = workspace;
    step->args.k_part = parts;
    step->cluster = (uint32_t)at->slices;
    step->shared_bytes =
        (uint32_t)(at->slice_chunks * XG_CHUNK_K * XG_SPLIT_LINES * 4 + SPLIT_EXTRA_BYTES);
    return xg_set_grid(step, groups * at->slices, 1, XG_SPLIT_THREADS, 1, error);
}

static xgemm_status add_product(const xg_kernel *kernel, xg_plan *plan, const xg_args *problem,
                                const xg_fp16_layout *at, size_t workspace, xg_error *error)
{
    xg_step *step = xg_add_step(plan, kernel->program, problem);
    const int cluster = kernel->cluster ? kernel->cluster : 1;
    const int64_t tiles =
        (int64_t)(at->a_blocks / cluster) * (at->b_blocks / (kernel->tile_n / XG_UNIT_LINES));
    const int64_t most = plan->processors / cluster;
    step->role = XG_STEP_FP16_PRODUCT;
    step->in_workspace = XG_A_IN_WORKSPACE;
    step->a_offset = workspace;
    step->args.k_part = kernel->fp16_parts;
    step->cluster = (uint32_t)kernel->cluster;
    step->overlaps = true;
    step->shared_bytes = (uint32_t)kernel->shared_bytes;
    return xg_set_grid(step, (tiles < most ? tiles : most) * cluster, 1, kernel->block_x, 1, error);
}

static xgemm_status add_rest(xg_plan *plan, const xg_args *problem, const xg_fp16_layout *at,
                             size_t workspace, xg_error *error)
{
    xg_step *step = xg_add_step(plan, &xg_program_fp16_rest, problem);
    const int64_t tiles = 2 * (int64_t)at->a_blocks * at->b_blocks;
    const int64_t most = (int64_t)plan->processors * REST_BLOCKS;
    step->role = XG_STEP_FP16_REST;
    step->in_workspace = XG_LIST_IN_WORKSPACE;
    step->list_offset = workspace + (size_t)at->list;
    step->args.k_part = problem->k;
    step->overlaps = true;
    step->shared_bytes = REST_SHARED_BYTES;
    return xg_set_grid(step, tiles < most ? tiles : most, 1, 128, 1, error);
}

xgemm_status xg_steps_fp16(const xg_kernel *kernel, const xg_args *problem, xg_plan *plan,
                           xg_error *error)
{
    if (problem->k > XG_SPLIT_K_MOST || problem->m > INT32_MAX / 2 || problem->n > INT32_MAX / 2)
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel %s takes a k of at most %d, not %" PRId64, kernel->name,
                       (int)XG_SPLIT_K_MOST, problem->k);
    const int parts = kernel->fp16_parts;
    const xg_fp16_layout at = xg_fp16_layout_of(problem->m, problem->n, problem->k, parts);
    size_t workspace;
    if (!xg_reserve(plan, 1, at.bytes / 4, &workspace))
        return xg_fail(error, XGEMM_ERROR_OVERFLOW,
                       "the FP16 parts' size in bytes does not fit the address space");
    xgemm_status status = add_split(plan, problem, &at, parts, workspace, error);
    if (!status)
        status = add_product(kernel, plan, problem, &at, workspace, error);
    if (!status)
        status = add_rest(plan, problem, &at, workspace, error);
    return status;
}
