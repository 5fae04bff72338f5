/* SPDX-License-Identifier: BSD-3-Clause */
/* The pipelined kernels: copies that align the operands, tiles, strips at the edges. */
#include "planner/choice.h"
#include "planner/steps.h"

#include <inttypes.h>

enum { PACK_WIDE = 64, PACK_DEEP = 32 };

/* Where a step finds its operands: as they came, or packed. */
typedef struct {
    bool a, b;
    size_t a_offset, b_offset;
    int64_t a_line, b_line;
    int64_t a_apart, b_apart; /* from one product's copy to the next's */
} packed;

/* How many copies of an operand: one where all products share it. */
static int64_t copies_of(const xg_plan *plan, int64_t apart)
{
    return apart ? plan->shape.together : 1;
}

static xgemm_status add_pack_step(xg_plan *plan, const xg_args *problem, const packed *to, bool a,
                                  bool b, xg_error *error)
{
    xg_step *step = xg_add_step(plan, &xg_program_pack, problem);
    const int64_t widest = a && (!b || to->a_line > to->b_line) ? to->a_line : to->b_line;
    const int64_t deep = xg_tiles_of(problem->k, PACK_DEEP);
    step->role = XG_STEP_PACK;
    step->overlaps = true;
    step->in_workspace = XG_C_IN_WORKSPACE;
    step->c_offset = a ? to->a_offset : to->b_offset;
    step->args.c_stride_m = to->a_line;
    step->args.c_batch = to->b_line;
    if (b)
        step->args.a_batch = a ? (int64_t)(to->b_offset - to->a_offset) / 4 : 0;
    step->args.k_part = (a ? 1 : 0) + (b ? 2 : 0);
    step->once = copies_of(plan, a ? problem->a_batch : problem->b_batch) == 1;
    const xgemm_status status =
        xg_set_grid(step, xg_tiles_of(widest, PACK_WIDE),
                    deep < XG_GRID_Y_MAX ? deep : XG_GRID_Y_MAX, 256, 1, error);
    step->grid[2] = a && b ? 2 : 1;
    return status;
}

static xgemm_status add_pack(const xg_kernel *kernel, xg_plan *plan, const xg_args *problem,
                             packed *to, xg_error *error)
{
    const unsigned copied = xg_copied(kernel, problem, &plan->shape);
    to->a = copied & XG_COPIES_A;
    to->b = copied & XG_COPIES_B;
    to->a_line = xg_packed_line(problem->m);
    to->b_line = xg_packed_line(problem->n);
    if (!to->a && !to->b)
        return XGEMM_OK;
    /* A kernel that reads anything asks whether it may read a last four whole. */
    const int64_t alone = !kernel->packs && plan->shape.together == 1 ? XG_PADDED : 0;
    const int64_t a_copies = copies_of(plan, problem->a_batch),
                  b_copies = copies_of(plan, problem->b_batch);
    if ((to->a && !xg_reserve(plan, problem->k * a_copies, to->a_line, &to->a_offset)) ||
        (to->b && !xg_reserve(plan, problem->k * b_copies, to->b_line, &to->b_offset)))
        return xg_fail(error, XGEMM_ERROR_OVERFLOW,
                       "the aligned copies' size in bytes does not fit the address space");
    to->a_apart = a_copies > 1 ? problem->k * to->a_line : alone;
    to->b_apart = b_copies > 1 ? problem->k * to->b_line : alone;
    if (plan->shape.together == 1)
        return add_pack_step(plan, problem, to, to->a, to->b, error);
    /* The grid's z is the product's number: a launch for each operand. */
    xgemm_status status = XGEMM_OK;
    if (to->a)
        status = add_pack_step(plan, problem, to, true, false, error);
    if (to->b && !status)
        status = add_pack_step(plan, problem, to, false, true, error);
    return status;
}

static void use_packed(xg_step *step, const packed *from)
{
    if (from->a) {
        step->in_workspace |= XG_A_IN_WORKSPACE;
        step->a_offset = from->a_offset;
        step->args.a_stride_m = 1;
        step->args.a_stride_k = from->a_line;
        step->args.a_batch = from->a_apart;
    }
    if (from->b) {
        step->in_workspace |= XG_B_IN_WORKSPACE;
        step->b_offset = from->b_offset;
        step->args.b_stride_k = from->b_line;
        step->args.b_stride_n = 1;
        step->args.b_batch = from->b_apart;
    }
}

xg_args xg_part_of_c(const xg_args *p, int64_t row, int64_t rows, int64_t column, int64_t columns)
{
    xg_args part = *p;
    part.m = rows;
    part.n = columns;
    part.a += row * p->a_stride_m;
    part.b += column * p->b_stride_n;
    part.c += row * p->c_stride_m + column;
    return part;
}

/*
 * The last tiles shared by all blocks: kernels/tma_share.inc. Room for what these leave, and a step
 * that sets their counts to zero.
 */
static xgemm_status add_share(const xg_kernel *kernel, xg_plan *plan, const xg_args *problem,
                              size_t *offset, xg_error *error)
{
    const int64_t blocks = xg_sharers_of(kernel, &plan->shape, problem->k);
    const int64_t tile = (int64_t)kernel->tile_m * kernel->tile_n;
    if (blocks == 0)
        return XGEMM_OK;
    if (!xg_reserve(plan, blocks, tile + 1, offset))
        return xg_fail(error, XGEMM_ERROR_OVERFLOW,
                       "the shared tiles' sums do not fit the address space");
    const xg_args counts = {.m = 1, .n = blocks, .k = 1, .c_stride_m = blocks};
    xg_step *step = xg_add_step(plan, &xg_program_scale, &counts);
    step->role = XG_STEP_SCALE;
    step->overlaps = true;
    step->in_workspace = XG_C_IN_WORKSPACE;
    step->c_offset = *offset + (size_t)(blocks * tile) * sizeof(float);
    return xg_set_grid(step, xg_tiles_of(blocks, 32), 1, 32, 8, error);
}

/* Of a kernel with maps: its tiles for the copy engine, and what of them so many blocks share. */
static void set_share(xg_step *step, const xg_kernel *kernel, const xg_shape *shape, int64_t blocks,
                      size_t offset)
{
    step->tile[0] = kernel->tile_m;
    step->tile[1] = kernel->tile_n;
    step->tile[2] = kernel->tile_k;
    step->args.a_batch = shape->share;
    step->args.b_batch = blocks;
    if (blocks > 0) {
        step->in_workspace |= XG_LIST_IN_WORKSPACE;
        step->list_offset = offset;
        step->sums = blocks * ((int64_t)kernel->tile_m * kernel->tile_n + 1);
    }
}

static xgemm_status add_tiles(const xg_kernel *kernel, xg_plan *plan, const xg_args *problem,
                              const packed *operands, size_t sums, xg_error *error)
{
    xg_step *step = xg_add_step(plan, kernel->program, problem);
    const int64_t tiles =
        xg_tiles_of(problem->m, kernel->tile_m) * xg_tiles_of(problem->n, kernel->tile_n);
    const int64_t sharers = xg_sharers_of(kernel, &plan->shape, problem->k);
    const xgemm_status status =
        xg_set_grid(step, tiles - plan->shape.shared + sharers, 1, kernel->block_x, 1, error);
    if (status)
        return status;
    step->shared_bytes = (uint32_t)kernel->shared_bytes;
    step->overlaps = true;
    step->even = true;
    use_packed(step, operands);
    step->program = xg_kernel_program(kernel, &step->args);
    if (kernel->has_maps)
        set_share(step, kernel, &plan->shape, sharers, sums);
    return xg_split(plan, step, problem, plan->shape.k_part, plan->shape.cluster, error);
}

xgemm_status xg_add_strip(xg_plan *plan, const xg_args *strip, xg_error *error)
{
    const xg_kernel *const skinny = xg_kernel_named("skinny");
    const int first = plan->steps;
    if (strip->m == 0 || strip->n == 0)
        return XGEMM_OK;
    const xgemm_status status = skinny->steps(skinny, strip, plan, error);
    plan->step[first].args.b_batch = 1; /* beside the tiles: see skinny.inc */
    return status;
}

xgemm_status xg_steps_pipelined(const xg_kernel *kernel, const xg_args *p, xg_plan *plan,
                                xg_error *error)
{
    const xg_shape shape = plan->shape;
    const xg_args tiles = xg_part_of_c(p, 0, shape.m, 0, shape.n);
    const xg_args below = xg_part_of_c(p, shape.m, p->m - shape.m, 0, p->n);
    const xg_args beside = xg_part_of_c(p, 0, shape.m, shape.n, p->n - shape.n);
    packed operands = {false, false, 0, 0, 0, 0, 0, 0};
    size_t sums = 0;
    xgemm_status status = XGEMM_OK;
    if (kernel->has_maps && !xg_maps_reach(p))
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel %s counts rows, columns and k in 31 bits, for the copy engine",
                       kernel->name);
    if (kernel->has_maps)
        status = add_share(kernel, plan, &tiles, &sums, error);
    if (!status)
        status = add_pack(kernel, plan, &tiles, &operands, error);
    if (!status)
        status = add_tiles(kernel, plan, &tiles, &operands, sums, error);
    if (!status)
        status = xg_add_strip(plan, &below, error);
    if (!status)
        status = xg_add_strip(plan, &beside, error);
    return status;
}
