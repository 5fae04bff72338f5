/* SPDX-License-Identifier: BSD-3-Clause */
/* Products whose k is split over blocks, and the kernel "skinny", which does so. */
#include "planner/choice.h"
#include "skinny1_across.h"
#include "planner/steps.h"

enum { REDUCE_THREADS = 256 };

/* Threads that share an element of C, a power of two: for a small C of many parts. */
static int64_t shares_of(int64_t elements, int64_t parts)
{
    enum { SHARES_MOST = 16, PARTS_LEAST = 4, THREADS_ENOUGH = 1 << 17 };
    int64_t shares = 1;
    while (shares < SHARES_MOST && shares * 2 * PARTS_LEAST <= parts &&
           elements * shares * 2 <= THREADS_ENOUGH)
        shares *= 2;
    return shares;
}

xgemm_status xg_split(xg_plan *plan, xg_step *product, const xg_args *problem, int64_t k_part,
                      int cluster, xg_error *error)
{
    const int64_t parts = xg_sums_of(problem->k, k_part, cluster);
    size_t offset;
    product->args.k_part = k_part;
    if (cluster > 1) {
        product->cluster = (uint32_t)cluster;
        product->grid[0] *= product->cluster; /* few: a GPU's worth of blocks, see choice_tiles.c */
    }
    if (parts == 1)
        return XGEMM_OK;
    if (!xg_reserve(plan, parts * plan->shape.together, problem->m * problem->n, &offset))
        return xg_fail(error, XGEMM_ERROR_OVERFLOW,
                       "the partial sums' size in bytes does not fit the address space");
    product->grid[1] = (uint32_t)parts;
    product->in_workspace |= XG_C_IN_WORKSPACE;
    product->c_offset = offset;
    product->args.c_stride_m = problem->n;
    product->args.c_batch = parts * problem->m * problem->n;
    product->args.alpha = 1.0f;
    product->args.beta = 0.0f;

    const int64_t elements = problem->m * problem->n, shares = shares_of(elements, parts);
    const xg_args sum = {.m = problem->m,
                         .n = problem->n,
                         .k = parts,
                         .a_stride_m = problem->n,
                         .a_stride_k = 1,
                         .a_batch = product->args.c_batch,
                         .c = problem->c,
                         .c_stride_m = problem->c_stride_m,
                         .c_batch = problem->c_batch,
                         .alpha = problem->alpha,
                         .beta = problem->beta,
                         .k_part = shares};
    xg_step *step = xg_add_step(plan, &xg_program_reduce, &sum);
    step->role = XG_STEP_REDUCE;
    step->overlaps = true;
    step->in_workspace = XG_A_IN_WORKSPACE;
    step->a_offset = offset;
    return xg_set_grid(step, xg_tiles_of(elements, REDUCE_THREADS / shares), 1, REDUCE_THREADS, 1,
                       error);
}

/* The program for the side, of as many threads as it says; those for vectors have their own. */
static const xg_program *skinny_program(const xg_kernel *kernel, const xg_skinny_shape *shape,
                                        int *threads)
{
    enum { LINES_THREADS = 128 };
    static const struct {
        int side;
        const xg_program *program;
    } programs[] = {{2, &xg_program_skinny2},
                    {4, &xg_program_skinny4},
                    {8, &xg_program_skinny8},
                    {16, &xg_program_skinny16}};
    size_t i = 0;
    *threads = shape->along_k ? LINES_THREADS : shape->across ? 32 * shape->warps : kernel->block_x;
    if (shape->along_k || shape->across)
        return shape->along_k ? &xg_program_skinny1_lines : &xg_program_skinny1_across;
    while (programs[i].program != kernel->program && programs[i].side < shape->side)
        i++;
    return programs[i].program;
}

xgemm_status xg_steps_skinny(const xg_kernel *kernel, const xg_args *problem, xg_plan *plan,
                             xg_error *error)
{
    const xg_skinny_shape shape = xg_skinny_of(problem, plan->processors, plan->architecture);
    int threads;
    const xg_program *program = skinny_program(kernel, &shape, &threads);
    xg_step *step = xg_add_step(plan, program, problem);
    step->overlaps = true;
    step->shared_bytes = shape.across ? sizeof(xg_across_shared) : 0;
    step->args.b_batch = 0; /* no strip; other products' matrices are b_apart further on */
    const xgemm_status status = xg_set_grid(step, shape.blocks, 1, threads, 1, error);
    if (status)
        return status;
    if (shape.groups > XG_GRID_Y_MAX)
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel %s takes a C whose shorter side is at most %d", kernel->name,
                       XG_GRID_Y_MAX * kernel->tile_m);
    step->grid[2] = (uint32_t)shape.groups;
    return xg_split(plan, step, problem, shape.part, shape.cluster, error);
}
