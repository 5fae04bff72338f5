/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel "padded": copies with zeros around, the product, and the way back. */
#include "planner/steps.h"

/* Copies a rows × columns matrix to padded_rows × padded_columns at the offset. */
static xgemm_status add_pad(xg_plan *plan, const float *from, int64_t row_step, int64_t column_step,
                            int64_t rows, int64_t columns, int64_t apart, const xg_args *padded,
                            size_t offset, xg_error *error)
{
    const xg_args args = {.m = rows,
                          .n = columns,
                          .k = padded->m,
                          .a = from,
                          .a_stride_m = row_step,
                          .a_stride_k = column_step,
                          .a_batch = apart,
                          .c_stride_m = padded->n};
    xg_step *step = xg_add_step(plan, &xg_program_pad, &args);
    step->role = XG_STEP_PAD;
    step->in_workspace = XG_C_IN_WORKSPACE;
    step->c_offset = offset;
    return xg_set_grid(step, xg_tiles_of(padded->n, 32), xg_tiles_of(padded->m, 32), 32, 8, error);
}

xgemm_status xg_steps_padded(const xg_kernel *kernel, const xg_args *problem, xg_plan *plan,
                             xg_error *error)
{
    const int64_t tile = kernel->tile_m;
    const int64_t m = xg_tiles_of(problem->m, tile) * tile,
                  n = xg_tiles_of(problem->n, tile) * tile;
    const int64_t k = xg_tiles_of(problem->k, tile) * tile;
    size_t a, b, c;
    if (!xg_reserve(plan, m, k, &a) || !xg_reserve(plan, k, n, &b) || !xg_reserve(plan, m, n, &c))
        return xg_fail(error, XGEMM_ERROR_OVERFLOW,
                       "the padded matrices' size in bytes does not fit the address space");

    const xg_args padded_a = {.m = m, .n = k}, padded_b = {.m = k, .n = n};
    xgemm_status status = add_pad(plan, problem->a, problem->a_stride_m, problem->a_stride_k,
                                  problem->m, problem->k, problem->a_batch, &padded_a, a, error);
    if (!status)
        status = add_pad(plan, problem->b, problem->b_stride_k, problem->b_stride_n, problem->k,
                         problem->n, problem->b_batch, &padded_b, b, error);
    if (status)
        return status;
    plan->step[plan->steps - 1].a_is_b = true;

    const xg_args product = {.m = m,
                             .n = n,
                             .k = k,
                             .a_stride_m = k,
                             .a_stride_k = 1,
                             .b_stride_k = n,
                             .b_stride_n = 1,
                             .c_stride_m = n,
                             .alpha = 1.0f};
    xg_step *step = xg_add_step(plan, kernel->program, &product);
    step->in_workspace = XG_A_IN_WORKSPACE | XG_B_IN_WORKSPACE | XG_C_IN_WORKSPACE;
    step->a_offset = a, step->b_offset = b, step->c_offset = c;
    status = xg_set_grid(step, n / tile, m / tile, kernel->block_x, kernel->block_y, error);
    if (status)
        return status;

    const xg_args out = {.m = problem->m,
                         .n = problem->n,
                         .a_stride_m = n,
                         .a_stride_k = 1,
                         .c = problem->c,
                         .c_stride_m = problem->c_stride_m,
                         .c_batch = problem->c_batch,
                         .alpha = problem->alpha,
                         .beta = problem->beta};
    step = xg_add_step(plan, &xg_program_unpad, &out);
    step->role = XG_STEP_UNPAD;
    step->in_workspace = XG_A_IN_WORKSPACE;
    step->a_offset = c;
    return xg_set_grid(step, xg_tiles_of(problem->n, 32), xg_tiles_of(problem->m, 8), 32, 8, error);
}
