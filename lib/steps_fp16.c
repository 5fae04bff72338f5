/* SPDX-License-Identifier: BSD-3-Clause */
/* Products by FP16 parts: the split, and the product. */
#include "choice.h"
#include "kernels/fp16_layout.h"
#include "steps.h"

#include <inttypes.h>

/* A matrix that the split copies by fours, and so those of a batch's other products. */
static bool is_by_fours(const float *matrix, int64_t step, int64_t apart)
{
    return xg_split_by_fours(matrix, step) && apart % 4 == 0 && apart != XG_LISTS;
}

/* Whether every block of the split has a whole piece to copy by fours, and holds part of it. */
static bool split_is_even(const xg_args *p, const xg_fp16_layout *at)
{
    return p->m % XG_LINES_STEP == 0 && p->n % XG_LINES_STEP == 0 && p->k % XG_PIECE_K == 0 &&
           at->slice_chunks * XG_CHUNK_K == XG_PIECE_K &&
           is_by_fours(p->a, p->a_col == 1 ? p->a_row : p->a_col, p->a_batch) &&
           is_by_fours(p->b, p->b_row == 1 ? p->b_col : p->b_row, p->b_batch);
}

/* A matrix of which the split may copy some with a shift; its step along k. */
static bool is_shifted(const float *matrix, int64_t k_step, int64_t apart, const xg_fp16_layout *at)
{
    return xg_split_shifts(is_by_fours(matrix, k_step, apart), k_step == 1, k_step, at);
}

/* The split's shared memory, but for what it holds in registers. */
static uint32_t split_bytes(const xg_args *p, const xg_fp16_layout *at)
{
    const int pieces = xg_blocks_of(at->slice_chunks * XG_CHUNK_K, XG_PIECE_K);
    const bool shifts =
        is_shifted(p->a, p->a_col, p->a_batch, at) || is_shifted(p->b, p->b_row, p->b_batch, at);
    return XG_SPLIT_NOTES_BYTES + (uint32_t)pieces * XG_PIECE_BYTES +
           (shifts ? XG_SPLIT_FIFTH_BYTES : 0);
}

static xgemm_status add_split(xg_plan *plan, const xg_args *problem, const xg_fp16_layout *at,
                              int early_of_a, int parts, size_t workspace, xg_error *error)
{
    xg_args split = *problem;
    split.k = xg_split_k(problem->k);
    const bool even = split_is_even(&split, at);
    xg_step *step =
        xg_add_step(plan, even ? &xg_program_fp16_split_even : &xg_program_fp16_split, &split);
    const int64_t groups = (int64_t)(early_of_a + at->b_blocks) * (XG_UNIT_LINES / XG_SPLIT_LINES);
    step->role = XG_STEP_FP16_SPLIT;
    step->in_workspace = XG_C_IN_WORKSPACE;
    step->c_offset = workspace;
    step->args.k_part = step->parts = parts;
    step->args.a_batch = at->slices;
    step->args.b_batch = at->slice_chunks;
    step->args.c_row = early_of_a;
    step->cluster = (uint32_t)at->slices;
    step->overlaps = step->even = true;
    step->shared_bytes = split_bytes(&split, at) - (even ? XG_SPLIT_HELD_BYTES : 0);
    return xg_set_grid(step, at->slices, groups, XG_SPLIT_THREADS, 1, error);
}

/*
 * What the product's arguments say of the order of its tiles, and of the strips of C that it
 * computes besides: so many rows below, and columns beside; and what it splits itself.
 */
static void set_tiles(xg_step *product, const xg_kernel *kernel, const xg_fp16_layout *at,
                      int early_of_a, int64_t below, int64_t beside)
{
    xg_args *const args = &product->args;
    const int lines = kernel->tile_m * xg_blocks_together(kernel);
    const int group = XG_GROUP_LINES / lines, rows = xg_blocks_of(args->m, lines);
    const int columns = xg_blocks_of(args->n, kernel->tile_n);
    const int last = (rows - 1) % group + 1;
    const unsigned late = early_of_a < at->a_blocks ? (unsigned)early_of_a : XG_NONE_LATE;
    args->a_batch = xg_two_words((unsigned)below, xg_reciprocal(group * columns));
    args->b_batch =
        xg_two_words((unsigned)beside | (unsigned)at->slices << 16, xg_reciprocal(last));
    args->k_part |= (int64_t)(late << 16);
}

/*
 * With strips inside also blocks without a tile have something to do: as many as there are pieces
 * for the three warps of each that begin at once.
 */
static void ask_for_helpers(xg_fp16_rounds *rounds, const xg_plan *plan, const xg_kernel *kernel,
                            const xg_args *problem)
{
    enum { WARPS = 3 };
    const int64_t cluster = xg_blocks_together(kernel);
    const int64_t below = problem->m - plan->shape.m, beside = problem->n - plan->shape.n;
    const int64_t pieces = below * xg_tiles_of(problem->n, XG_STRIP_LINES) +
                           beside * xg_tiles_of(plan->shape.m, XG_STRIP_LINES);
    const int64_t wanted = xg_tiles_of(pieces, WARPS * cluster), most = plan->processors / cluster;
    const int64_t clusters = wanted < most ? wanted : most;
    if (rounds->clusters < clusters)
        rounds->clusters = clusters;
}

static xgemm_status add_product(const xg_kernel *kernel, xg_plan *plan, const xg_args *problem,
                                const xg_fp16_rounds *rounds, size_t workspace, xg_error *error)
{
    xg_step *step = xg_add_step(plan, kernel->program, problem);
    const int cluster = xg_blocks_together(kernel);
    step->role = XG_STEP_FP16_PRODUCT;
    step->in_workspace = XG_LIST_IN_WORKSPACE;
    step->list_offset = workspace;
    step->parts = kernel->parts;
    step->args.k_part = plan->shape.share | rounds->whole << 32; /* see kernels/fp16_share.inc */
    step->sums = rounds->sums;
    step->cluster = (uint32_t)kernel->cluster;
    step->overlaps = true;
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
    const bool inside = plan->shape.strips_inside && plan->shape.panels <= 1;
    if (inside)
        ask_for_helpers(&rounds, plan, kernel, problem);
    size_t workspace;
    if (!xg_reserve(plan, 1, at.bytes / 4 + rounds.sums, &workspace))
        return xg_fail(error, XGEMM_ERROR_OVERFLOW,
                       "the FP16 parts' size in bytes does not fit the address space");
    const int early_of_a = xg_fp16_early_of_a(kernel, plan->processors, &part, part.m, part.n,
                                              plan->shape.panels <= 1);
    xgemm_status status = add_split(plan, &part, &at, early_of_a, parts, workspace, error);
    if (!status)
        status = add_product(kernel, plan, &part, &rounds, workspace, error);
    if (status)
        return status;
    set_tiles(&plan->step[plan->steps - 1], kernel, &at, early_of_a,
              inside ? problem->m - plan->shape.m : 0, inside ? problem->n - plan->shape.n : 0);
    return inside || plan->shape.panels > 1 ? XGEMM_OK : add_strips(plan, problem, error);
}
