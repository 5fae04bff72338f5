/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a product of F64, C32 or C64 is computed: which tile, how many splits of k, and how long it
 * takes.
 *
 *     time = launch + max(multiprocessor's time, L2's, memory's) + reduction
 *     multiprocessor's time = waves * tile_us + k * max(waves * alone_us, CTAs * full_us)
 *
 * A wave of a multiprocessor is the CTAs that it holds at once: alone_us is the latency of one k of
 * a CTA, full_us what it costs where the multiprocessor is full, and where C is not aligned a wave
 * takes unaligned_us more. L2 delivers the operands' tiles, memory A, B and C. The reduction takes
 * a launch, and its bytes.
 */
#include "double.h"
#include "families/split_search.h"

#include <math.h>

enum { PER_SPLIT_LEAST = 4 /* stages */, SPLITS_MOST = 128, SIZE_MOST = INT32_MAX / 4 };

/* Partial sums of a pass, at most, unless a single product has more. */
#define PASS_BYTES 0x1p29

xg_double_schedule xg_double_schedule_of(const xg_problem *p, const xg_double_tile *tile,
                                         int64_t splits, int64_t split_tiles)
{
    xg_double_schedule of = {.splits = splits};
    of.rows = xg_ceil_div(p->m, tile->m);
    of.columns = xg_ceil_div(p->n, tile->n);
    of.k_per_split = xg_round_up(xg_ceil_div(p->k, splits), tile->k);
    of.split_tiles = splits > 1 ? split_tiles : 0;
    of.whole = of.rows * of.columns - of.split_tiles;
    of.sum_bytes =
        (double)(of.split_tiles * splits) * tile->m * tile->n * (double)xg_type_bytes(p->type_a);
    return of;
}

xg_double_schedule xg_double_schedule_of_candidate(const xg_candidate *of,
                                                   const xg_request *request)
{
    const xg_problem *const p = &request->problem;
    return xg_double_schedule_of(p, xg_double_tile_of(of, request),
                                 of->k_per_split < p->k ? xg_ceil_div(p->k, of->k_per_split) : 1,
                                 of->split_tiles);
}

static bool fits(const xg_double_tile *tile, const xg_target *target)
{
    return target->shared_per_block == 0 || (int64_t)tile->shared_bytes <= target->shared_per_block;
}

bool xg_double_applies(const xg_kernel *kernel, const xg_request *request)
{
    const xg_problem *const p = &request->problem;
    if (p->m > SIZE_MOST || p->n > SIZE_MOST || p->k > SIZE_MOST)
        return false;
    for (int i = 0;; i++) {
        const xg_double_tile *const tile = xg_double_tile_at(kernel, p->type_a, i);
        if (!tile)
            return false;
        if (fits(tile, &request->target) &&
            (double)xg_ceil_div(p->m, tile->m) * (double)xg_ceil_div(p->n, tile->n) * SPLITS_MOST <
                INT32_MAX)
            return true;
    }
}

/* The products of a pass: as many as their sums have room. */
static int64_t products_within(const xg_request *request, double sum_bytes)
{
    const double room = request->workspace_limit == SIZE_MAX
                            ? PASS_BYTES
                            : xg_smaller((double)request->workspace_limit, PASS_BYTES);
    int64_t products = xg_products_of_grid(&request->problem);
    while (products > 1 && (double)products * sum_bytes > room)
        products = xg_ceil_div(products, 2);
    return products;
}

/* A multiprocessor's time for so many CTAs, each with so much of k. */
static double share_us(const xg_double_cost *cost, double ctas, double k, bool aligned)
{
    const double rounds = ceil(ctas / cost->ctas_per_sm);
    const double round_us = cost->tile_us + (aligned ? 0.0 : cost->unaligned_us);
    return rounds * round_us + k * xg_larger(rounds * cost->alone_us, ctas * cost->full_us);
}

/* Bytes that come from L2 for the tiles, and from memory for the matrices. */
static double traffic_us(const xg_request *request, const xg_double_schedule *of, int64_t products)
{
    const xg_problem *const p = &request->problem;
    const xg_costs *const costs = request->target.costs;
    const double element = (double)xg_type_bytes(p->type_a);
    const double rows = (double)p->m, columns = (double)p->n, k = (double)p->k;
    const double tiles = ((double)of->columns * rows + (double)of->rows * columns) * k;
    const double a = xg_has_own_a(p) ? (double)products : 1.0;
    const double b = xg_has_own_b(p) ? (double)products : 1.0;
    const double matrices = a * rows * k + b * columns * k + (double)products * rows * columns;
    return xg_larger(element * tiles * (double)products / costs->double_l2_rate,
                     element * matrices / costs->double_memory_rate);
}

/* The time of a pass. */
static double pass_us(const xg_request *request, const xg_double_tile *tile,
                      const xg_double_schedule *of, int64_t products)
{
    const xg_costs *const costs = request->target.costs;
    const xg_double_cost *const cost = &costs->fp64[tile->cost];
    const double all = request->target.multiprocessors;
    const double whole = ceil((double)of->whole * (double)products / all);
    const double split = ceil((double)(of->split_tiles * of->splits) * (double)products / all);
    const bool aligned = xg_double_c_is_aligned(&request->problem);
    const double compute = share_us(cost, whole, (double)request->problem.k, aligned) +
                           share_us(cost, split, (double)of->k_per_split, true);
    double us = costs->double_launch_us + xg_larger(compute, traffic_us(request, of, products));
    if (of->split_tiles > 0)
        us +=
            costs->double_reduce_us + (double)products * of->sum_bytes / costs->double_reduce_rate;
    return us;
}

/* A tile with so many splits of so many tiles, into *of where it is faster. */
static void consider(const xg_request *request, const xg_double_tile *tile, int64_t splits,
                     int64_t split_tiles, xg_candidate *of)
{
    const xg_problem *const p = &request->problem;
    const xg_double_schedule schedule = xg_double_schedule_of(p, tile, splits, split_tiles);
    const int64_t products = products_within(request, schedule.sum_bytes);
    const double us =
        xg_passes_us(request->target.costs, pass_us(request, tile, &schedule, products),
                     xg_ceil_div(p->batch_count, products));
    if (us >= of->microseconds)
        return;
    if ((double)products * schedule.sum_bytes > (double)request->workspace_limit)
        return;
    of->microseconds = us;
    of->tile_m = tile->m;
    of->tile_n = tile->n;
    of->tile_k = tile->k;
    of->batch_per_pass = products;
    of->k_per_split = splits > 1 ? schedule.k_per_split : p->k;
    of->split_tiles = schedule.split_tiles;
}

static void consider_tile(const xg_request *request, const xg_double_tile *tile, xg_candidate *of)
{
    const xg_problem *const p = &request->problem;
    const int64_t multiprocessors = request->target.multiprocessors;
    const int64_t all = xg_double_schedule_of(p, tile, 1, 0).whole;
    xg_split_search search = {.tiles = all,
                              .last_wave = p->batch_count == 1 ? all % multiprocessors : 0,
                              .held = multiprocessors *
                                      request->target.costs->fp64[tile->cost].ctas_per_sm,
                              .steps = xg_ceil_div(p->k, tile->k),
                              .least_steps = PER_SPLIT_LEAST,
                              .most_splits = SPLITS_MOST};
    while (xg_next_splits(&search))
        consider(request, tile, search.splits, search.split_tiles, of);
}

xg_candidate xg_double_candidate(const xg_kernel *kernel, const xg_request *request)
{
    const xg_double_tile *tile;
    xg_candidate of = xg_candidate_begin(kernel, request);
    of.microseconds = INFINITY;
    for (int i = 0; (tile = xg_double_tile_at(kernel, request->problem.type_a, i)) != NULL; i++)
        if (fits(tile, &request->target))
            consider_tile(request, tile, &of);
    return of;
}

double xg_double_workspace(const xg_candidate *of, const xg_request *request)
{
    const xg_double_schedule schedule = xg_double_schedule_of_candidate(of, request);
    return schedule.split_tiles > 0
               ? xg_room_bytes((double)of->batch_per_pass, schedule.sum_bytes / 4.0, XG_F32)
               : 0.0;
}
