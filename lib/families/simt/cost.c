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

#include <math.h>

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

static bool c_is_aligned(const xg_problem *p)
{
    return p->c_stride_m % 4 == 0 && (uintptr_t)p->c % 16 == 0;
}

/* What a CTA takes for storing C, as k that takes as long. */
static double epilogue_of(const xg_tile_cost *cost, bool c_aligned)
{
    return cost->epilogue_k + (c_aligned ? 0.0 : cost->unaligned_c_k);
}

/* The time to write C, or partial sums of it. */
static double write_us(const xg_costs *costs, const xg_tile_cost *cost, double elements)
{
    return xg_elements_us(elements,
                          cost->later_k > 0.0 ? costs->thin_write_rate : costs->write_rate);
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
static double work_of(const xg_pass *pass, int64_t k)
{
    const xg_tile_cost *const cost = pass->cost;
    const int64_t multiple = cost->k_multiple > 0 ? cost->k_multiple : pass->tile_k;
    const double prefetched = pass->costs->prefetched_k;
    const double depth = (double)(xg_ceil_div(k, multiple) * multiple) * pass->scalar_factor;
    const double later = cost->later_k > 0.0 && depth > prefetched
                             ? (cost->later_k - 1.0) * (depth - prefetched)
                             : 0.0;
    return depth + later + epilogue_of(cost, pass->c_aligned);
}

/* Those that one launch computes. */
static int64_t tiles_per_pass(const xg_candidate *of)
{
    return xg_of_pass(xg_ceil_div(of->m, of->kernel->tile_m) *
                          xg_ceil_div(of->n, of->kernel->tile_n),
                      of->batch_per_pass);
}

int64_t xg_stream_k_ctas(const xg_candidate *of, int64_t k)
{
    return of->stream_k_iterations > 0
               ? xg_ceil_div(of->split_tiles * xg_ceil_div(k, of->kernel->tile_k),
                             of->stream_k_iterations)
               : 0;
}

static void set_bounds(xg_pass *pass)
{
    const xg_tile_cost *const cost = pass->cost;
    const double epilogue = epilogue_of(cost, pass->c_aligned);
    const double k = (double)pass->k * pass->scalar_factor + epilogue;
    const double held = (double)pass->multiprocessors * cost->ctas_per_sm;
    pass->others_us = pass->before_us + cost->fixed_us + pass->strips_us;
    pass->full_us = (double)pass->tiles * k / held * cost->us_per_k;
    pass->cta_us_per_k = pass->scalar_factor * cost->alone * cost->us_per_k;
    pass->cta_epilogue_us = epilogue * cost->alone * cost->us_per_k;
}

xg_pass xg_pass_of(const xg_candidate *of, const xg_request *request)
{
    const xg_problem *p = &request->problem;
    const xg_costs *const costs = request->target.costs;
    const double all = (double)of->batch_per_pass;
    const double m = (double)of->m, n = (double)of->n, k = (double)p->k;
    const bool many_a = xg_has_own_a(p);
    const bool many_b = xg_has_own_b(p);
    const double read = (many_a ? all : 1.0) * m * k + (many_b ? all : 1.0) * k * n;
    xg_pass pass = {.cost = xg_tile_cost_of(of->kernel, costs),
                    .costs = costs,
                    .multiprocessors = request->target.multiprocessors,
                    .tile_k = of->kernel->tile_k,
                    .k = p->k,
                    .tiles = tiles_per_pass(of),
                    .c_aligned = c_is_aligned(p),
                    .c_elements = all * m * n,
                    .read_us = xg_elements_us(read, costs->read_rate)};
    pass.scalar_factor = xg_scalar_factor(of->kernel, pass.cost, p, of->copied);
    pass.before_us = costs->launch_us + xg_copies_us(of, request);
    pass.strips_us = xg_strips_us(request, of->m, of->n);
    set_bounds(&pass);
    return pass;
}

/* Computing and memory traffic at the same time: the longer one, and that part of the shorter one
   which is not hidden. */
static double both_us(const xg_costs *costs, double waves, double memory)
{
    return xg_larger(waves, memory) + costs->overlap * xg_smaller(waves, memory);
}

/* All launches of a pass: its waves take so many microseconds, and leave so many partial sums of
   each element, which are then reduced. */
static double pass_us(const xg_pass *pass, double waves, int64_t sums, int cluster)
{
    const xg_costs *const costs = pass->costs;
    const double least =
        pass->read_us + write_us(costs, pass->cost, (double)sums * pass->c_elements);
    return pass->before_us + both_us(costs, waves, least) +
           (cluster > 1 ? costs->cluster_reduce_us : 0.0) +
           xg_reduce_us(costs, sums, pass->c_elements) + pass->strips_us;
}

double xg_split_k_us(const xg_pass *pass, int64_t k_per_split, int cluster)
{
    const int64_t splits = xg_ceil_div(pass->k, k_per_split);
    const double cta_us = work_of(pass, k_per_split) * pass->cost->us_per_k;
    const double waves = waves_us(pass->cost, pass->tiles * splits, cta_us, pass->multiprocessors);
    return pass_us(pass, waves, xg_partial_sums(pass->k, k_per_split, cluster), cluster);
}

/* What adds up so many splits. */
static double adding_us(const xg_pass *pass, int64_t k_per_split, int cluster)
{
    const xg_costs *const costs = pass->costs;
    const double sums = (double)pass->k / (double)k_per_split / (cluster > 1 ? cluster : 1);
    const double reduce = xg_elements_us((sums + 1.0) * pass->c_elements, costs->reduce_rate);
    return (cluster > 1 ? costs->cluster_reduce_us : 0.0) +
           (sums > 1.0 ? costs->next_launch_us + reduce : 0.0);
}

double xg_split_k_least_us(const xg_pass *pass, int64_t k_per_split, int cluster)
{
    const double cta_us = (double)k_per_split * pass->cta_us_per_k + pass->cta_epilogue_us;
    return pass->others_us + xg_larger(pass->full_us, cta_us) +
           adding_us(pass, k_per_split, cluster);
}

double xg_reduction_least_us(const xg_pass *pass, int64_t k_per_split, int cluster)
{
    return pass->others_us + pass->full_us + adding_us(pass, k_per_split, cluster);
}

/* The tiles that a CTA has each, in whole waves, and those of stream-K. */
double xg_stream_k_us(const xg_pass *pass, int64_t tiles, int64_t iterations)
{
    const xg_costs *const costs = pass->costs;
    const xg_tile_cost *const cost = pass->cost;
    const int64_t depth = iterations * pass->tile_k;
    const int64_t ctas = xg_ceil_div(tiles * xg_ceil_div(pass->k, pass->tile_k), iterations);
    const double parts = (double)xg_ceil_div(pass->k, depth);
    const double whole = work_of(pass, pass->k) * cost->us_per_k;
    const double share = work_of(pass, depth) * cost->us_per_k;
    const double waves = waves_us(cost, pass->tiles - tiles, whole, pass->multiprocessors) +
                         waves_us(cost, ctas, share, pass->multiprocessors) +
                         costs->next_launch_us + costs->stream_k_us +
                         costs->stream_k_part_us * parts;
    return pass_us(pass, waves, 1, 0);
}

/* What a lower bound is made of: times of k, as k. */
typedef struct {
    double k, epilogue, alone; /* of one CTA, and the share that it takes by itself */
    double all;                /* what all CTAs take at least, when they fill the GPU */
    double us_per_k;
    double sum_us; /* to add up one more split */
} bound;

/*
 * A lower bound over all numbers of splits: of a CTA's time for its part of k and the reduction's
 * together. More splits are of no use once a CTA takes less time than the full GPU for all CTAs.
 */
static double least_by_splits(const bound *b)
{
    const double cta = b->k * b->alone;
    const double useful = b->all > b->epilogue * b->alone ? cta / (b->all - b->epilogue * b->alone)
                                                          : b->k / XG_SPLIT_LEAST;
    const double cheap = b->sum_us > 0.0 ? sqrt(cta * b->us_per_k / b->sum_us) : useful;
    const double splits = xg_larger(xg_smaller(useful, cheap), 2.0);
    const double waves = xg_larger(b->all, cta / splits + b->epilogue * b->alone);
    return waves * b->us_per_k + (splits + 1.0) * b->sum_us;
}

/* The copies that a single product's operands need before any of the kernel's tiles. */
static double needed_copies_us(const xg_kernel *kernel, const xg_request *request, int64_t m,
                               int64_t n)
{
    const xg_candidate of = {.kernel = kernel, .m = m, .n = n, .batch_per_pass = 1};
    return kernel->operands == XG_ANY_OPERANDS || request->problem.batch_count > 1
               ? 0.0
               : xg_copies_us(&of, request);
}

/*
 * All CTAs share the multiprocessors' time, where stream-K may have fewer epilogues than tiles; and
 * k is computed by one CTA, by the two of a cluster, or in splits that are added up. Of a batch the
 * CTAs of all products do, in however many passes.
 */
double xg_simt_least_us(const xg_kernel *kernel, const xg_request *request, int64_t m, int64_t n)
{
    const xg_problem *p = &request->problem;
    const xg_costs *const costs = request->target.costs;
    const xg_tile_cost *const cost = xg_tile_cost_of(kernel, costs);
    if (!cost)
        return 0.0;
    const double products = (double)p->batch_count;
    const double a_count = xg_has_own_a(p) ? products : 1.0;
    const double b_count = xg_has_own_b(p) ? products : 1.0;
    const double tiles =
        products * (double)xg_ceil_div(m, kernel->tile_m) * (double)xg_ceil_div(n, kernel->tile_n);
    const double held = (double)request->target.multiprocessors * cost->ctas_per_sm;
    const double epilogue = epilogue_of(cost, c_is_aligned(p));
    const double k = (double)p->k, c_elements = products * (double)m * (double)n;
    const double clusters = kernel->reduces_in_cluster ? (double)XG_CLUSTER_SPLITS : 1.0;
    const bound b = {k,
                     epilogue,
                     cost->alone,
                     tiles * (k + (kernel->tensor_maps ? 0.0 : epilogue)) / held,
                     cost->us_per_k,
                     xg_elements_us(c_elements, costs->reduce_rate) / clusters};
    const double memory =
        xg_elements_us((a_count * (double)m + b_count * (double)n) * k, costs->read_rate) +
        write_us(costs, cost, c_elements);
    const double all_us = both_us(costs, cost->fixed_us + b.all * b.us_per_k, memory);
    double cta_us = (k + epilogue) * b.alone * b.us_per_k;
    if (kernel->tensor_maps || p->batch_count > 1)
        cta_us = 0.0;
    else if (p->k >= 2 * XG_SPLIT_LEAST) {
        const double two = (k / 2.0 + epilogue) * b.alone * b.us_per_k + costs->cluster_reduce_us;
        cta_us = xg_smaller(cta_us, xg_smaller(two, costs->next_launch_us + least_by_splits(&b)));
    }
    return costs->launch_us + needed_copies_us(kernel, request, m, n) +
           xg_larger(all_us, cost->fixed_us + cta_us);
}

/* That of all passes, of which the last may have fewer products. */
double xg_batch_us(const xg_candidate *of, const xg_request *request)
{
    const xg_costs *const costs = request->target.costs;
    const int64_t count = request->problem.batch_count, full = count / of->batch_per_pass;
    xg_candidate last = *of;
    last.batch_per_pass = count % of->batch_per_pass;
    const double us = xg_passes_us(costs, of->microseconds, full);
    if (last.batch_per_pass == 0)
        return us;
    const xg_pass pass = xg_pass_of(&last, request);
    const double last_us = of->stream_k_iterations > 0
                               ? xg_stream_k_us(&pass, of->split_tiles, of->stream_k_iterations)
                               : xg_split_k_us(&pass, of->k_per_split, of->cluster);
    return us + last_us + costs->next_pass_us;
}
