/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps of the kernels that need one launch, and what all steps are made with. */
#include "steps.h"

#include <inttypes.h>
#include <string.h>

int64_t xg_tiles_of(int64_t size, int64_t tile)
{
    return size / tile + (size % tile != 0);
}

int64_t xg_packed_line(int64_t size)
{
    return xg_tiles_of(size, XG_PACK_LINE) * XG_PACK_LINE;
}

int64_t xg_sums_of(int64_t k, int64_t k_part, int64_t cluster)
{
    return xg_tiles_of(k, k_part) / (cluster > 1 ? cluster : 1);
}

xg_step *xg_add_step(xg_plan *plan, const xg_program *program, const xg_args *args)
{
    xg_step *step = &plan->step[plan->steps++];
    step->program = program;
    step->args = *args;
    step->a_apart = args->a_batch;
    step->b_apart = args->b_batch;
    step->c_apart = args->c_batch;
    return step;
}

xgemm_status xg_set_grid(xg_step *step, int64_t x, int64_t y, int block_x, int block_y,
                         xg_error *error)
{
    const int64_t z = xg_tiles_of(y, XG_GRID_Y_MAX);
    if (x > INT32_MAX || z > XG_GRID_Y_MAX)
        return xg_fail(
            error, XGEMM_ERROR_NOT_SUPPORTED,
            "the launch would need %" PRId64 " x %" PRId64 " blocks, more than a grid holds", x, y);
    const uint32_t grid[3] = {(uint32_t)x, (uint32_t)(z == 1 ? y : XG_GRID_Y_MAX), (uint32_t)z};
    const uint32_t block[3] = {(uint32_t)block_x, (uint32_t)block_y, 1};
    memcpy(step->grid, grid, sizeof grid);
    memcpy(step->block, block, sizeof block);
    return XGEMM_OK;
}

xgemm_status xg_steps_single(const xg_kernel *kernel, const xg_args *problem, xg_plan *plan,
                             xg_error *error)
{
    xg_step *step = xg_add_step(plan, kernel->program, problem);
    return xg_set_grid(step, xg_tiles_of(problem->n, kernel->tile_n),
                       xg_tiles_of(problem->m, kernel->tile_m), kernel->block_x, kernel->block_y,
                       error);
}

xgemm_status xg_steps_rows_on_x(const xg_kernel *kernel, const xg_args *problem, xg_plan *plan,
                                xg_error *error)
{
    xg_step *step = xg_add_step(plan, kernel->program, problem);
    return xg_set_grid(step, xg_tiles_of(problem->m, kernel->tile_m),
                       xg_tiles_of(problem->n, kernel->tile_n), kernel->block_x, kernel->block_y,
                       error);
}

xgemm_status xg_steps_host(const xg_kernel *kernel, const xg_args *problem, xg_plan *plan,
                           xg_error *error)
{
    xg_step *step = xg_add_step(plan, kernel->program, problem);
    return xg_set_grid(step, 1, 1, 1, 1, error);
}

bool xg_reserve(xg_plan *plan, int64_t rows, int64_t columns, size_t *offset)
{
    size_t bytes;
    *offset = plan->workspace_bytes;
    return !__builtin_mul_overflow((size_t)rows, (size_t)columns, &bytes) &&
           !__builtin_mul_overflow(bytes, sizeof(float), &bytes) &&
           !__builtin_add_overflow(bytes, XG_WORKSPACE_ALIGN - 1, &bytes) &&
           !__builtin_add_overflow(plan->workspace_bytes,
                                   bytes / XG_WORKSPACE_ALIGN * XG_WORKSPACE_ALIGN,
                                   &plan->workspace_bytes);
}
