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
 *
 * The products of a batch have one split and one product launch, whose waves are of the tiles of
 * all, and each of which takes longer where C's edges cut tiles; in as many passes as the workspace
 * is to hold.
 */
#include "families/gemv/gemv.h"
#include "fp16_layout.h"
#include "tensor.h"

#include <math.h>

#define WORKSPACE_MOST 0x1p32

/* CTAs of fp16_split that a multiprocessor holds, by its launch bound; _even has 8, _strips 5. */
enum { SPLIT_CTAS = 6 };
enum { STORED_COLUMNS = 128 }; /* at once, or a tile's */
enum { STREAM_K_PARTS_MOST = 16 };

/* Strips in the product: the elements a thread takes in a step, and the warps in the end. */
enum { STRIP_ELEMENTS = 16, STRIP_WARPS = 11 };

/* So many products, and their operands. */
typedef struct {
    int64_t m, n, k;
    int64_t products, a_count, b_count;
} tiled;

static tiled tiled_of(const xg_candidate *of, const xg_problem *p)
{
    const int64_t products = of->batch_per_pass;
    return (tiled){.m = of->panel_m,
                   .n = of->panel_n,
                   .k = of->panel_k,
                   .products = products,
                   .a_count = xg_has_own_a(p) ? products : 1,
                   .b_count = xg_has_own_b(p) ? products : 1};
}

/* What the split reads and writes; of a batch each matrix with padding of its own. */
static double split_bytes(const xg_kernel *kernel, const tiled *what)
{
    const bool batch = what->products > 1;
    const int64_t a_rows = batch ? xg_round_up(what->m, XG_ROW_PADDING) : what->m,
                  b_rows = batch ? xg_round_up(what->n, XG_ROW_PADDING) : what->n,
                  depth = batch ? xg_round_up(xg_split_k(what->k), XG_K_BLOCK) : what->k;
    const double a_count = (double)what->a_count, b_count = (double)what->b_count;
    return 4.0 * (a_count * (double)what->m + b_count * (double)what->n) * (double)what->k +
           2.0 * kernel->fp16_terms * (a_count * (double)a_rows + b_count * (double)b_rows) *
               (double)depth;
}

static double wave_us(const xg_kernel *kernel, const xg_costs *costs, const tiled *what)
{
    /* Of one product: a batch's tiles follow each other product after product. */
    const double bytes =
        2.0 * kernel->fp16_terms * ((double)what->m + (double)what->n) * (double)what->k;
    const xg_tensor_cost *const cost = &costs->tensor[kernel->id];
    return cost->in_l2_us +
           (cost->beyond_l2_us - cost->in_l2_us) * xg_larger(1.0 - costs->l2_bytes / bytes, 0.0) +
           (what->products > 1 ? cost->batch_block_us : 0.0);
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
                        int64_t k_stride, int64_t batch_stride, double bytes)
{
    const bool k_major = k_stride == 1;
    if (xg_split_vec4(matrix, k_major ? line_stride : k_stride) && batch_stride % 4 == 0)
        return 0.0;
    return k_major ? costs->scalar_k_major_us + bytes / costs->scalar_k_major_rate
                   : costs->scalar_mn_major_us + bytes / costs->scalar_mn_major_rate;
}

static double split_us(const xg_candidate *of, const xg_request *request)
{
    const xg_problem *p = &request->problem;
    const xg_costs *const costs = request->target.costs;
    const tiled what = tiled_of(of, p);
    const int terms = of->kernel->fp16_terms;
    const double bytes = split_bytes(of->kernel, &what);
    const xg_fp16_layout at = xg_fp16_layout_of(what.m, what.n, what.k, terms);
    const int64_t groups =
        (what.a_count * at.a_blocks + what.b_count * at.b_blocks) * XG_BLOCK_GROUPS;
    const int64_t ctas = xg_splits_short(xg_tensor_is_batched(of, p), at.k_blocks)
                             ? groups / xg_short_groups(at.k_blocks)
                             : groups * at.slices;
    const int64_t waves = xg_ceil_div(ctas, (int64_t)request->target.multiprocessors * SPLIT_CTAS);
    /* The matrices of pointer arrays may well be aligned. */
    const void *const a = p->pointer_arrays ? NULL : p->a, *const b =
                                                               p->pointer_arrays ? NULL : p->b;
    const double scalar = scalar_us(costs, a, p->a_stride_m, p->a_stride_k, p->a_batch_stride,
                                    4.0 * (double)what.a_count * (double)what.m * (double)what.k) +
                          scalar_us(costs, b, p->b_stride_n, p->b_stride_k, p->b_batch_stride,
                                    4.0 * (double)what.b_count * (double)what.n * (double)what.k);
    return costs->split_us +
           xg_larger(bytes / costs->split_rate, (double)(waves - 1) * costs->split_wave_us) +
           scalar;
}

/* Clusters that compute at the same time. */
static int64_t clusters_most(const xg_kernel *kernel, int multiprocessors)
{
    const int64_t ctas = xg_cluster_size(kernel);
    return multiprocessors > ctas ? multiprocessors / ctas : 1;
}

xg_tensor_schedule xg_tensor_schedule_of(const xg_kernel *kernel, int multiprocessors, int64_t m,
                                         int64_t n, int64_t products, int64_t stream_k_iterations)
{
    const int64_t ctas = xg_cluster_size(kernel);
    const int64_t most = clusters_most(kernel, multiprocessors);
    const bool stream_k = stream_k_iterations > 0;
    xg_tensor_schedule of;
    of.tiles = products * xg_ceil_div(m, kernel->tile_m * ctas) * xg_ceil_div(n, kernel->tile_n);
    of.whole = stream_k ? of.tiles / most * most : of.tiles;
    of.clusters = of.tiles < most && !stream_k ? of.tiles : most;
    of.partial_sums = stream_k ? of.clusters * ctas * kernel->tile_m * kernel->tile_n : 0;
    return of;
}

/* How many tiles a multiprocessor computes, one after the other. */
static double waves_of(const xg_kernel *kernel, int multiprocessors, const tiled *what)
{
    const xg_tensor_schedule of =
        xg_tensor_schedule_of(kernel, multiprocessors, what->m, what->n, what->products, 0);
    return (double)xg_ceil_div(of.tiles, of.clusters);
}

/* What each wave of a batch takes longer, by the share of the tiles that C's edges cut. */
static double batch_edges_us(const xg_kernel *kernel, const xg_costs *costs, const tiled *what)
{
    const int64_t high = kernel->tile_m * xg_cluster_size(kernel), wide = kernel->tile_n;
    const double whole = (double)(what->m / high) * (double)(what->n / wide);
    const double all = (double)xg_ceil_div(what->m, high) * (double)xg_ceil_div(what->n, wide);
    if (whole == all)
        return 0.0;
    return (double)wide / STORED_COLUMNS *
           (costs->batch_edges_us + costs->batch_edge_us * (1.0 - whole / all));
}

/* A wave's time besides its k-blocks. */
static double wave_rest_us(const xg_kernel *kernel, const xg_costs *costs, const tiled *what)
{
    const xg_tensor_cost *const cost = &costs->tensor[kernel->id];
    if (what->products == 1)
        return cost->tile_us;
    return cost->tile_us + cost->batch_tile_us + batch_edges_us(kernel, costs, what);
}

/* What they take; of the last ones each cluster may compute a share by stream-K. */
static double waves_us(const xg_kernel *kernel, const xg_target *target, const tiled *what,
                       int64_t stream_k_iterations)
{
    const xg_costs *const costs = target->costs;
    const double waves = waves_of(kernel, target->multiprocessors, what);
    const double block = wave_us(kernel, costs, what);
    const double tiles = waves * wave_rest_us(kernel, costs, what);
    const int64_t k_blocks = xg_blocks_of(xg_split_k(what->k), XG_K_BLOCK);
    if (stream_k_iterations == 0)
        return waves * (double)k_blocks * block + tiles;
    const double parts = (double)xg_ceil_div(k_blocks, stream_k_iterations) - 1.0;
    return ((waves - 1.0) * (double)k_blocks + (double)stream_k_iterations) * block + tiles +
           costs->tensor_stream_k_us + costs->tensor_stream_k_column_us * (double)kernel->tile_n +
           costs->tensor_stream_k_part_us * parts;
}

/* The share by which the tiles take least, of those that need no more than so many bytes. */
static int64_t best_stream_k(const xg_kernel *kernel, const xg_target *target, const tiled *what,
                             double bytes)
{
    const xg_tensor_schedule of =
        xg_tensor_schedule_of(kernel, target->multiprocessors, what->m, what->n, 1, 1);
    const int64_t k_blocks = xg_blocks_of(xg_split_k(what->k), XG_K_BLOCK);
    const int64_t least = xg_ceil_div((of.tiles - of.whole) * k_blocks, of.clusters);
    double best_us = waves_us(kernel, target, what, 0);
    int64_t best = 0;
    if (target->multiprocessors > XG_STREAM_K_CTAS || least == 0 ||
        (double)of.partial_sums * 4.0 > bytes)
        return 0;
    for (int64_t parts = 2; parts <= STREAM_K_PARTS_MOST; parts++) {
        const int64_t even = xg_ceil_div(k_blocks, parts), share = even > least ? even : least;
        const double us = waves_us(kernel, target, what, share);
        if (share < k_blocks && us < best_us) {
            best = share;
            best_us = us;
        }
    }
    return best;
}

/* Elements of C that tiles store by scalars at its edges (VEC4_EDGES). */
static double edge_elements(const xg_candidate *of, const xg_problem *p, bool aligned)
{
    const int tile_n = of->kernel->tile_n,
              columns = tile_n < STORED_COLUMNS ? tile_n : STORED_COLUMNS;
    const int64_t m = of->panel_m, n = of->panel_n, below = m % XG_ROW_BLOCK, beside = n % columns;
    if (aligned && n % 4 == 0 && !(xg_tensor_is_batched(of, p) && tile_n == 256))
        return 0.0;
    return (double)of->batch_per_pass *
           ((double)below * (double)n + (double)(m - below) * (double)beside);
}

/* What is seen of C's stores. */
static double stores_us(const xg_candidate *of, const xg_request *request)
{
    const xg_kernel *const kernel = of->kernel;
    const xg_costs *const costs = request->target.costs;
    const xg_problem *p = &request->problem;
    const int64_t m = of->panel_m, n = of->panel_n, products = of->batch_per_pass;
    const bool aligned = (uintptr_t)p->c % 16 == 0 && p->c_stride_m % 4 == 0;
    const xg_tensor_schedule schedule =
        xg_tensor_schedule_of(kernel, request->target.multiprocessors, m, n, products, 0);
    const double tile = 4.0 * kernel->tile_m * kernel->tile_n * (double)xg_cluster_size(kernel);
    const double last = tile * (double)schedule.clusters / costs->last_store_rate;
    const double all = 4.0 * (double)products * (double)m * (double)n;
    const double edge = 4.0 * edge_elements(of, p, aligned);
    return last + (aligned ? 0.0 : all / costs->unaligned_store_rate) +
           (edge > 0.0 ? costs->edge_store_us : 0.0) + edge / costs->edge_store_rate;
}

/* The time of one panel, or pass. */
static double panel_us(const xg_candidate *of, const xg_request *request)
{
    const xg_costs *const costs = request->target.costs;
    const tiled what = tiled_of(of, &request->problem);
    return split_us(of, request) + costs->product_us +
           (of->kernel->cluster ? costs->tensor_cluster_us : 0.0) +
           waves_us(of->kernel, &request->target, &what, of->stream_k_iterations) +
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

/* The workspace of a panel of that size, but for partial sums. */
static double panel_bytes(const xg_kernel *kernel, int64_t m, int64_t n, int64_t k)
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
    while (panel_bytes(kernel, of->panel_m, of->panel_n, of->panel_k) > limit && shrink(of))
        ;
    of->panels = xg_ceil_div(of->m, of->panel_m) * xg_ceil_div(of->n, of->panel_n) *
                 xg_ceil_div(k, of->panel_k);
    const bool strips = of->m < request->problem.m || of->n < request->problem.n;
    const tiled what = tiled_of(of, &request->problem);
    const double left = limit - panel_bytes(kernel, of->panel_m, of->panel_n, of->panel_k);
    if (of->panels == 1 && !strips && left > 0.0)
        of->stream_k_iterations = best_stream_k(kernel, &request->target, &what, left);
    const xg_tensor_schedule schedule = xg_tensor_schedule_of(
        kernel, request->target.multiprocessors, of->m, of->n, 1, of->stream_k_iterations);
    of->split_tiles = (schedule.tiles - schedule.whole) * xg_cluster_size(kernel);
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
    const tiled what = tiled_of(of, p);
    const double waves = waves_of(of->kernel, multiprocessors, &what);
    const double tiles = waves_us(of->kernel, &request->target, &what, of->stream_k_iterations);
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
 * The split, at the memory's speed for a batch in however many passes, and tiles as if they filled
 * all waves, of a candidate whose tiles cover m x n. 0 where it may need panels.
 */
static double least_us(const xg_kernel *kernel, const xg_request *request, int64_t m, int64_t n)
{
    const xg_problem *p = &request->problem;
    const xg_costs *const costs = request->target.costs;
    xg_candidate of = xg_candidate_begin(kernel, request);
    of.panel_m = m, of.panel_n = n, of.panel_k = p->k;
    if (p->k > XG_SPLIT_K_MOST || panel_bytes(kernel, m, n, p->k) > panel_room(request))
        return 0.0;
    of.batch_per_pass = p->batch_count;
    const tiled what = tiled_of(&of, p);
    const int64_t most = clusters_most(kernel, request->target.multiprocessors);
    /* A batch that no grid would hold is costed too. */
    const double tiles = (double)what.products *
                         (double)xg_ceil_div(m, kernel->tile_m * xg_cluster_size(kernel)) *
                         (double)xg_ceil_div(n, kernel->tile_n);
    const double k_blocks = (double)xg_blocks_of(xg_split_k(p->k), XG_K_BLOCK);
    const double split =
        what.products > 1 ? split_bytes(kernel, &what) / costs->split_rate : split_us(&of, request);
    return costs->launch_us + split + costs->product_us +
           (kernel->cluster ? costs->tensor_cluster_us : 0.0) +
           tiles / (double)most * k_blocks * wave_us(kernel, costs, &what);
}

double xg_tensor_least_us(const xg_kernel *kernel, const xg_request *request)
{
    const xg_problem *p = &request->problem;
    const int high = kernel->tile_m * xg_cluster_size(kernel);
    return least_us(kernel, request, xg_without_strip(p->m, high),
                    xg_without_strip(p->n, kernel->tile_n));
}

/* ---- Batches ---- */

static xg_candidate batched_candidate(const xg_kernel *kernel, const xg_request *request)
{
    const xg_problem *p = &request->problem;
    const xg_costs *const costs = request->target.costs;
    xg_candidate of = xg_candidate_begin(kernel, request);
    of.panel_m = of.m, of.panel_n = of.n, of.panel_k = p->k;
    of.batch_per_pass = xg_tensor_products_of_pass(kernel, request);
    of.microseconds = xg_passes_us(costs, costs->launch_us + panel_us(&of, request),
                                   xg_ceil_div(p->batch_count, of.batch_per_pass));
    return of;
}

/* What all passes take longer for C's edges. */
static double edges_us(const xg_candidate *of, const xg_request *request)
{
    const tiled what = tiled_of(of, &request->problem);
    const double passes = (double)xg_ceil_div(request->problem.batch_count, of->batch_per_pass);
    return passes * waves_of(of->kernel, request->target.multiprocessors, &what) *
           batch_edges_us(of->kernel, request->target.costs, &what);
}

/* ---- Products one by one ---- */

/* With or without strips at the edges, where there is memory for C in one go. */
static xg_candidate single_candidate(const xg_kernel *kernel, const xg_request *request,
                                     double most_us)
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

xg_candidate xg_tensor_candidate(const xg_kernel *kernel, const xg_request *request, double most_us)
{
    const xg_problem *p = &request->problem;
    if (!xg_tensor_can_batch(kernel, p))
        return p->pointer_arrays ? xg_candidate_begin(kernel, request)
                                 : single_candidate(kernel, request, most_us);
    xg_candidate together = batched_candidate(kernel, request);
    if (p->pointer_arrays)
        return together;
    const xg_candidate single = single_candidate(kernel, request, most_us);
    /* One by one they would have the edges, too; only the costs of batches know them. */
    const double without_edges = together.microseconds - edges_us(&together, request);
    if (together.batch_per_pass == 1 || without_edges > single.microseconds)
        return single;
    together.microseconds = xg_smaller(together.microseconds, single.microseconds);
    return together;
}
