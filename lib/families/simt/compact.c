/* SPDX-License-Identifier: BSD-3-Clause */
/* A plan of a kernel of sliced.inc, computed by simt_compact. */
#include "args.h"
#include "families/programs.h"
#include "simt.h"

#include <string.h>

_Static_assert(sizeof(xg_simt_compact_args) <= XG_ARGUMENTS_BYTES, "see families/common/args.h");

/* Products of elements that take some 10 ms. */
#define MOST_PRODUCTS 4e9

/* The grid: of CTAs of 8 x 32 elements of C. */
static int64_t ctas_of(const xg_simt_args *args)
{
    enum { ROWS = 8, COLUMNS = 32 };
    return xg_ceil_div(args->m, ROWS) * xg_ceil_div(args->n, COLUMNS);
}

static void replace_product(const xg_kernel *kernel, xg_step *step, xg_simt_compact_args *args)
{
    enum { THREADS = 256 };
    args->order = (xg_simt_order){.cluster = step->cluster > 1 ? (int32_t)step->cluster : 1,
                                  .slices = kernel->slices,
                                  .slice_k = kernel->tile_k / kernel->slices,
                                  .stage_k = kernel->tile_k};
    memcpy(step->arguments, args, sizeof *args);
    step->arguments_size = sizeof *args;
    step->program = &xg_program_simt_compact;
    step->grid[0] = (uint32_t)ctas_of(&args->product);
    step->block[0] = THREADS;
    step->block[1] = step->block[2] = 1;
    step->cluster = step->shared_bytes = 0;
    step->pdl = step->spread = false;
}

bool xg_simt_make_compact(const xg_candidate *of, const xg_request *request, xg_plan *plan)
{
    const xg_problem *const p = &request->problem;
    xg_simt_compact_args args = {.order = {0}};
    if (!xg_is_f32(p) || !of->kernel->slices ||
        (double)p->m * (double)p->n * (double)p->k * (double)p->batch_count > MOST_PRODUCTS)
        return false;
    int tiles = 0; /* the step that computes them, before those of strips */
    while (!plan->steps[tiles].is_product)
        tiles++;
    memcpy(&args.product, plan->steps[tiles].arguments, sizeof args.product);
    replace_product(of->kernel, &plan->steps[tiles], &args);
    return true;
}
