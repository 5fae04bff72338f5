/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost model of simt/. Tiles of C, times the splits of k, are CTAs, of which the GPU holds
 * multiprocessors * ctas_per_sm at once: a wave. A wave takes
 *
 *     fixed_us + (depth + epilogue_k) * us_per_k                       when it is full,
 *     fixed_us + (depth + epilogue_k) * us_per_k * max(share, alone)   when a share of it is there,
 *
 * where depth is the split's k, up to a whole number of stages, and unaligned_c_k is added where
 * C's rows are not aligned: CTAs that have a multiprocessor to themselves are faster, down to a
 * point. The many short CTAs of the thin kernels form no waves: together they take
 *
 *     fixed_us + (depth + epilogue_k) * us_per_k * max(CTAs / held, share, alone),
 *
 * with k up to a multiple of a few, of which what lies beyond the prefetch distance takes later_k
 * times as long. A kernel that copies operands as they lie takes scalar_k_major more when both are
 * K-major and copied by scalars, and of that scalar_mn_major when they are MN-major; one that
 * transposes K-major vec4s, when both are K-major. These and the sliced ones have operands copied
 * first, aligned, where that takes less. Kernels with tensor maps know stream-K in place of
 * split-K: all CTAs share the last tiles (tma_stream_k.inc), which then take what a split of that
 * length does, and what storing and reading partial sums takes. To that come the launches, the
 * copies that align operands, the reduction of split-K, and the strips at C's edges, all at the
 * memory's speed; and nothing is faster than reading A and B and writing C once, while a part of
 * the shorter of both times still shows. Clusters of two CTAs, where a kernel and the GPU know
 * them, add up their splits in a time of their own, and leave half as many partial sums.
 *
 * Of a batch a launch computes as many products as the grid, and the workspace for their copies,
 * hold; or the best launches for one are repeated for each, which large products do not mind.
 */
#include "simt.h"

#include "families/gemv/gemv.h"
#include "families/transform/transform.h"

const xg_tile_cost *xg_tile_cost_of(const xg_kernel *kernel, const xg_costs *costs)
{
    const xg_tile_cost *cost = &costs->tiles[kernel->id];
    return cost->ctas_per_sm > 0 ? cost : NULL;
}

double xg_scalar_factor(const xg_kernel *kernel, const xg_tile_cost *cost, const xg_problem *p,
                        unsigned copied)
{
    const unsigned scalar = xg_scalar_operands(kernel, cost, p) & ~copied;
    const double a = scalar & XG_A ? (p->a_stride_m != 1 ? 1.0 : cost->scalar_mn_major) : 0.0;
    const double b = scalar & XG_B ? (p->b_stride_n != 1 ? 1.0 : cost->scalar_mn_major) : 0.0;
    const double m = kernel->tile_m, n = kernel->tile_n;
    return 1.0 + cost->scalar_k_major * (a * m + b * n) / (m + n);
}

/* CTAs that take so many microseconds each, and a prologue, where a multiprocessor is full. */
static double waves_us(const xg_tile_cost *cost, int64_t ctas, double cta_us, int multiprocessors)
{
    const int64_t held = (int64_t)multiprocessors * cost->ctas_per_sm;
    const int64_t full = ctas / held, rest = ctas % held;
    const double share = (double)xg_ceil_div(rest, multiprocessors) / cost->ctas_per_sm;
    if (cost->later_k > 0.0) {
        const double all = full > 0 ? (double)ctas / (double)held : share;
        return cost->fixed_us + cta_us * xg_larger(all, cost->alone);
    }
    return (double)full * (cost->fixed_us + cta_us) +
           (rest ? cost->fixed_us + cta_us * xg_larger(share, cost->alone) : 0.0);
}

/* What is read and written to copy an operand of that width; the copy's rows are padded. */
static double copied_elements(const xg_problem *p, int64_t width, int64_t copies)
{
    return (double)copies * (double)(width + xg_packed_stride(width)) * (double)p->k;
}

/* One launch, or one an operand of several products. */
double xg_copies_us(const xg_candidate *of, const xg_request *request)
{
    const xg_problem *p = &request->problem;
    const xg_costs *const costs = request->target.costs;
    const unsigned copied = xg_copied(of, p);
    const bool a = copied & XG_A, b = copied & XG_B;
    const int64_t batch = of->batch_per_pass;
    const double elements = (a ? copied_elements(p, of->m, p->a_batch_stride ? batch : 1) : 0.0) +
                            (b ? copied_elements(p, of->n, p->b_batch_stride ? batch : 1) : 0.0);
    const double launches = a && b && batch > 1 ? 2.0 : a || b ? 1.0 : 0.0;
    const double us = xg_elements_us(elements, costs->copy_rate);
    if (of->kernel->operands != XG_ANY_OPERANDS && !of->kernel->tensor_maps)
        return launches * costs->next_launch_us + us;
    return xg_larger(launches * costs->l2_copy_us + xg_elements_us(elements, costs->l2_copy_rate),
                     us);
}

/* What a CTA computes and stores, as k that takes as long. */
static double work_of(const xg_candidate *of, const xg_tile_cost *cost, const xg_request *request,
                      int64_t k)
{
    const xg_problem *p = &request->problem;
    const int64_t multiple = cost->k_multiple > 0 ? cost->k_multiple : of->kernel->tile_k;
    const double prefetched = request->target.costs->prefetched_k;
    const double depth = (double)(xg_ceil_div(k, multiple) * multiple) *
                         xg_scalar_factor(of->kernel, cost, p, of->copied);
    const double later = cost->later_k > 0.0 && depth > prefetched
                             ? (cost->later_k - 1.0) * (depth - prefetched)
                             : 0.0;
    const bool aligned = p->c_stride_m % 4 == 0 && (uintptr_t)p->c % 16 == 0;
    return depth + later + cost->epilogue_k + (aligned ? 0.0 : cost->unaligned_c_k);
}

int64_t xg_tiles_per_pass(const xg_candidate *of)
{
    return xg_ceil_div(of->m, of->kernel->tile_m) * xg_ceil_div(of->n, of->kernel->tile_n) *
           of->batch_per_pass;
}

int64_t xg_stream_k_ctas(const xg_candidate *of, int64_t k)
{
    return of->stream_k_iterations > 0
               ? xg_ceil_div(of->stream_k_tiles * xg_ceil_div(k, of->kernel->tile_k),
                             of->stream_k_iterations)
               : 0;
}

/* The tiles that a CTA has each, in whole waves, and those of stream-K. */
static double stream_k_us(const xg_candidate *of, const xg_tile_cost *cost,
                          const xg_request *request, int64_t tiles)
{
    const xg_costs *const costs = request->target.costs;
    const int multiprocessors = request->target.multiprocessors;
    const int64_t k = request->problem.k, depth = of->stream_k_iterations * of->kernel->tile_k;
    const double parts = (double)xg_ceil_div(k, depth);
    const double whole = work_of(of, cost, request, k) * cost->us_per_k;
    const double share = work_of(of, cost, request, depth) * cost->us_per_k;
    return waves_us(cost, tiles - of->stream_k_tiles, whole, multiprocessors) +
           waves_us(cost, xg_stream_k_ctas(of, k), share, multiprocessors) + costs->next_launch_us +
           costs->stream_k_us + costs->stream_k_part_us * parts;
}

double xg_pass_us(const xg_candidate *of, const xg_request *request)
{
    const xg_problem *p = &request->problem;
    const xg_costs *const costs = request->target.costs;
    const xg_tile_cost *const cost = xg_tile_cost_of(of->kernel, costs);
    const double all = (double)of->batch_per_pass;
    const int64_t splits = xg_ceil_div(p->k, of->k_per_split);
    const int64_t sums = xg_partial_sums(p->k, of->k_per_split, of->cluster);
    const int64_t tiles = xg_tiles_per_pass(of);
    const double m = (double)of->m, n = (double)of->n, k = (double)p->k;
    const bool many_a = p->a_batch_stride || p->pointer_arrays;
    const bool many_b = p->b_batch_stride || p->pointer_arrays;
    const double read = (many_a ? all : 1.0) * m * k + (many_b ? all : 1.0) * k * n;
    const double write_rate = cost->later_k > 0.0 ? costs->thin_write_rate : costs->write_rate;
    const double least = xg_elements_us(read, costs->read_rate) +
                         xg_elements_us((double)sums * all * m * n, write_rate);
    const double cta_us = work_of(of, cost, request, of->k_per_split) * cost->us_per_k;
    const double waves = of->stream_k_iterations > 0 ? stream_k_us(of, cost, request, tiles)
                                                     : waves_us(cost, tiles * splits, cta_us,
                                                                request->target.multiprocessors);
    const double us = xg_larger(waves, least) + costs->overlap * (waves < least ? waves : least);
    return costs->launch_us + xg_copies_us(of, request) + us +
           (of->cluster > 1 ? costs->cluster_reduce_us : 0.0) +
           xg_reduce_us(costs, sums, all * m * n) + xg_strips_us(request, of->m, of->n);
}

/* That of all passes, of which the last may have fewer products. */
double xg_batch_us(const xg_candidate *of, const xg_request *request)
{
    const xg_costs *const costs = request->target.costs;
    const int64_t count = request->problem.batch_count, full = count / of->batch_per_pass;
    xg_candidate last = *of;
    last.batch_per_pass = count % of->batch_per_pass;
    const double us = xg_passes_us(costs, of->microseconds, full);
    return last.batch_per_pass == 0 ? us : us + xg_pass_us(&last, request) + costs->next_pass_us;
}
