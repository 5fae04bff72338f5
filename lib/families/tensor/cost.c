/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost model of tensor/, and the fastest way by it. The split goes at the memory's speed, or
 * CTA after CTA, and takes longer where operands are not aligned; a wave of tiles, one for each
 * multiprocessor, takes its time for each 64 of k, and some besides. The stores of the last wave
 * show, those of tiles that C's edges cut, and where C is not aligned what all of them then take
 * longer. The last wave's tiles may be stream-K's (stream_k.inc), where what the clusters then
 * tell one another takes less than is gained, and no strips fill that time.
 *
 * Where the terms would need more workspace than there is, or more than WORKSPACE_MOST, the product
 * is computed in panels: blocks of C, and slices of k, one after the other.
 */
#include "families/gemv/gemv.h"
#include "fp16_layout.h"
#include "tensor.h"

#define WORKSPACE_MOST 0x1p32

/* CTAs of the split that a multiprocessor holds. */
enum { SPLIT_CTAS = 6 };
enum { STORED_COLUMNS = 128 }; /* at once, or a tile's */
enum { STREAM_K_PARTS_MOST = 16 };

/* Strips in the product: the elements a thread takes in a step, and the warps in the end. */
enum { STRIP_ELEMENTS = 16, STRIP_WARPS = 11 };

static double wave_us(const xg_kernel *kernel, const xg_costs *costs, int64_t m, int64_t n,
                      int64_t k)
{
    const double bytes = 2.0 * kernel->fp16_terms * (double)(m + n) * (double)k;
    const xg_tensor_cost *const cost = &costs->tensor[kernel->id];
    return cost->in_l2_us +
           (cost->beyond_l2_us - cost->in_l2_us) * xg_larger(1.0 - costs->l2_bytes / bytes, 0.0);
}

/* Whether the strides of A and B fit 32 bits, in which some kernels count them. */
static bool strides_fit(const xg_problem *p)
{
    const int64_t most = (int64_t)1 << 28;
    return p->a_stride_m <= most && p->a_stride_k <= most && p->b_stride_k <= most &&
           p->b_stride_n <= most;
}

/* What the split takes longer for a matrix of so many bytes, whose one stride is not 1. */
static double scalar_us(const xg_costs *costs, const void *matrix, int64_t line_stride,
                        int64_t k_stride, double bytes)
{
    const bool k_major = k_stride == 1;
    if (xg_split_vec4(matrix, k_major ? line_stride : k_stride))
        return 0.0;
    return k_major ? costs->scalar_k_major_us + bytes / costs->scalar_k_major_rate
                   : costs->scalar_mn_major_us + bytes / costs->scalar_mn_major_rate;
}

static double split_us(const xg_candidate *of, const xg_request *request)
{
    const xg_problem *p = &request->problem;
    const xg_costs *const costs = request->target.costs;
    const int64_t m = of->panel_m, n = of->panel_n, k = of->panel_k;
    const int terms = of->kernel->fp16_terms;
    const double bytes = (4.0 + 2.0 * terms) * (double)(m + n) * (double)k;
    const xg_fp16_layout at = xg_fp16_layout_of(m, n, k, terms);
    const int64_t ctas =
        (int64_t)(at.a_blocks + at.b_blocks) * (XG_ROW_BLOCK / XG_ROW_GROUP) * at.slices;
    const int64_t waves = xg_ceil_div(ctas, (int64_t)request->target.multiprocessors * SPLIT_CTAS);
    const double scalar =
        scalar_us(costs, p->a, p->a_stride_m, p->a_stride_k, 4.0 * (double)m * (double)k) +
        scalar_us(costs, p->b, p->b_stride_n, p->b_stride_k, 4.0 * (double)n * (double)k);
    return costs->split_us +
           xg_larger(bytes / costs->split_rate, (double)(waves - 1) * costs->split_wave_us) +
           scalar;
}

xg_tensor_schedule xg_tensor_schedule_of(const xg_kernel *kernel, int multiprocessors, int64_t m,
                                         int64_t n, int64_t stream_k_iterations)
{
    const int64_t ctas = xg_cluster_size(kernel);
    const int64_t most = multiprocessors > ctas ? multiprocessors / ctas : 1;
    const bool stream_k = stream_k_iterations > 0;
    xg_tensor_schedule of;
    of.tiles = xg_ceil_div(m, kernel->tile_m * ctas) * xg_ceil_div(n, kernel->tile_n);
    of.whole = stream_k ? of.tiles / most * most : of.tiles;
    of.clusters = of.tiles < most && !stream_k ? of.tiles : most;
    of.partial_sums = stream_k ? of.clusters * ctas * kernel->tile_m * kernel->tile_n : 0;
    return of;
}

/* How many tiles a multiprocessor computes, one after the other. */
static double waves_of(const xg_kernel *kernel, int multiprocessors, int64_t m, int64_t n)
{
    const xg_tensor_schedule of = xg_tensor_schedule_of(kernel, multiprocessors, m, n, 0);
    return (double)xg_ceil_div(of.tiles, of.clusters);
}

/* What they take; of the last ones each cluster may compute a share by stream-K. */
static double waves_us(const xg_kernel *kernel, const xg_target *target, int64_t m, int64_t n,
                       int64_t k, int64_t stream_k_iterations)
{
    const xg_costs *const costs = target->costs;
    const double waves = waves_of(kernel, target->multiprocessors, m, n);
    const double block = wave_us(kernel, costs, m, n, k);
    const double tiles = waves * costs->tensor[kernel->id].tile_us;
    const int64_t k_blocks = xg_blocks_of(xg_split_k(k), XG_K_BLOCK);
    if (stream_k_iterations == 0)
        return waves * (double)k_blocks * block + tiles;
    const double parts = (double)xg_ceil_div(k_blocks, stream_k_iterations) - 1.0;
    return ((waves - 1.0) * (double)k_blocks + (double)stream_k_iterations) * block + tiles +
           costs->tensor_stream_k_us + costs->tensor_stream_k_column_us * (double)kernel->tile_n +
           costs->tensor_stream_k_part_us * parts;
}

/* The share by which the tiles take least, of those that need no more than so many bytes. */
static int64_t best_stream_k(const xg_kernel *kernel, const xg_target *target, int64_t m, int64_t n,
                             int64_t k, double bytes)
{
    const xg_tensor_schedule of = xg_tensor_schedule_of(kernel, target->multiprocessors, m, n, 1);
    const int64_t k_blocks = xg_blocks_of(xg_split_k(k), XG_K_BLOCK);
    const int64_t least = xg_ceil_div((of.tiles - of.whole) * k_blocks, of.clusters);
    double best_us = waves_us(kernel, target, m, n, k, 0);
    int64_t best = 0;
    if (target->multiprocessors > XG_STREAM_K_CTAS || least == 0 ||
        (double)of.partial_sums * 4.0 > bytes)
        return 0;
    for (int64_t parts = 2; parts <= STREAM_K_PARTS_MOST; parts++) {
        const int64_t even = xg_ceil_div(k_blocks, parts), share = even > least ? even : least;
        const double us = waves_us(kernel, target, m, n, k, share);
        if (share < k_blocks && us < best_us) {
            best = share;
            best_us = us;
        }
    }
    return best;
}

/* What is seen of C's stores: also of those at its edges, by scalars. */
static double stores_us(const xg_candidate *of, const xg_request *request)
{
    const xg_kernel *const kernel = of->kernel;
    const xg_costs *const costs = request->target.costs;
    const xg_problem *p = &request->problem;
    const int64_t m = of->panel_m, n = of->panel_n;
    const int columns = kernel->tile_n < STORED_COLUMNS ? kernel->tile_n : STORED_COLUMNS;
    const bool aligned = (uintptr_t)p->c % 16 == 0 && p->c_stride_m % 4 == 0;
    const xg_tensor_schedule schedule =
        xg_tensor_schedule_of(kernel, request->target.multiprocessors, m, n, 0);
    const double tile = 4.0 * kernel->tile_m * kernel->tile_n * (double)xg_cluster_size(kernel);
    const double last = tile * (double)schedule.clusters / costs->last_store_rate;
    const double all = 4.0 * (double)m * (double)n;
    const int64_t below = m % XG_ROW_BLOCK, beside = n % columns;
    const double edge = 4.0 * ((double)below * (double)n + (double)(m - below) * (double)beside);
    return last + (aligned ? 0.0 : all / costs->unaligned_store_rate) +
           (edge > 0.0 ? costs->edge_store_us : 0.0) + edge / costs->edge_store_rate;
}

/* The time of one panel. */
static double panel_us(const xg_candidate *of, const xg_request *request)
{
    const xg_costs *const costs = request->target.costs;
    return split_us(of, request) + costs->product_us +
           (of->kernel->cluster ? costs->tensor_cluster_us : 0.0) +
           waves_us(of->kernel, &request->target, of->panel_m, of->panel_n, of->panel_k,
                    of->stream_k_iterations) +
           stores_us(of, request);
}

static int64_t half_of(int64_t size, int64_t step)
{
    return xg_ceil_div(xg_ceil_div(size, 2), step) * step;
}

/* Smaller along the dimension that costs least; false when it is as small as it may be. */
static bool shrink(xg_candidate *of)
{
    enum { LONG_K = 4096, SHORT_K = 512 };
    int64_t *const longer = of->panel_m > of->panel_n ? &of->panel_m : &of->panel_n;
    if (of->panel_k > LONG_K)
        of->panel_k = half_of(of->panel_k, XG_CHUNK_K);
    else if (*longer > XG_ROW_PADDING)
        *longer = half_of(*longer, XG_ROW_PADDING);
    else if (of->panel_k > SHORT_K)
        of->panel_k = half_of(of->panel_k, XG_CHUNK_K);
    else
        return false;
    return true;
}

double xg_panel_bytes(const xg_kernel *kernel, int64_t m, int64_t n, int64_t k)
{
    return xg_room_bytes(1.0, (double)xg_fp16_layout_of(m, n, k, kernel->fp16_terms).bytes / 4.0,
                         XG_F32);
}

/* The bytes that a panel may take. */
static double panel_room(const xg_request *request)
{
    return xg_smaller((double)request->workspace_limit, WORKSPACE_MOST);
}

static void choose_panels(const xg_request *request, xg_candidate *of)
{
    const xg_kernel *const kernel = of->kernel;
    const double limit = panel_room(request);
    const int64_t k = request->problem.k;
    of->panel_m = of->m;
    of->panel_n = of->n;
    of->panel_k = k;
    while (of->panel_k > XG_SPLIT_K_MOST)
        of->panel_k = half_of(of->panel_k, XG_CHUNK_K);
    while (xg_panel_bytes(kernel, of->panel_m, of->panel_n, of->panel_k) > limit && shrink(of))
        ;
    of->panels = xg_ceil_div(of->m, of->panel_m) * xg_ceil_div(of->n, of->panel_n) *
                 xg_ceil_div(k, of->panel_k);
    const bool strips = of->m < request->problem.m || of->n < request->problem.n;
    const double left = limit - xg_panel_bytes(kernel, of->panel_m, of->panel_n, of->panel_k);
    if (of->panels == 1 && !strips && left > 0.0)
        of->stream_k_iterations = best_stream_k(kernel, &request->target, of->m, of->n, k, left);
    const xg_tensor_schedule schedule = xg_tensor_schedule_of(
        kernel, request->target.multiprocessors, of->m, of->n, of->stream_k_iterations);
    of->stream_k_tiles = (schedule.tiles - schedule.whole) * xg_cluster_size(kernel);
}

/* ---- Strips at C's edges ---- */

static bool strips_fit_in_product(const xg_problem *p)
{
    return strides_fit(p) && p->m >= XG_STRIP_TILE && p->n >= XG_STRIP_TILE;
}

/* What tiles lose by strips that read so many bytes. */
static double beside_strips_us(const xg_kernel *kernel, const xg_costs *costs, double bytes)
{
    const bool few_warps = kernel->tile_n > 64;
    return costs->strips_us +
           bytes / (few_warps ? costs->strips_few_warps_rate : costs->strips_rate);
}

/* How much longer the product takes: one warp beside the tiles, three beside the last one, then
   all. */
static double strips_in_product_us(const xg_candidate *of, const xg_request *request)
{
    const xg_problem *p = &request->problem;
    const xg_costs *const costs = request->target.costs;
    const int multiprocessors = request->target.multiprocessors;
    const int64_t below = p->m - of->m, beside = p->n - of->n;
    const double elements = (double)below * (double)p->n + (double)beside * (double)of->m;
    const double steps = elements * (double)p->k / (32.0 * STRIP_ELEMENTS);
    const double step_us =
        of->kernel->tile_n == 64 ? costs->strip_step_narrow_us : costs->strip_step_us;
    const double strips = step_us * steps / multiprocessors;
    const double waves = waves_of(of->kernel, multiprocessors, of->m, of->n);
    const double tiles =
        waves_us(of->kernel, &request->target, of->m, of->n, p->k, of->stream_k_iterations);
    return xg_larger(strips - tiles * (1.0 + 2.0 / waves), 0.0) / STRIP_WARPS +
           beside_strips_us(of->kernel, costs, 4.0 * elements * (double)p->k);
}

/* An operand of so many rows, for so many strips. */
static double split_strips_us(const xg_costs *costs, int64_t strips, int64_t rows, int64_t k)
{
    const double us = 4.0 * (double)rows * (double)k / costs->split_strips_rate;
    return strips > 0 ? us * (1.0 + costs->split_strip_more * (double)(strips - 1)) : 0.0;
}

/* The same where the split computes them; less than 0: there are too many for it. */
static double strips_in_split_us(const xg_candidate *of, const xg_request *request)
{
    const xg_problem *p = &request->problem;
    const xg_costs *const costs = request->target.costs;
    const int64_t below = p->m - of->m, beside = p->n - of->n;
    if (below > XG_SPLIT_STRIPS || beside > XG_SPLIT_STRIPS)
        return -1.0;
    return costs->split_strips_us + split_strips_us(costs, below, of->n, p->k) +
           split_strips_us(costs, beside, of->m, p->k);
}

/* In the product, in the split, or after the product: whichever is fastest. */
static void add_strips(const xg_request *request, xg_candidate *of)
{
    const double after = xg_strips_us(request, of->m, of->n);
    const double in_product = strips_in_product_us(of, request);
    const double in_split = strips_in_split_us(of, request);
    const bool split = in_split >= 0.0 && in_split < in_product;
    const double inside = split ? in_split : in_product;
    of->strips_in_product = strips_fit_in_product(&request->problem) && inside < after;
    of->strips_in_split = of->strips_in_product && split;
    of->microseconds += of->strips_in_product ? inside : after;
}

/*
 * The split, and tiles as if they filled all waves, of a candidate whose tiles cover m x n. 0 where
 * it may need panels, or passes for a batch.
 */
static double least_us(const xg_kernel *kernel, const xg_request *request, int64_t m, int64_t n)
{
    const xg_problem *p = &request->problem;
    const xg_costs *const costs = request->target.costs;
    xg_candidate of = xg_candidate_begin(kernel, request);
    of.panel_m = m, of.panel_n = n, of.panel_k = p->k;
    if (p->batch_count > 1 || p->k > XG_SPLIT_K_MOST ||
        xg_panel_bytes(kernel, m, n, p->k) > panel_room(request))
        return 0.0;
    const xg_tensor_schedule schedule =
        xg_tensor_schedule_of(kernel, request->target.multiprocessors, m, n, 1);
    const double k_blocks = (double)xg_blocks_of(xg_split_k(p->k), XG_K_BLOCK);
    return costs->launch_us + split_us(&of, request) + costs->product_us +
           (kernel->cluster ? costs->tensor_cluster_us : 0.0) +
           (double)schedule.tiles / (double)schedule.clusters * k_blocks *
               wave_us(kernel, costs, m, n, p->k);
}

double xg_tensor_least_us(const xg_kernel *kernel, const xg_request *request)
{
    const xg_problem *p = &request->problem;
    const int high = kernel->tile_m * xg_cluster_size(kernel);
    return least_us(kernel, request, xg_without_strip(p->m, high),
                    xg_without_strip(p->n, kernel->tile_n));
}

/* With or without strips at the edges, where there is memory for C in one go. */
xg_candidate xg_tensor_candidate(const xg_kernel *kernel, const xg_request *request, double most_us)
{
    const xg_problem *p = &request->problem;
    const xg_costs *const costs = request->target.costs;
    const int high = kernel->tile_m * xg_cluster_size(kernel);
    const int64_t m = xg_without_strip(p->m, high), n = xg_without_strip(p->n, kernel->tile_n);
    xg_candidate best = {.kernel = NULL};
    for (int strips = 0; strips < 4; strips++) {
        if ((strips & 1 && m == p->m) || (strips & 2 && n == p->n))
            continue;
        xg_candidate of = xg_candidate_begin(kernel, request);
        of.m = strips & 1 ? m : p->m;
        of.n = strips & 2 ? n : p->n;
        if (least_us(kernel, request, of.m, of.n) > xg_bound_us(&best, most_us))
            continue;
        choose_panels(request, &of);
        of.microseconds = costs->launch_us + (double)of.panels * panel_us(&of, request);
        if (strips > 0 && of.panels > 1)
            continue;
        if (strips > 0)
            add_strips(request, &of);
        if (!best.kernel || of.microseconds < best.microseconds)
            best = of;
    }
    if (!best.kernel)
        return xg_slow_candidate(kernel, request);
    best.microseconds = xg_passes_us(costs, best.microseconds, p->batch_count);
    return best;
}
