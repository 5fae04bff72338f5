/* SPDX-License-Identifier: BSD-3-Clause */
/* Products by FP16 parts: what strips of C are of, the split, and the product. */
#include "planner/choice.h"
#include "fp16_layout.h"
#include "planner/steps.h"

#include <inttypes.h>

_Static_assert(offsetof(xg_rework, recomputed) + sizeof(uint64_t) == sizeof(xg_rework),
               "see xg_begin_product()");

/* A matrix that the split copies by fours, and so those of a batch's other products. */
static bool is_by_fours(const float *matrix, int64_t step, int64_t apart)
{
    return xg_split_by_fours(matrix, step) && apart % 4 == 0 && apart != XG_LISTS;
}

/* Whether every block of the split has a whole piece to copy by fours, and holds part of it. */
static bool split_is_even(const xg_args *p, const xg_fp16_layout *at)
{
    return p->m % XG_LINES_STEP == 0 && p->n % XG_LINES_STEP == 0 &&
           xg_split_k(p->k) % XG_PIECE_K == 0 && at->slice_chunks * XG_CHUNK_K == XG_PIECE_K &&
           is_by_fours(p->a, p->a_stride_k == 1 ? p->a_stride_m : p->a_stride_k, p->a_batch) &&
           is_by_fours(p->b, p->b_stride_k == 1 ? p->b_stride_n : p->b_stride_k, p->b_batch);
}

/* A matrix of which the split may copy some with a shift; its step along k. */
static bool is_shifted(const float *matrix, int64_t k_step, int64_t apart, const xg_fp16_layout *at)
{
    return xg_split_shifts(is_by_fours(matrix, k_step, apart), k_step == 1, k_step, at);
}

/* What the plan's shape leaves for strips that the product and the split compute. */
typedef struct {
    int64_t below, beside; /* rows and columns of C; 0: other steps compute them */
    bool split;            /* the split computes most of them */
    int64_t floats;        /* of workspace, for it */
} strips;

static strips strips_of(const xg_plan *plan, const xg_args *problem, const xg_fp16_layout *at)
{
    const xg_shape *shape = &plan->shape;
    strips of = {0, 0, false, 0};
    if (!shape->strips_inside || shape->panels > 1)
        return of;
    of.below = problem->m - shape->m;
    of.beside = problem->n - shape->n;
    of.split = shape->strips_split;
    of.floats = of.split ? (of.below + of.beside) * xg_strip_vector(at) : 0;
    return of;
}

/* The split's shared memory, but for what it holds in registers. */
static uint32_t split_bytes(const xg_args *p, const xg_fp16_layout *at)
{
    const int pieces = xg_blocks_of(at->slice_chunks * XG_CHUNK_K, XG_PIECE_K);
    const bool shifts = is_shifted(p->a, p->a_stride_k, p->a_batch, at) ||
                        is_shifted(p->b, p->b_stride_k, p->b_batch, at);
    return XG_SPLIT_NOTES_BYTES + (uint32_t)pieces * XG_PIECE_BYTES +
           (shifts ? XG_SPLIT_FIFTH_BYTES : 0);
}

static xg_step *add_with_workspace(xg_plan *plan, const xg_program *program, xg_step_role role,
                                   const xg_args *problem, int parts, size_t workspace)
{
    xg_step *step = xg_add_step(plan, program, problem);
    step->role = role;
    step->in_workspace = XG_LIST_IN_WORKSPACE;
    step->list_offset = workspace;
    step->parts = parts;
    step->overlaps = true;
    return step;
}

/* What the split's arguments say, see kernels/fp16_layout.h. */
static void set_split(xg_args *args, const xg_fp16_layout *at, int early_of_a, const strips *of,
                      int parts)
{
    const unsigned beside = of->split ? (unsigned)of->beside : 0;
    args->k_part = parts | (int64_t)early_of_a << 16;
    args->a_batch = of->split ? of->below : 0;
    args->b_batch = xg_two_words(beside | (unsigned)at->slices << 16, (unsigned)at->slice_chunks);
}

static xgemm_status add_vectors(xg_plan *plan, const xg_args *problem, const xg_fp16_layout *at,
                                int early_of_a, const strips *of, int parts, size_t workspace,
                                xg_error *error)
{
    enum { THREADS = 256 };
    xg_step *step = add_with_workspace(plan, &xg_program_fp16_vectors, XG_STEP_FP16_VECTORS,
                                       problem, parts, workspace);
    set_split(&step->args, at, early_of_a, of, parts);
    step->sums = of->floats;
    return xg_set_grid(step, xg_tiles_of(xg_strip_vector(at), THREADS), of->below + of->beside,
                       THREADS, 1, error);
}

static xgemm_status add_split(xg_plan *plan, const xg_args *problem, const xg_fp16_layout *at,
                              int early_of_a, const strips *of, int parts, size_t workspace,
                              xg_error *error)
{
    const int64_t groups = (int64_t)(early_of_a + at->b_blocks) * (XG_UNIT_LINES / XG_SPLIT_LINES);
    const int64_t most = of->below > of->beside ? of->below : of->beside;
    const bool even = !of->split && split_is_even(problem, at);
    const xg_program *program = &xg_program_fp16_split;
    if (even)
        program = &xg_program_fp16_split_even;
    else if (of->split)
        program = &xg_program_fp16_split_strips;
    xg_step *step =
        add_with_workspace(plan, program, XG_STEP_FP16_SPLIT, problem, parts, workspace);
    set_split(&step->args, at, early_of_a, of, parts);
    step->sums = of->floats;
    step->cluster = (uint32_t)at->slices;
    step->even = true;
    step->shared_bytes = split_bytes(problem, at) - (even ? XG_SPLIT_HELD_BYTES : 0) +
                         (of->split ? (uint32_t)most * XG_SPLIT_STRIP_BYTES : 0);
    return xg_set_grid(step, at->slices, groups, XG_SPLIT_THREADS, 1, error);
}

/*
 * What the product's arguments say of the order of its tiles, and of the strips of C that it
 * computes besides: so many rows below, and columns beside; and what it splits itself.
 */
static void set_tiles(xg_step *product, const xg_kernel *kernel, const xg_fp16_layout *at,
                      int early_of_a, const strips *of)
{
    xg_args *const args = &product->args;
    const int lines = kernel->tile_m * xg_blocks_together(kernel);
    const int group = XG_GROUP_LINES / lines, rows = xg_blocks_of(args->m, lines);
    const int columns = xg_blocks_of(args->n, kernel->tile_n);
    const int last = (rows - 1) % group + 1;
    const unsigned split = of->split ? XG_STRIPS_ARE_SPLIT : 0;
    args->a_batch = xg_two_words((unsigned)of->below, xg_reciprocal(group * columns));
    args->b_batch = xg_two_words((unsigned)of->beside | split | (unsigned)at->slices << 16,
                                 xg_reciprocal(last));
    args->k_part |= (int64_t)(early_of_a < at->a_blocks ? early_of_a : XG_NONE_LATE) << 16;
}

/*
 * With strips inside also blocks without a tile have something to do: as many as there are pieces
 * for the three warps of each that begin at once.
 */
static void ask_for_helpers(xg_fp16_rounds *rounds, const xg_plan *plan, const xg_kernel *kernel,
                            const xg_args *problem, const strips *of)
{
    enum { WARPS = 3 };
    const int64_t cluster = xg_blocks_together(kernel);
    const int64_t pieces = of->below * xg_tiles_of(problem->n, XG_STRIP_LINES) +
                           of->beside * xg_tiles_of(plan->shape.m, XG_STRIP_LINES);
    const int64_t wanted = xg_tiles_of(pieces, WARPS * cluster), most = plan->processors / cluster;
    const int64_t clusters = wanted < most ? wanted : most;
    if (rounds->clusters < clusters)
        rounds->clusters = clusters;
}

static xgemm_status add_product(const xg_kernel *kernel, xg_plan *plan, const xg_args *problem,
                                const xg_fp16_rounds *rounds, const strips *of, size_t workspace,
                                xg_error *error)
{
    const int cluster = xg_blocks_together(kernel);
    xg_step *step = add_with_workspace(plan, kernel->program, XG_STEP_FP16_PRODUCT, problem,
                                       kernel->parts, workspace);
    step->args.k_part = plan->shape.share | rounds->whole << 32; /* see kernels/fp16_share.inc */
    step->sums = rounds->sums + of->floats;
    step->cluster = (uint32_t)kernel->cluster;
    step->shared_bytes = (uint32_t)kernel->shared_bytes;
    return xg_set_grid(step, rounds->clusters * cluster, 1, kernel->block_x, 1, error);
}

/* The strips that the tiles leave, in plain FP32. */
static xgemm_status add_strips(xg_plan *plan, const xg_args *p, xg_error *error)
{
    const xg_shape *s = &plan->shape;
    const xg_args below = xg_part_of_c(p, s->m, p->m - s->m, 0, p->n);
    const xg_args beside = xg_part_of_c(p, 0, s->m, s->n, p->n - s->n);
    const xgemm_status status = xg_add_strip(plan, &below, error);
    return status ? status : xg_add_strip(plan, &beside, error);
}

/* What the plan's shape says of the problem's first panel, or all of it. */
static xg_args first_panel(const xg_plan *plan, const xg_args *problem)
{
    const xg_shape *s = &plan->shape;
    xg_args part = xg_part_of_c(problem, 0, s->m, 0, s->n);
    if (s->panels > 1) {
        part.m = s->panel_m;
        part.n = s->panel_n;
        part.k = s->panel_k;
    }
    return part;
}

xgemm_status xg_steps_fp16(const xg_kernel *kernel, const xg_args *problem, xg_plan *plan,
                           xg_error *error)
{
    const int parts = kernel->parts;
    const xg_args part = first_panel(plan, problem);
    if (part.m > INT32_MAX / 2 || part.n > INT32_MAX / 2)
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel %s takes an m and n of at most %d at once", kernel->name,
                       INT32_MAX / 2);
    const xg_fp16_layout at = xg_fp16_layout_of(part.m, part.n, part.k, parts);
    xg_fp16_rounds rounds =
        xg_fp16_rounds_of(kernel, plan->processors, part.m, part.n, plan->shape.share);
    const strips of = strips_of(plan, problem, &at);
    if (!of.split)
        ask_for_helpers(&rounds, plan, kernel, problem, &of);
    size_t workspace;
    if (!xg_reserve(plan, 1, at.bytes / 4 + rounds.sums + of.floats, &workspace))
        return xg_fail(error, XGEMM_ERROR_OVERFLOW,
                       "the FP16 parts' size in bytes does not fit the address space");
    plan->recomputed = workspace + (size_t)at.list + offsetof(xg_rework, recomputed);
    const int early_of_a = xg_fp16_early_of_a(kernel, plan->processors, &part, part.m, part.n,
                                              plan->shape.share, plan->shape.panels <= 1);
    xgemm_status status = XGEMM_OK;
    if (of.split)
        status = add_vectors(plan, &part, &at, early_of_a, &of, parts, workspace, error);
    if (!status)
        status = add_split(plan, &part, &at, early_of_a, &of, parts, workspace, error);
    if (!status)
        status = add_product(kernel, plan, &part, &rounds, &of, workspace, error);
    if (status)
        return status;
    set_tiles(&plan->step[plan->steps - 1], kernel, &at, early_of_a, &of);
    return plan->shape.strips_inside || plan->shape.panels > 1 ? XGEMM_OK
                                                               : add_strips(plan, problem, error);
}
