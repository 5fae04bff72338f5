/* SPDX-License-Identifier: BSD-3-Clause */
/* A plan of a kernel of sliced.inc, computed by simt_compact. */
#include "args.h"
#include "families/programs.h"
#include "simt.h"

#include <string.h>

_Static_assert(sizeof(xg_simt_compact_args) <= XG_ARGUMENTS_BYTES, "see families/common/args.h");

/* Products of elements that take some 10 ms. */
#define MOST_PRODUCTS 4e9

bool xg_simt_make_compact(const xg_candidate *of, const xg_request *request, xg_plan *plan)
{
    enum { ROWS = 8, COLUMNS = 32, THREADS = ROWS * COLUMNS }; /* of C, an element a thread */
    const xg_problem *const p = &request->problem;
    const xg_kernel *const kernel = of->kernel;
    if (!xg_is_f32(p) || !kernel->slices ||
        (double)p->m * (double)p->n * (double)p->k * (double)p->batch_count > MOST_PRODUCTS)
        return false;
    xg_step *const step = xg_plan_product(plan); /* of tiles: strips come after it */
    xg_simt_compact_args args = {
        .order = {.cluster = step->cluster > 1 ? (int32_t)step->cluster : 1,
                  .slices = kernel->slices,
                  .slice_k = kernel->tile_k / kernel->slices,
                  .stage_k = kernel->tile_k}};
    memcpy(&args.product, step->arguments, sizeof args.product);
    xg_step_replace(step, &xg_program_simt_compact, &args, sizeof args,
                    xg_ceil_div(args.product.m, ROWS) * xg_ceil_div(args.product.n, COLUMNS),
                    THREADS);
    return true;
}
