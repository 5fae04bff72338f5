/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan.h"

#include "kernels.h"

#include <inttypes.h>
#include <string.h>

enum { GRID_Y_MAX = 65535, WORKSPACE_ALIGN = 256 };

/*
 * The choice: the first row that fits. A kernel with large tiles is fast when
 * they fill the GPU and are filled themselves; below that, smaller tiles keep
 * more multiprocessors at work. Figures: doc/notes/ladder.md (H200).
 */
static const struct {
    const char *kernel;
    int64_t least_side;  /* of C */
    int64_t least_tiles; /* of the kernel's own size, in C */
    bool turned_b;       /* only for a column-major B (in row order) */
} choices[] = {
    {"vectorized", 96, 64, false}, {"register-tiled-1d", 48, 96, false},
    {"corner-turned", 0, 0, true}, {"tiled32", 48, 200, false},
    {"tiled16", 0, 0, false},
};

static int64_t tiles_of(int64_t size, int64_t tile)
{
    return size / tile + (size % tile != 0);
}

static const xg_kernel *choose_device(const xg_args *problem)
{
    const xg_kernel *kernel = NULL;
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        kernel = xg_kernel_named(choices[i].kernel);
        if (problem->m >= choices[i].least_side && problem->n >= choices[i].least_side &&
            tiles_of(problem->m, kernel->tile_m) * tiles_of(problem->n, kernel->tile_n) >=
                choices[i].least_tiles &&
            (!choices[i].turned_b || problem->b_col != 1))
            break;
    }
    return kernel;
}

static const xg_kernel *choose_host(void)
{
    const xg_kernel *blas = xg_kernel_named("blas");
    return xg_backend_cpu.can_run(blas->program) ? blas : xg_kernel_named("reference");
}

static xg_step *add_step(xg_plan *plan, const xg_program *program, const xg_args *args)
{
    xg_step *step = &plan->step[plan->steps++];
    step->program = program;
    step->args = *args;
    return step;
}

/* Blocks along x and y; y is folded into z where it passes the grid's limit. */
static xgemm_status set_grid(xg_step *step, int64_t x, int64_t y, int block_x, int block_y,
                             xg_error *error)
{
    const int64_t z = tiles_of(y, GRID_Y_MAX);
    if (x > INT32_MAX || z > GRID_Y_MAX)
        return xg_fail(
            error, XGEMM_ERROR_NOT_SUPPORTED,
            "the launch would need %" PRId64 " x %" PRId64 " blocks, more than a grid holds", x, y);
    const uint32_t grid[3] = {(uint32_t)x, (uint32_t)(z == 1 ? y : GRID_Y_MAX), (uint32_t)z};
    const uint32_t block[3] = {(uint32_t)block_x, (uint32_t)block_y, 1};
    memcpy(step->grid, grid, sizeof grid);
    memcpy(step->block, block, sizeof block);
    return XGEMM_OK;
}

xgemm_status xg_steps_single(const xg_kernel *kernel, const xg_args *problem, xg_plan *plan,
                             xg_error *error)
{
    xg_step *step = add_step(plan, kernel->program, problem);
    return set_grid(step, tiles_of(problem->n, kernel->tile_n),
                    tiles_of(problem->m, kernel->tile_m), kernel->block_x, kernel->block_y, error);
}

xgemm_status xg_steps_rows_on_x(const xg_kernel *kernel, const xg_args *problem, xg_plan *plan,
                                xg_error *error)
{
    xg_step *step = add_step(plan, kernel->program, problem);
    return set_grid(step, tiles_of(problem->m, kernel->tile_m),
                    tiles_of(problem->n, kernel->tile_n), kernel->block_x, kernel->block_y, error);
}

xgemm_status xg_steps_host(const xg_kernel *kernel, const xg_args *problem, xg_plan *plan,
                           xg_error *error)
{
    xg_step *step = add_step(plan, kernel->program, problem);
    return set_grid(step, 1, 1, 1, 1, error);
}

/* Room for rows × columns floats in the plan's workspace; false when it overflows. */
static bool reserve(xg_plan *plan, int64_t rows, int64_t columns, size_t *offset)
{
    size_t bytes;
    *offset = plan->workspace_bytes;
    return !__builtin_mul_overflow((size_t)rows, (size_t)columns, &bytes) &&
           !__builtin_mul_overflow(bytes, sizeof(float), &bytes) &&
           !__builtin_add_overflow(bytes, WORKSPACE_ALIGN - 1, &bytes) &&
           !__builtin_add_overflow(plan->workspace_bytes, bytes / WORKSPACE_ALIGN * WORKSPACE_ALIGN,
                                   &plan->workspace_bytes);
}

/* Copies a rows × columns matrix to padded_rows × padded_columns at the offset. */
static xgemm_status add_pad(xg_plan *plan, const float *from, int64_t row_step, int64_t column_step,
                            int64_t rows, int64_t columns, const xg_args *padded, size_t offset,
                            xg_error *error)
{
    const xg_args args = {.m = rows,
                          .n = columns,
                          .k = padded->m,
                          .a = from,
                          .a_row = row_step,
                          .a_col = column_step,
                          .c_row = padded->n};
    xg_step *step = add_step(plan, &xg_program_pad, &args);
    step->role = XG_STEP_PAD;
    step->in_workspace = XG_C_IN_WORKSPACE;
    step->c_offset = offset;
    return set_grid(step, tiles_of(padded->n, 32), tiles_of(padded->m, 32), 32, 8, error);
}

xgemm_status xg_steps_padded(const xg_kernel *kernel, const xg_args *problem, xg_plan *plan,
                             xg_error *error)
{
    const int64_t tile = kernel->tile_m;
    const int64_t m = tiles_of(problem->m, tile) * tile, n = tiles_of(problem->n, tile) * tile;
    const int64_t k = tiles_of(problem->k, tile) * tile;
    size_t a, b, c;
    if (!reserve(plan, m, k, &a) || !reserve(plan, k, n, &b) || !reserve(plan, m, n, &c))
        return xg_fail(error, XGEMM_ERROR_OVERFLOW,
                       "the padded matrices' size in bytes does not fit the address space");

    const xg_args padded_a = {.m = m, .n = k}, padded_b = {.m = k, .n = n};
    xgemm_status status = add_pad(plan, problem->a, problem->a_row, problem->a_col, problem->m,
                                  problem->k, &padded_a, a, error);
    if (!status)
        status = add_pad(plan, problem->b, problem->b_row, problem->b_col, problem->k, problem->n,
                         &padded_b, b, error);
    if (status)
        return status;

    const xg_args product = {.m = m,
                             .n = n,
                             .k = k,
                             .a_row = k,
                             .a_col = 1,
                             .b_row = n,
                             .b_col = 1,
                             .c_row = n,
                             .alpha = 1.0f};
    xg_step *step = add_step(plan, kernel->program, &product);
    step->in_workspace = XG_A_IN_WORKSPACE | XG_B_IN_WORKSPACE | XG_C_IN_WORKSPACE;
    step->a_offset = a, step->b_offset = b, step->c_offset = c;
    status = set_grid(step, n / tile, m / tile, kernel->block_x, kernel->block_y, error);
    if (status)
        return status;

    const xg_args out = {.m = problem->m,
                         .n = problem->n,
                         .a_row = n,
                         .a_col = 1,
                         .c = problem->c,
                         .c_row = problem->c_row,
                         .alpha = problem->alpha,
                         .beta = problem->beta};
    step = add_step(plan, &xg_program_unpad, &out);
    step->role = XG_STEP_UNPAD;
    step->in_workspace = XG_A_IN_WORKSPACE;
    step->a_offset = c;
    return set_grid(step, tiles_of(problem->n, 32), tiles_of(problem->m, 8), 32, 8, error);
}

/*
 * Parts into which k is split so that that many blocks, the product's tiles,
 * become enough for the processors: no part shorter than least, each a multiple
 * of 4, for accesses of 16 bytes.
 */
static int64_t part_of(int64_t k, int64_t blocks, int64_t enough, int64_t least)
{
    const int64_t most = k / least;
    int64_t parts = enough / blocks;
    parts = parts > most ? most : parts;
    return parts <= 1 ? k : (tiles_of(k, parts) + 3) / 4 * 4;
}

/* The last step's sums go to the workspace in parts, and a step that adds them up follows. */
static xgemm_status split(xg_plan *plan, const xg_args *problem, int64_t k_part, xg_error *error)
{
    const int64_t parts = tiles_of(problem->k, k_part);
    xg_step *product = &plan->step[plan->steps - 1];
    size_t offset;
    product->args.k_part = k_part;
    if (parts == 1)
        return XGEMM_OK;
    if (!reserve(plan, parts, problem->m * problem->n, &offset))
        return xg_fail(error, XGEMM_ERROR_OVERFLOW,
                       "the partial sums' size in bytes does not fit the address space");
    product->grid[1] = (uint32_t)parts;
    product->in_workspace |= XG_C_IN_WORKSPACE;
    product->c_offset = offset;
    product->args.c_row = problem->n;
    product->args.c_part = problem->m * problem->n;
    product->args.alpha = 1.0f;
    product->args.beta = 0.0f;

    const xg_args sum = {.m = problem->m,
                         .n = problem->n,
                         .k = parts,
                         .a_row = problem->n,
                         .a_col = 1,
                         .c = problem->c,
                         .c_row = problem->c_row,
                         .c_part = problem->m * problem->n,
                         .alpha = problem->alpha,
                         .beta = problem->beta};
    xg_step *step = add_step(plan, &xg_program_reduce, &sum);
    step->role = XG_STEP_REDUCE;
    step->in_workspace = XG_A_IN_WORKSPACE;
    step->a_offset = offset;
    return set_grid(step, tiles_of(problem->m * problem->n, 256), 1, 256, 1, error);
}

xgemm_status xg_steps_skinny(const xg_kernel *kernel, const xg_args *problem, xg_plan *plan,
                             xg_error *error)
{
    static const struct {
        int side;
        const xg_program *program;
    } programs[] = {{1, &xg_program_skinny1},
                    {2, &xg_program_skinny2},
                    {4, &xg_program_skinny4},
                    {8, &xg_program_skinny8},
                    {16, &xg_program_skinny16}};
    const int64_t side = problem->m < problem->n ? problem->m : problem->n;
    const int64_t lines = problem->m < problem->n ? problem->n : problem->m;
    size_t i = 0;
    while (programs[i].program != kernel->program && programs[i].side < side)
        i++;
    xg_step *step = add_step(plan, programs[i].program, problem);
    const int64_t blocks = tiles_of(lines, kernel->tile_n), groups = tiles_of(side, kernel->tile_m);
    const xgemm_status status = set_grid(step, blocks, 1, kernel->block_x, 1, error);
    if (status)
        return status;
    if (groups > GRID_Y_MAX)
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel %s takes a C whose shorter side is at most %d", kernel->name,
                       GRID_Y_MAX * kernel->tile_m);
    step->grid[2] = (uint32_t)groups;
    return split(plan, problem, part_of(problem->k, blocks * groups, plan->processors, 512), error);
}

/* C = beta * C. */
static xgemm_status plan_scale(const xg_backend *backend, const xg_args *problem, xg_plan *plan,
                               xg_error *error)
{
    const bool host = !backend->can_run(&xg_program_scale);
    xg_step *step = add_step(plan, host ? &xg_program_scale_host : &xg_program_scale, problem);
    step->role = XG_STEP_SCALE;
    if (host)
        return set_grid(step, 1, 1, 1, 1, error);
    return set_grid(step, tiles_of(problem->n, 32), tiles_of(problem->m, 8), 32, 8, error);
}

xgemm_status xg_plan_make(const xg_backend *backend, int processors, const xg_kernel *kernel,
                          const xg_args *problem, size_t workspace_limit, xg_plan *plan,
                          xg_error *error)
{
    plan->kernel = NULL;
    plan->steps = 0;
    plan->processors = processors;
    plan->workspace_bytes = 0;
    memset(plan->step, 0, sizeof plan->step);
    if (problem->k == 0 || problem->alpha == 0.0f)
        return problem->beta == 1.0f ? XGEMM_OK : plan_scale(backend, problem, plan, error);

    plan->kernel = kernel                                ? kernel
                   : backend->can_run(&xg_program_scale) ? choose_device(problem)
                                                         : choose_host();
    const xgemm_status status = plan->kernel->steps(plan->kernel, problem, plan, error);
    if (!status && plan->workspace_bytes > workspace_limit)
        return xg_fail(error, XGEMM_ERROR_WORKSPACE,
                       "kernel %s needs a workspace of %zu bytes for m = %" PRId64 ", n = %" PRId64
                       ", k = %" PRId64 " (row order), and was given %zu",
                       plan->kernel->name, plan->workspace_bytes, problem->m, problem->n,
                       problem->k, workspace_limit);
    return status;
}

static void *at(void *workspace, size_t offset)
{
    return (char *)workspace + offset;
}

/* rows × columns elements, one of whose steps is 1, as lines. */
static xg_region region_of(const char *name, const float *base, int64_t rows, int64_t columns,
                           int64_t row_step, int64_t column_step)
{
    const bool by_rows = column_step == 1 && (row_step != 1 || rows == 1);
    const xg_region region = {.name = name,
                              .base = base,
                              .lines = by_rows ? rows : columns,
                              .width = by_rows ? columns : rows,
                              .step = by_rows ? row_step : column_step};
    return region;
}

/* A, B and C (the one that is written last), as a backend that watches wants to know them. */
static void set_regions(xg_launch *launch, const xg_args *p, xg_step_role role)
{
    const bool reads_a = role != XG_STEP_SCALE;
    if (reads_a)
        launch->regions[0] =
            region_of("A", p->a, p->m, role == XG_STEP_PRODUCT ? p->k : p->n, p->a_row, p->a_col);
    if (role == XG_STEP_PRODUCT)
        launch->regions[1] = region_of("B", p->b, p->k, p->n, p->b_row, p->b_col);
    const bool pads = role == XG_STEP_PAD;
    launch->regions[2] =
        region_of("C", p->c, pads ? p->k : p->m, pads ? p->c_row : p->n, p->c_row, 1);
    if (p->c_part > 0) {
        const bool reduces = role == XG_STEP_REDUCE;
        launch->regions[reduces ? 0 : 2] =
            (xg_region){.name = "parts",
                        .base = reduces ? p->a : p->c,
                        .lines = reduces ? p->k : tiles_of(p->k, p->k_part),
                        .width = p->c_part,
                        .step = p->c_part};
    }
}

xg_launch xg_step_launch(const xg_step *step, void *workspace, xg_args *args)
{
    *args = step->args;
    if (step->in_workspace & XG_A_IN_WORKSPACE)
        args->a = at(workspace, step->a_offset);
    if (step->in_workspace & XG_B_IN_WORKSPACE)
        args->b = at(workspace, step->b_offset);
    if (step->in_workspace & XG_C_IN_WORKSPACE)
        args->c = at(workspace, step->c_offset);
    xg_launch launch = {
        .program = step->program, .arguments = args, .arguments_size = sizeof *args};
    memcpy(launch.grid, step->grid, sizeof launch.grid);
    memcpy(launch.block, step->block, sizeof launch.block);
    set_regions(&launch, args, step->role);
    return launch;
}

xgemm_status xg_plan_run(const xg_plan *plan, const xg_backend *backend, xg_device *device,
                         void *stream, void *workspace, xg_error *error)
{
    xgemm_status status = XGEMM_OK;
    for (int i = 0; i < plan->steps && !status; i++) {
        xg_args args;
        const xg_launch launch = xg_step_launch(&plan->step[i], workspace, &args);
        status = backend->launch(device, stream, &launch, error);
    }
    return status;
}
