/* SPDX-License-Identifier: BSD-3-Clause */
/* A plan of a kernel of FP32 from three FP16 products, computed by fp16x3_compact. */
#include "args.h"
#include "families/programs.h"
#include "fp16_layout.h"
#include "tensor.h"

#include <string.h>

_Static_assert(sizeof(xg_tensor_compact_args) <= XG_ARGUMENTS_BYTES, "see families/common/args.h");

/* What fp16x3_compact computes: a C that it need not read. */
static bool is_taken(const xg_candidate *of, const xg_request *request)
{
    enum { FP16_PRODUCTS = 3 };
    const xg_problem *const p = &request->problem;
    return xg_is_f32(p) && of->kernel->tensor_products == FP16_PRODUCTS && of->panels <= 1 &&
           !xg_tensor_is_batched(of, p) && !p->epilogue.beta_at && p->epilogue.beta.f32 == 0.0f;
}

/* The first tiles, if the kernel of one panel of B promotes cross products within them once more.
 */
static uint32_t broken_tiles(const xg_kernel *kernel, const xg_tensor_args *args, int clusters)
{
    const int k_blocks = (int)args->k_blocks;
    return kernel->tile_n > XG_ROW_BLOCK / 2 && k_blocks >= 2 * XG_CANCEL_BLOCKS &&
                   xg_can_skip(k_blocks, (int)args->product.whole_tiles, clusters)
               ? (uint32_t)clusters
               : 0;
}

bool xg_tensor_make_compact(const xg_candidate *of, const xg_request *request, xg_plan *plan)
{
    enum { BLOCK = 64, THREADS = 128, SHARED_BYTES = 2 * XG_TERM_BYTES + 8 };
    const xg_kernel *const kernel = of->kernel;
    const int ctas = xg_cluster_size(kernel);
    if (!is_taken(of, request))
        return false;
    xg_step *const step = xg_plan_product(plan);
    xg_tensor_compact_args args = {.tile_rows = (uint16_t)(kernel->tile_m * ctas),
                                   .tile_columns = (uint16_t)kernel->tile_n,
                                   .promotes_cross = kernel->tile_n > XG_ROW_BLOCK};
    memcpy(&args.product, step->arguments, sizeof args.product);
    args.broken_tiles = broken_tiles(kernel, &args.product, (int)step->grid[0] / ctas);
    const int64_t blocks = xg_ceil_div(args.product.m, BLOCK) * xg_ceil_div(args.product.n, BLOCK);
    if (blocks > INT32_MAX)
        return false;
    xg_step_replace(step, &xg_program_fp16x3_compact, &args, sizeof args, blocks, THREADS);
    step->shared_bytes = SHARED_BYTES;
    return true;
}
