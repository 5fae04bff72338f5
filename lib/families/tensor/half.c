/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * F16 and BF16 operands: a pass that copies them as operand tiles, and the product of these, for
 * as many products of a batch as the workspace is to hold.
 */
#include "half.h"

#include "families/programs.h"
#include "families/typed.h"
#include "fp16_layout.h"
#include "half_args.h"

#include <math.h>
#include <stddef.h>

_Static_assert(sizeof(xg_half_args) <= XG_ARGUMENTS_BYTES &&
                   sizeof(xg_half_pack_args) <= XG_ARGUMENTS_BYTES,
               "see plan/plan.h");

enum { PRODUCT_THREADS = 384, PACK_THREADS = 256 };

/* Tiles of a pass, at most, unless a single product has more; and of that. */
#define PASS_BYTES    0x1p29
#define PRODUCT_BYTES 0x1p34

/* The operand tiles of a product, and how many copies of A's and of B's a pass has. */
typedef struct {
    int a_blocks, b_blocks, k_blocks;
    int64_t a_copies, b_copies;
    double bytes;
} tiles;

static tiles tiles_of(const xg_problem *p, int64_t products)
{
    tiles of = {.a_blocks = xg_row_blocks(p->m),
                .b_blocks = xg_row_blocks(p->n),
                .k_blocks = xg_blocks_of(p->k, XG_K_BLOCK),
                .a_copies = p->a_batch_stride ? products : 1,
                .b_copies = p->b_batch_stride ? products : 1};
    of.bytes =
        ((double)of.a_blocks * (double)of.a_copies + (double)of.b_blocks * (double)of.b_copies) *
        (double)of.k_blocks * XG_TERM_BYTES;
    return of;
}

bool xg_half_applies(const xg_kernel *kernel, const xg_request *request)
{
    const xg_problem *const p = &request->problem;
    const int64_t most = INT32_MAX / 2;
    if (!kernel->typed[p->type_a] || p->pointer_arrays || p->m > most || p->n > most || p->k > most)
        return false;
    const tiles of = tiles_of(p, 1);
    return of.a_blocks + of.b_blocks <= XG_GRID_Y_MAX && of.bytes <= PRODUCT_BYTES;
}

/* The products of a pass: as many as fit what there is. */
static int64_t products_of(const xg_request *request)
{
    const xg_problem *const p = &request->problem;
    const double limit = (double)request->workspace_limit;
    const double room =
        request->workspace_limit == SIZE_MAX ? PASS_BYTES : xg_smaller(limit, PASS_BYTES);
    int64_t products = p->batch_count < XG_GRID_Z_MAX ? p->batch_count : XG_GRID_Z_MAX;
    while (products > 1 && tiles_of(p, products).bytes > room)
        products = xg_ceil_div(products, 2);
    return products;
}

/*
 * The time of a pass: the copies at the split's speed, and waves of tiles at that of the kernel's
 * own FP16 terms, of which there is one here, too. To be fitted to measurements of these programs.
 */
xg_candidate xg_half_candidate(const xg_kernel *kernel, const xg_request *request)
{
    const xg_problem *const p = &request->problem;
    const xg_costs *const costs = request->target.costs;
    const xg_tensor_cost *const cost = &costs->tensor[kernel->id];
    const int ctas = xg_cluster_size(kernel), all = request->target.multiprocessors;
    xg_candidate of = xg_candidate_begin(kernel, request);
    of.batch_per_pass = products_of(request);
    const tiles copied = tiles_of(p, of.batch_per_pass);
    const double count = (double)of.batch_per_pass;
    const double clusters = all > ctas ? all / ctas : 1;
    const double per_product = (double)xg_ceil_div(p->m, (int64_t)kernel->tile_m * ctas) *
                               (double)xg_ceil_div(p->n, kernel->tile_n);
    const double waves = ceil(per_product * count / clusters);
    const double share = costs->l2_bytes / (2.0 * (double)(p->m + p->n) * (double)p->k);
    const double block =
        cost->in_l2_us + (cost->beyond_l2_us - cost->in_l2_us) * xg_larger(1.0 - share, 0.0);
    const double pass_us = costs->launch_us + costs->split_us +
                           2.0 * copied.bytes / costs->split_rate + costs->product_us +
                           waves * ((double)copied.k_blocks * block + cost->tile_us);
    of.microseconds = xg_passes_us(costs, pass_us, xg_ceil_div(p->batch_count, of.batch_per_pass));
    return of;
}

double xg_half_workspace(const xg_candidate *of, const xg_request *request)
{
    return tiles_of(&request->problem, of->batch_per_pass).bytes;
}

static xgemm_status add_pack(const xg_problem *p, const tiles *of, int64_t offset, xg_plan *plan,
                             xg_error *error)
{
    const xg_half_pack_args args = {.m = p->m,
                                    .n = p->n,
                                    .k = p->k,
                                    .a_stride_m = p->a_stride_m,
                                    .a_stride_k = p->a_stride_k,
                                    .b_stride_k = p->b_stride_k,
                                    .b_stride_n = p->b_stride_n,
                                    .a_batch_stride = p->a_batch_stride,
                                    .b_batch_stride = p->b_batch_stride,
                                    .b_tiles =
                                        of->a_copies * of->a_blocks * of->k_blocks * XG_TERM_BYTES,
                                    .a_blocks = (uint32_t)of->a_blocks,
                                    .b_blocks = (uint32_t)of->b_blocks,
                                    .k_blocks = (uint32_t)of->k_blocks,
                                    .a_copies = (uint32_t)of->a_copies,
                                    .b_copies = (uint32_t)of->b_copies};
    const int64_t words = (int64_t)(of->bytes / 4.0);
    xg_step *const step = xg_plan_add(plan, &xg_program_half_pack, &args, sizeof args, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    xg_step_point(step, offsetof(xg_half_pack_args, a), xg_at_a(plan, p));
    xg_step_point(step, offsetof(xg_half_pack_args, b), xg_at_b(plan, p));
    xg_step_point(step, offsetof(xg_half_pack_args, tiles), xg_at_workspace(offset));
    xg_region_a(step, plan, p);
    xg_region_b(step, plan, p);
    xg_step_region(step, XG_REGION_WORKSPACE, "operand tiles", xg_at_workspace(offset), 1, words,
                   words, XG_F32);
    return xg_step_grid(step, of->k_blocks, of->a_blocks + of->b_blocks, PACK_THREADS, 1, error);
}

/* Four elements of C to four of them, in every row and product. */
static bool c_is_aligned(const xg_problem *p)
{
    const uintptr_t bytes = 4 * xg_type_bytes(p->type_c);
    return (uintptr_t)p->c % bytes == 0 && p->c_stride_m % 4 == 0 && p->c_batch_stride % 4 == 0;
}

static xgemm_status add_product(const xg_candidate *candidate, const xg_request *request,
                                const tiles *of, int64_t offset, xg_plan *plan, xg_error *error)
{
    const xg_kernel *const kernel = candidate->kernel;
    const xg_problem *const p = &request->problem;
    const int64_t a_bytes = (int64_t)of->a_blocks * of->k_blocks * XG_TERM_BYTES;
    const int64_t b_bytes = (int64_t)of->b_blocks * of->k_blocks * XG_TERM_BYTES;
    const int ctas = xg_cluster_size(kernel), all = request->target.multiprocessors;
    const int64_t most = all > ctas ? all / ctas : 1;
    const int64_t count =
        xg_ceil_div(p->m, (int64_t)kernel->tile_m * ctas) * xg_ceil_div(p->n, kernel->tile_n);
    const xg_half_args args = {.m = p->m,
                               .n = p->n,
                               .k = p->k,
                               .c_stride_m = p->c_stride_m,
                               .c_batch_stride = p->c_batch_stride,
                               .b_tiles = of->a_copies * a_bytes,
                               .a_batch_bytes = of->a_copies > 1 ? a_bytes : 0,
                               .b_batch_bytes = of->b_copies > 1 ? b_bytes : 0,
                               .k_blocks = (uint32_t)of->k_blocks,
                               .c_is_aligned = c_is_aligned(p),
                               .epilogue = xg_typed_args_of(p).epilogue};
    const int64_t words = (int64_t)(of->bytes / 4.0);
    xg_step *const step = xg_plan_add(plan, kernel->typed[p->type_a], &args, sizeof args, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    step->is_product = true;
    step->pdl = true;
    step->cluster = (uint32_t)kernel->cluster;
    step->shared_bytes = (uint32_t)kernel->shared_bytes;
    xg_step_point(step, offsetof(xg_half_args, tiles), xg_at_workspace(offset));
    xg_step_point(step, offsetof(xg_half_args, c), xg_at_c(plan, p));
    xg_point_epilogue(step, offsetof(xg_half_args, epilogue), p);
    xg_region_c(step, plan, p);
    xg_regions_of_epilogue(step, p);
    xg_step_region(step, XG_REGION_WORKSPACE, "operand tiles", xg_at_workspace(offset), 1, words,
                   words, XG_F32);
    return xg_step_grid(step, (count < most ? count : most) * ctas, 1, PRODUCT_THREADS, 1, error);
}

xgemm_status xg_half_build(const xg_candidate *of, const xg_request *request, xg_plan *plan,
                           xg_error *error)
{
    const xg_problem *const p = &request->problem;
    int64_t offset;
    if (!xg_half_applies(of->kernel, request))
        return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                       "kernel %s cannot compute a product of this size or of pointer arrays in "
                       "%s; auto can",
                       of->kernel->name, xg_type_name(p->type_a));
    const tiles copied = tiles_of(p, of->batch_per_pass);
    if (!xg_plan_reserve(plan, 1, (int64_t)(copied.bytes / 4.0), XG_F32, "the operand tiles",
                         &offset, error))
        return XGEMM_ERROR_OVERFLOW;
    const xgemm_status status = add_pack(p, &copied, offset, plan, error);
    return status ? status : add_product(of, request, &copied, offset, plan, error);
}
