/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a product of F16 or BF16 operands is computed by mma.sync: how many splits of k, and how long
 * it takes.
 *
 *     time = launch + copies + multiprocessor's time + reduction
 *     multiprocessor's time = max(waves * latency of a CTA, CTAs * throughput cost of a CTA)
 *
 * A wave of a multiprocessor is the CTAs that it holds at once. Latency is the time of a CTA by
 * itself, throughput cost what each takes where the multiprocessor is full. Copies and reduction
 * are those of cost.c.
 */
#include "args.h"
#include "families/programs.h"
#include "families/split_search.h"
#include "mma.h"

#include <math.h>

enum { PER_SPLIT_LEAST = 4 /* k-blocks */, SPLITS_MOST = 64, SIZE_MOST = INT32_MAX / 4 };

static const xg_mma_tile tiles[] = {
    {XG_KERNEL_pipelined_128x128, false, &xg_program_mma_f16_128x128, &xg_program_mma_bf16_128x128,
     128, 128, 32, 128, 4, 0},
    {XG_KERNEL_pipelined_64x128, false, &xg_program_mma_f16_64x64, &xg_program_mma_bf16_64x64, 64,
     64, 64, 128, 4, 1},
    {XG_KERNEL_pipelined_32x64, false, &xg_program_mma_f16_32x64, &xg_program_mma_bf16_32x64, 32,
     64, 64, 128, 4, 2},
    {XG_KERNEL_pipelined_64x128, true, &xg_program_mma_unaligned_f16_64x64,
     &xg_program_mma_unaligned_bf16_64x64, 64, 64, 64, 256, 3, 3},
    {XG_KERNEL_pipelined_32x64, true, &xg_program_mma_unaligned_f16_32x64,
     &xg_program_mma_unaligned_bf16_32x64, 32, 64, 64, 128, 3, 4},
};

/* A tile of a kernel's row, NULL where there is none. */
static const xg_mma_tile *tile_of(const xg_kernel *kernel, bool unaligned)
{
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++)
        if (tiles[i].kernel == kernel->id && tiles[i].unaligned == unaligned)
            return &tiles[i];
    return NULL;
}

/* The operands that are not aligned to 16 bytes: XG_A, XG_B. */
static unsigned unaligned_of(const xg_problem *p)
{
    return (xg_half_operand_a(p).aligned ? 0u : XG_A) | (xg_half_operand_b(p).aligned ? 0u : XG_B);
}

const xg_mma_tile *xg_mma_tile_of_candidate(const xg_candidate *of, const xg_request *request)
{
    return tile_of(of->kernel, (unaligned_of(&request->problem) & ~of->copied) != 0);
}

xg_half_operand xg_mma_operand(const xg_candidate *of, const xg_request *request, unsigned which)
{
    const xg_problem *const p = &request->problem;
    xg_half_operand operand = which == XG_A ? xg_half_operand_a(p) : xg_half_operand_b(p);
    if (!(of->copied & which))
        operand.aligned = true;
    return operand;
}

/* The stages, and of operands that are not aligned two tiles and the stages' vectors. */
uint32_t xg_mma_shared_bytes(const xg_mma_tile *tile)
{
    const int sides[2] = {tile->m, tile->n};
    int all = (tile->unaligned ? 2 : tile->stages) * (tile->m + tile->n) * tile->k * 2;
    for (int i = 0; i < 2 && tile->unaligned; i++) {
        const int k_major = sides[i] * (tile->k / 8 + 1), mn_major = tile->k * (sides[i] / 8 + 1);
        all += tile->stages * 16 * (k_major > mn_major ? k_major : mn_major);
    }
    return (uint32_t)all;
}

/* By the splits of k, and how many tiles are split. */
static xg_half_schedule schedule_of(const xg_problem *p, const xg_mma_tile *tile, int64_t splits,
                                    int64_t split_tiles)
{
    xg_half_schedule of = {.cluster = 1, .splits = splits};
    const int64_t rows = xg_round_up(p->m, 16);
    of.rows = xg_ceil_div(p->m, tile->m) + (p->ragged_columns ? 0 : p->groups);
    of.columns = xg_ceil_div(p->n, tile->n) + (p->ragged_columns ? p->groups : 0);
    of.k_blocks = xg_ceil_div(p->k, XG_MMA_BLOCK_K);
    of.k_blocks_per_split = xg_ceil_div(of.k_blocks, splits);
    of.split_tiles = splits > 1 ? split_tiles : 0;
    of.whole = of.rows * of.columns - of.split_tiles;
    of.tile_rows = rows < tile->m ? rows : tile->m;
    of.sum_bytes = 4.0 * (double)(of.split_tiles * splits) * (double)of.tile_rows * tile->n;
    of.ctas = of.whole + of.split_tiles * splits;
    return of;
}

xg_half_schedule xg_mma_schedule_of_candidate(const xg_candidate *of, const xg_request *request)
{
    const xg_problem *const p = &request->problem;
    return schedule_of(p, xg_mma_tile_of_candidate(of, request),
                       of->k_per_split < p->k ? xg_ceil_div(p->k, of->k_per_split) : 1,
                       of->split_tiles);
}

static bool fits(const xg_mma_tile *tile, const xg_request *request)
{
    const int64_t most = request->target.shared_per_block;
    const xg_problem *const p = &request->problem;
    const double m = (double)xg_ceil_div(p->m, tile->m) + (double)p->groups;
    const double n = (double)xg_ceil_div(p->n, tile->n) + (double)p->groups;
    return (most == 0 || (int64_t)xg_mma_shared_bytes(tile) <= most) &&
           m * n * SPLITS_MOST < INT32_MAX;
}

/*
 * On compute capability 9.0 wgmma's kernels are there, and these run where they are faster, unless
 * one is named: for a product or a batch of operands that are aligned, and for a product of
 * operands that are read as they lie. What is copied first, or is in ragged groups, wgmma
 * multiplies faster (1000 products of 100 on an H100: 94 us, cuBLAS 39); and by element it is its
 * sums that count.
 */
static bool is_chosen_by_time(const xg_kernel *kernel, const xg_request *request)
{
    return request->target.compute_capability == 90 && request->kernel != kernel;
}

static bool may_run(const xg_kernel *kernel, const xg_request *request)
{
    if (!is_chosen_by_time(kernel, request))
        return true;
    const bool reads_all = unaligned_of(&request->problem) == 0 ||
                           (request->problem.batch_count == 1 && tile_of(kernel, true));
    return reads_all && !request->by_element && request->problem.groups == 0;
}

bool xg_mma_applies(const xg_kernel *kernel, const xg_request *request)
{
    const xg_problem *const p = &request->problem;
    const xg_mma_tile *const tile = tile_of(kernel, false);
    return tile && p->m <= SIZE_MOST && p->n <= SIZE_MOST && p->k <= SIZE_MOST &&
           may_run(kernel, request) && fits(tile, request) && xg_half_operands_fit(p);
}

/* What is the same for all ways to compute a problem. */
typedef struct {
    const xg_request *request;
    const xg_mma_tile *tile;
    xg_half_operand a, b;
} planned;

static planned planned_of(const xg_candidate *of, const xg_request *request)
{
    return (planned){.request = request,
                     .tile = xg_mma_tile_of_candidate(of, request),
                     .a = xg_mma_operand(of, request, XG_A),
                     .b = xg_mma_operand(of, request, XG_B)};
}

/*
 * A multiprocessor's time for so many CTAs, each with so much of k; "readers" CTAs read the same of
 * the operand that fewer share. What one alone reads comes from memory, and a CTA's few stages
 * wait: 128 of 64 x 64 took 0.6 us for 64 k of a matrix-vector product.
 */
static double share_us(const xg_mma_cost *cost, double ctas, double k, double readers,
                       bool c_is_aligned)
{
    const double rounds = ceil(ctas / cost->ctas_per_sm);
    const double tile_us = c_is_aligned ? cost->full_tile_us : cost->full_unaligned_tile_us;
    const double k_us = cost->k_us + cost->memory_k_us / readers;
    return xg_larger(rounds * (k * k_us + cost->tile_us), ctas * (k * cost->full_k_us + tile_us));
}

/* The time of a pass. */
static double pass_us(const planned *what, const xg_half_schedule *of, int64_t products)
{
    const xg_request *const request = what->request;
    const xg_costs *const costs = request->target.costs;
    const xg_mma_cost *const cost = &costs->mma[what->tile->cost];
    const double all = request->target.multiprocessors;
    const double whole = ceil((double)(of->whole * products) / all);
    const double split = ceil((double)(of->split_tiles * of->splits * products) / all);
    const double k_of_split = (double)of->k_blocks_per_split * XG_MMA_BLOCK_K;
    const double readers = (double)(of->rows < of->columns ? of->rows : of->columns);
    const double computed =
        share_us(cost, whole, (double)xg_round_up(request->problem.k, what->tile->k), readers,
                 xg_half_c_is_aligned(&request->problem)) +
        share_us(cost, split, k_of_split, readers, true);
    return costs->half_launch_us +
           xg_half_longer_us(computed, xg_half_memory_us(request, &what->a, &what->b, products)) +
           xg_half_beside_us(request, &what->a, &what->b, of, products);
}

/* So many splits of so many tiles, into *of where it is faster. */
static void consider(const planned *what, int64_t splits, int64_t split_tiles, xg_candidate *of)
{
    const xg_problem *const p = &what->request->problem;
    const xg_half_schedule schedule = schedule_of(p, what->tile, splits, split_tiles);
    const int64_t products = xg_half_products_within(what->request, &what->a, &what->b, &schedule);
    const double us = xg_passes_us(what->request->target.costs, pass_us(what, &schedule, products),
                                   xg_ceil_div(p->batch_count, products));
    if (us >= of->microseconds)
        return;
    if (splits > 1 && xg_half_pass_bytes(&what->a, &what->b, &schedule, products) >
                          (double)what->request->workspace_limit)
        return;
    of->microseconds = us;
    of->batch_per_pass = products;
    of->k_per_split = splits > 1 ? schedule.k_blocks_per_split * XG_MMA_BLOCK_K : p->k;
    of->split_tiles = schedule.split_tiles;
}

static void consider_splits(xg_candidate *of, const xg_request *request)
{
    const planned what = planned_of(of, request);
    const xg_problem *const p = &request->problem;
    const xg_half_schedule one = schedule_of(p, what.tile, 1, 0);
    const int64_t all = request->target.multiprocessors;
    const bool may_split = !request->by_element && p->groups == 0;
    xg_split_search search = {.tiles = one.whole,
                              .last_wave = p->batch_count == 1 ? one.whole % all : 0,
                              .held = all * request->target.costs->mma[what.tile->cost].ctas_per_sm,
                              .steps = one.k_blocks,
                              .least_steps = PER_SPLIT_LEAST,
                              .most_splits = may_split ? SPLITS_MOST : 1};
    of->microseconds = INFINITY;
    of->tile_m = what.tile->m, of->tile_n = what.tile->n, of->tile_k = what.tile->k;
    while (xg_next_splits(&search))
        consider(&what, search.splits, search.split_tiles, of);
}

static bool has_room(const xg_candidate *of, const xg_request *request)
{
    return request->workspace_limit == SIZE_MAX ||
           xg_mma_workspace(of, request) <= (double)request->workspace_limit;
}

/* Operands that are not aligned are copied first, or read as they lie where that is faster. */
xg_candidate xg_mma_candidate(const xg_kernel *kernel, const xg_request *request)
{
    xg_candidate of = xg_candidate_begin(kernel, request), direct = of;
    const xg_mma_tile *const unaligned = tile_of(kernel, true);
    of.copied = unaligned_of(&request->problem);
    consider_splits(&of, request);
    if (of.copied == 0 || !unaligned || !fits(unaligned, request))
        return of;
    consider_splits(&direct, request);
    return direct.microseconds < of.microseconds || !has_room(&of, request) ||
                   is_chosen_by_time(kernel, request)
               ? direct
               : of;
}

double xg_mma_workspace(const xg_candidate *of, const xg_request *request)
{
    const planned what = planned_of(of, request);
    const xg_half_schedule schedule = xg_mma_schedule_of_candidate(of, request);
    return xg_half_pass_bytes(&what.a, &what.b, &schedule, xg_half_products(of, request));
}
