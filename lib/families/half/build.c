/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The launches: copies of operands that TMA cannot read as they lie, the product, and with split-K
 * the reduction; for as many products of a batch as the workspace is to hold.
 */
#include "args.h"
#include "families/programs.h"
#include "families/typed.h"
#include "half.h"

#include <stddef.h>

_Static_assert(sizeof(xg_half_args) <= XG_ARGUMENTS_BYTES &&
                   sizeof(xg_half_align_args) <= XG_ARGUMENTS_BYTES &&
                   sizeof(xg_half_reduce_args) <= XG_ARGUMENTS_BYTES,
               "see plan/plan.h");

enum {
    PRODUCT_THREADS = 384,
    ALIGN_THREADS = 256,
    ALIGN_CHUNKS = 4, /* of a thread */
    ROW_BLOCK = 64,   /* rows, or k, of a box of a tensor map */
    WARP_ROWS = 16,   /* of a box of C's, of so many bytes each */
    LINE_BYTES = 128,
    RING_BYTES = 4 * 48 * 1024,
    STAGED_BYTES = 8 * 16 * 272 /* of the epilogue: wgmma_store.inc */
};

/* By the tile: 64, 128 or 256 columns; with splits within a cluster 64 or 128, of 64 rows 64; of
   ragged groups 64 or 256. */
static const xg_program *program_of(const xg_problem *p, int tile_n, bool splits_in_cluster,
                                    int cta_rows)
{
    const bool f16 = p->type_a == XG_F16;
    if (splits_in_cluster && cta_rows < XG_HALF_TILE_M)
        return f16 ? &xg_program_wgmma_sliced_f16_64x64 : &xg_program_wgmma_sliced_bf16_64x64;
    if (splits_in_cluster && tile_n == 64)
        return f16 ? &xg_program_wgmma_split_k_f16_128x64 : &xg_program_wgmma_split_k_bf16_128x64;
    if (splits_in_cluster)
        return f16 ? &xg_program_wgmma_split_k_f16_128x128 : &xg_program_wgmma_split_k_bf16_128x128;
    if (p->groups > 0 && tile_n == 64)
        return f16 ? &xg_program_wgmma_ragged_f16_128x64 : &xg_program_wgmma_ragged_bf16_128x64;
    if (p->groups > 0)
        return f16 ? &xg_program_wgmma_ragged_f16_128x256 : &xg_program_wgmma_ragged_bf16_128x256;
    if (tile_n == 64)
        return f16 ? &xg_program_wgmma_f16_128x64 : &xg_program_wgmma_bf16_128x64;
    if (tile_n == 128)
        return f16 ? &xg_program_wgmma_f16_128x128 : &xg_program_wgmma_bf16_128x128;
    return f16 ? &xg_program_wgmma_f16_128x256 : &xg_program_wgmma_bf16_128x256;
}

/* The ring buffer, two mbarriers for each of the most stages, and the staged rows. */
static uint32_t shared_bytes(int tile_n)
{
    const int stage = (XG_HALF_TILE_M + tile_n) * xg_half_tile_k(tile_n) * 2;
    const int stages = tile_n == 64 ? XG_HALF_STAGES_MOST : RING_BYTES / stage;
    return RING_BYTES + (uint32_t)stages * 16 + STAGED_BYTES;
}

/* Stages that fit the ring buffer, of so many rows of the operands' tiles: see wgmma.inc. */
static int stages_of(int a_rows, int b_rows, int tile_n)
{
    const int rows = a_rows + (a_rows % ROW_BLOCK == 0 ? b_rows : tile_n);
    const int fit = RING_BYTES / (rows * xg_half_tile_k(tile_n) * 2);
    return fit < XG_HALF_STAGES_MOST ? fit : XG_HALF_STAGES_MOST;
}

typedef xg_half_launches launches;

bool xg_half_reserve(launches *of, xg_plan *plan, xg_error *error)
{
    const xg_half_operand *const operands[2] = {&of->a, &of->b};
    int64_t *const at[2] = {&of->room.a, &of->room.b};
    of->room = (xg_half_rooms){-1, -1, -1};
    for (int i = 0; i < 2; i++)
        if (!operands[i]->aligned &&
            !xg_plan_reserve(plan, operands[i]->lines * (operands[i]->batched ? of->products : 1),
                             operands[i]->copied_stride, of->problem->type_a,
                             "an operand's aligned copy", at[i], error))
            return false;
    if (of->schedule.split_tiles > 0 &&
        !xg_plan_reserve(plan, of->products, (int64_t)(of->schedule.sum_bytes / 4), XG_F32,
                         "split-K's partial sums", &of->room.sums, error))
        return false;
    return true;
}

static xg_half_aligned aligned_of(const xg_half_operand *of, const xg_problem *p)
{
    return (xg_half_aligned){.lines = of->lines,
                             .length = of->length,
                             .stride = of->stride,
                             .batch_stride =
                                 p->pointer_arrays ? XG_POINTER_ARRAYS : of->batch_stride,
                             .to_stride = of->copied_stride};
}

/* CTAs for one product's copy. */
static int64_t copying_ctas(const xg_half_operand *of)
{
    return of->aligned ? 0
                       : xg_ceil_div(of->lines * (of->copied_stride / XG_HALF_ALIGNMENT),
                                     ALIGN_THREADS * ALIGN_CHUNKS);
}

xgemm_status xg_half_add_align(const launches *of, xg_plan *plan, xg_error *error)
{
    const xg_problem *const p = of->problem;
    const int64_t ctas_a = copying_ctas(&of->a), ctas_b = copying_ctas(&of->b);
    const xg_half_align_args args = {.operands = {aligned_of(&of->a, p), aligned_of(&of->b, p)},
                                     .ctas = {(uint32_t)ctas_a, (uint32_t)ctas_b},
                                     .is_common = {!of->a.batched, !of->b.batched}};
    const size_t size = sizeof(xg_half_aligned);
    if (ctas_a + ctas_b == 0)
        return XGEMM_OK;
    xg_step *const step = xg_plan_add(plan, &xg_program_half_align, &args, sizeof args, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    step->pdl = true;
    if (ctas_a > 0) {
        xg_step_point(step, offsetof(xg_half_aligned, from), xg_at_a(plan, p));
        xg_step_point(step, offsetof(xg_half_aligned, to), xg_at_workspace(of->room.a));
        xg_region_a(step, plan, p);
    }
    if (ctas_b > 0) {
        xg_step_point(step, size + offsetof(xg_half_aligned, from), xg_at_b(plan, p));
        xg_step_point(step, size + offsetof(xg_half_aligned, to), xg_at_workspace(of->room.b));
        xg_region_b(step, plan, p);
    }
    xg_region_workspace(step, plan);
    const xgemm_status status = xg_step_grid(step, ctas_a + ctas_b, 1, ALIGN_THREADS, 1, error);
    if (p->groups > 0)
        step->grid[2] = (uint32_t)p->groups;
    return status;
}

/* Rows that a CTA copies of a tile: of an operand with less, whole blocks of an MN-major one. */
static int copied_rows(const xg_half_operand *of, int rows)
{
    const int64_t all =
        of->mn_major ? xg_round_up(of->length, ROW_BLOCK) : xg_round_up(of->lines, 8);
    return all < rows ? (int)all : rows;
}

/* The tensor map of an operand, or of its copy; "rows" of a K-major one are a box's. */
static void set_tensor(xg_step *step, int index, const xg_half_operand *of, int rows,
                       int64_t products, xg_location at)
{
    const int64_t stride = of->aligned ? of->stride : of->copied_stride;
    const int64_t apart = of->aligned ? of->batch_stride : of->lines * of->copied_stride;
    step->tensors[index] =
        (xg_tensor){.element_bytes = 2,
                    .columns = of->length,
                    .rows = of->lines,
                    .stride_bytes = 2 * (of->lines > 1 ? stride : of->copied_stride),
                    .box_columns = ROW_BLOCK,
                    .box_rows = of->mn_major ? ROW_BLOCK : rows,
                    .matrices = of->batched ? products : 1,
                    .matrix_stride_bytes = of->batched ? 2 * apart : 2 * of->copied_stride,
                    .swizzled = true};
    step->tensor_at[index] = at;
}

/* Whether TMA stores C, whose rows it writes by whole 16 bytes. */
static bool stores_by_tma(const launches *of)
{
    const xg_problem *const p = of->problem;
    return xg_half_c_is_aligned(p) && !of->splits_in_cluster && of->schedule.split_tiles == 0 &&
           p->groups == 0;
}

/* C's tensor map: boxes of a warp's rows. */
static void set_tensor_c(xg_step *step, const launches *of, const xg_plan *plan)
{
    const xg_problem *const p = of->problem;
    const int64_t bytes = (int64_t)xg_type_bytes(p->type_c);
    const int64_t stride = p->c_stride_m * bytes;
    step->tensors[2] =
        (xg_tensor){.element_bytes = (int)bytes,
                    .columns = p->n,
                    .rows = p->m,
                    .stride_bytes = stride,
                    .box_columns = LINE_BYTES / (int)bytes,
                    .box_rows = WARP_ROWS,
                    .matrices = of->products,
                    .matrix_stride_bytes = of->products > 1 ? p->c_batch_stride * bytes : stride,
                    .swizzled = true};
    step->tensor_at[2] = xg_at_c(plan, p);
}

bool xg_half_is_plain(const xg_problem *p)
{
    return xg_is_plain_epilogue(&p->epilogue) &&
           xg_scalar_is(p->epilogue.type, p->epilogue.beta, 0);
}

xg_half_args xg_half_args_of(const launches *of)
{
    const xg_problem *const p = of->problem;
    const xg_half_schedule *const s = &of->schedule;
    const xg_typed_args typed = xg_typed_args_of(p);
    const int a_rows = copied_rows(&of->a, s->cta_rows);
    const int b_rows = s->cluster > 1 ? of->tile_n / s->cluster : copied_rows(&of->b, of->tile_n);
    return (xg_half_args){.m = p->m,
                          .n = p->n,
                          .c_stride_m = p->c_stride_m,
                          .c_batch_stride = typed.c_batch_stride,
                          .k_blocks = (uint32_t)s->k_blocks,
                          .k_blocks_per_split = (uint32_t)s->k_blocks_per_split,
                          .splits = (uint32_t)s->splits,
                          .whole = (uint32_t)s->whole,
                          .split_tiles = (uint32_t)s->split_tiles,
                          .tile_rows = (uint32_t)s->tile_rows,
                          .stages = (uint16_t)stages_of(a_rows, b_rows, of->tile_n),
                          .a_rows = (int16_t)a_rows,
                          .b_rows = (int16_t)b_rows,
                          .cta_rows = (uint8_t)s->cta_rows,
                          .cluster = (uint8_t)s->cluster,
                          .groups = (uint32_t)p->groups,
                          .ragged = (uint8_t)xg_ragged_lines(p),
                          .a_mn_major = of->a.mn_major,
                          .b_mn_major = of->b.mn_major,
                          .a_batched = of->a.batched,
                          .b_batched = of->b.batched,
                          .c_is_aligned = xg_half_c_is_aligned(p),
                          .c_has_map = stores_by_tma(of),
                          .is_plain = xg_half_is_plain(p),
                          .epilogue = typed.epilogue};
}

void xg_half_use_operands(xg_step *step, const launches *of, const xg_plan *plan)
{
    const xg_problem *const p = of->problem;
    xg_region_a(step, plan, p);
    xg_region_b(step, plan, p);
    xg_region_workspace(step, plan);
    xg_region_offsets(step, p);
    if (p->groups > 0)
        xg_step_point(step, offsetof(xg_half_args, offsets), xg_at_offsets());
    if (of->schedule.split_tiles > 0)
        xg_step_point(step, offsetof(xg_half_args, sums), xg_at_workspace(of->room.sums));
    if (of->schedule.whole > 0)
        xg_step_uses_c(step, plan, of->problem, offsetof(xg_half_args, c),
                       offsetof(xg_half_args, epilogue));
}

static xgemm_status add_product(const launches *of, xg_plan *plan, xg_error *error)
{
    const xg_problem *const p = of->problem;
    const int cluster = of->schedule.launch_cluster;
    const xg_half_args args = xg_half_args_of(of);
    xg_step *const step =
        xg_plan_add(plan, program_of(p, of->tile_n, of->splits_in_cluster, of->schedule.cta_rows),
                    &args, sizeof args, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    step->is_product = true;
    step->pdl = true;
    step->cluster = cluster > 1 ? (uint32_t)cluster : 0;
    step->shared_bytes = shared_bytes(of->tile_n);
    step->products_argument = offsetof(xg_half_args, products);
    step->covers_pass = !of->splits_in_cluster;
    set_tensor(step, 0, &of->a, args.a_rows, of->products,
               of->a.aligned ? xg_at_a(plan, p) : xg_at_workspace(of->room.a));
    set_tensor(step, 1, &of->b, args.b_rows, of->products,
               of->b.aligned ? xg_at_b(plan, p) : xg_at_workspace(of->room.b));
    if (args.c_has_map)
        set_tensor_c(step, of, plan);
    xg_half_use_operands(step, of, plan);
    return xg_step_grid(step, of->schedule.ctas, 1, PRODUCT_THREADS, 1, error);
}

xgemm_status xg_half_add_reduce(const launches *of, xg_plan *plan, xg_error *error)
{
    enum { THREADS = 256, LANES = 4, CTAS = 264 /* that keep a GPU busy */ };
    const xg_problem *const p = of->problem;
    const xg_half_schedule *const s = &of->schedule;
    const xg_typed_args typed = xg_typed_args_of(p);
    if (s->split_tiles == 0)
        return XGEMM_OK;
    int64_t ways = 1, rows = LANES * THREADS / of->tile_n; /* of a CTA */
    while (rows > 1 && 2 * ways <= s->splits &&
           s->split_tiles * of->products * xg_ceil_div(s->tile_rows, rows) < CTAS)
        ways *= 2, rows /= 2;
    const xg_half_reduce_args args = {.m = p->m,
                                      .n = p->n,
                                      .c_stride_m = p->c_stride_m,
                                      .c_batch_stride = typed.c_batch_stride,
                                      .splits = (uint32_t)s->splits,
                                      .whole = (uint32_t)s->whole,
                                      .split_tiles = (uint32_t)s->split_tiles,
                                      .tile_rows = (uint32_t)s->tile_rows,
                                      .tile_m = (uint32_t)of->tile_m,
                                      .tile_n = (uint32_t)of->tile_n,
                                      .rows = (uint32_t)s->rows,
                                      .columns = (uint32_t)s->columns,
                                      .ways = (uint32_t)ways,
                                      .by_four = xg_half_c_is_aligned(p) && xg_half_is_plain(p),
                                      .epilogue = typed.epilogue};
    xg_step *const step = xg_plan_add(plan, &xg_program_half_reduce, &args, sizeof args, error);
    if (!step)
        return XGEMM_ERROR_INTERNAL;
    step->pdl = true;
    xg_step_point(step, offsetof(xg_half_reduce_args, sums), xg_at_workspace(of->room.sums));
    xg_step_uses_c(step, plan, of->problem, offsetof(xg_half_reduce_args, c),
                   offsetof(xg_half_reduce_args, epilogue));
    xg_region_workspace(step, plan);
    return xg_step_grid(step, s->split_tiles * xg_ceil_div(s->tile_rows, rows), 1, THREADS, 1,
                        error);
}

xgemm_status xg_half_refuse(const xg_candidate *of, const xg_request *request, xg_error *error)
{
    return xg_fail(error, XGEMM_ERROR_NOT_SUPPORTED,
                   "kernel %s cannot compute a product of this size in %s; auto can",
                   of->kernel->name, xg_type_name(request->problem.type_a));
}

xgemm_status xg_half_build(const xg_candidate *of, const xg_request *request, xg_plan *plan,
                           xg_error *error)
{
    const xg_problem *const p = &request->problem;
    launches all = {.problem = p,
                    .products = xg_half_products(of, request),
                    .tile_n = of->tile_n,
                    .splits_in_cluster = of->splits_in_cluster};
    if (!xg_half_applies(of->kernel, request))
        return xg_half_refuse(of, request, error);
    all.a = xg_half_tma_operand_a(p);
    all.b = xg_half_tma_operand_b(p);
    all.schedule = xg_half_schedule_of_candidate(of, request);
    all.tile_m = all.schedule.cta_rows * all.schedule.cluster;
    if (!xg_half_reserve(&all, plan, error))
        return XGEMM_ERROR_OVERFLOW;
    xgemm_status status = xg_half_add_align(&all, plan, error);
    if (!status)
        status = add_product(&all, plan, error);
    return status ? status : xg_half_add_reduce(&all, plan, error);
}
