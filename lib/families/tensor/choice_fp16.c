/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model of the kernels on FP16 parts: the split goes at the memory's speed, or block after
 * block, and takes longer where operands are not aligned; a wave of tiles, one for each
 * multiprocessor, takes its time for each 64 of k, and some besides. The stores of the last wave
 * show, those of tiles that C's edges cut, and where C is not aligned what all of them then take
 * longer. The last wave's tiles may be shared by all clusters (kernels/fp16_share.inc), where what
 * they then tell one another takes less than is gained, and no strips fill that time. Constants as
 * in choice_model.c.
 *
 * Where the parts would need more workspace than there is, or more than WORKSPACE_MOST, the product
 * is computed in panels: pieces of C, and of k, one after the other.
 */
#include "planner/choice.h"
#include "fp16_layout.h"
#include "planner/steps.h"

#include <string.h>

static const size_t workspace_most = (size_t)4 << 30;
static const double split_us = 0.33, split_rate = 3.98e6, split_wave_us = 5.48, product_us = 2.06,
                    cluster_us = 2.61, last_rate = 2.21e6, ragged_rate = 7.96e6, edge_us = 2.02,
                    edge_rate = 2.55e6;
enum { SPLIT_BLOCKS = 6, LATE_K_LEAST = 2048 };
enum { STORED_COLUMNS = 128 }; /* at once, or a tile's */

/* Sharing tiles, and for each column of one, whose sums go by memory; and each part of a tile. */
static const double share_us = 5.0, share_column_us = 0.04, share_part_us = 0.7;
enum { SHARE_PARTS_MOST = 16 };

/* Strips in the product: a warp's step, of so many words a thread, and where there are registers
 * for more words; and the warps that there are for them in the end. */
static const double strip_step_us = 1.0, strip_step_64_us = 0.4;
enum { STRIP_WORDS = 16, STRIP_WARPS = 11 };

/* What tiles take longer beside them, by what strips read: also where few warps have to do it. */
static const double strips_us = 1.0, strips_rate = 10e6, strips_few_rate = 1.7e6;

/* Strips in the split: one launch more; what it takes longer by what it reads, and by each strip
 * more. */
static const double vectors_us = 3.5, split_strips_rate = 18e6, split_strip_more = 0.3;

/* Operands that are not aligned, along k and side by side. */
static const double words_along_us = 0.25, words_along_rate = 8.95e6, words_across_us = 0.25,
                    words_across_rate = 3.14e6;

/* For 64 k of a wave, microseconds: parts that L2 holds, and those of which it holds little. And
 * what a wave takes besides. */
static const struct {
    const char *kernel;
    double in_l2, beyond, tile;
} speeds[] = {{"fp16x3-128x64", 0.582, 0.720, 1.71},
              {"fp16x3-128x128", 0.959, 1.140, 2.54},
              {"fp16x3-128x256", 1.878, 2.050, 4.98},
              {"fp16x1-128x128", 0.377, 0.395, 1.3},
              {"fp16x1-128x256", 0.755, 0.80, 2.5}};
static const double l2_bytes = 60e6;

static size_t speed_of(const xg_kernel *kernel)
{
    size_t i = 0;
    while (strcmp(speeds[i].kernel, kernel->name) != 0)
        i++;
    return i;
}

static double wave_of(const xg_kernel *kernel, int64_t m, int64_t n, int64_t k)
{
    const double bytes = 2.0 * kernel->parts * (double)(m + n) * (double)k;
    const size_t i = speed_of(kernel);
    return speeds[i].in_l2 +
           (speeds[i].beyond - speeds[i].in_l2) * xg_larger(1.0 - l2_bytes / bytes, 0.0);
}

/* Where the steps along A and B fit 32 bits, in which some kernels count them. */
static bool steps_fit(const xg_args *p)
{
    const int64_t most = (int64_t)1 << 28;
    return p->a_stride_m <= most && p->a_stride_k <= most && p->b_stride_k <= most &&
           p->b_stride_n <= most;
}

/* How many rounds of tiles it takes to split 16 lines late, along k and side by side. */
enum { LATE_ROUNDS_ALONG = 1, LATE_ROUNDS_ACROSS = 2 };

/*
 * The rounds before tile number "tiles" is begun. Who takes that one may wait for a round more
 * where it has nothing to do in the last one.
 */
static int64_t rounds_until(const xg_fp16_rounds *rounds, int64_t tiles)
{
    const int64_t last = rounds->whole % rounds->clusters;
    const int64_t before = tiles < rounds->whole ? tiles : rounds->whole;
    return before / rounds->clusters + (last > 0 && before % rounds->clusters >= last);
}

/* Whether a kernel can split rows of A itself (fp16_late.inc). */
static bool splits_late(const xg_kernel *kernel)
{
    return kernel->parts == 2 && kernel->tile_n == 256;
}

int xg_fp16_early_of_a(const xg_kernel *kernel, int processors, const xg_args *problem, int64_t m,
                       int64_t n, int64_t share, bool whole)
{
    const xg_fp16_rounds rounds = xg_fp16_rounds_of(kernel, processors, m, n, share);
    const int64_t lines = kernel->tile_m * xg_blocks_together(kernel);
    const int64_t of_group = XG_GROUP_LINES / lines * xg_tiles_of(n, kernel->tile_n);
    const int all = xg_lines_blocks(m);
    const int least = problem->a_stride_k == 1 ? LATE_ROUNDS_ALONG : LATE_ROUNDS_ACROSS;
    if (!splits_late(kernel) || !whole || problem->k < LATE_K_LEAST ||
        all >= XG_NONE_LATE || !steps_fit(problem))
        return all;
    int64_t groups = 1;
    while (groups * of_group < rounds.tiles && rounds_until(&rounds, groups * of_group) < least)
        groups++;
    const int64_t early = groups * XG_GROUP_LINES / XG_UNIT_LINES;
    return early < all ? (int)early : all;
}

/* What the split takes longer for a matrix of so many bytes, whose one step is not 1. */
static double words_us(const float *matrix, int64_t line_step, int64_t k_step, double bytes)
{
    const bool along_k = k_step == 1;
    if (xg_split_by_fours(matrix, along_k ? line_step : k_step))
        return 0.0;
    return along_k ? words_along_us + bytes / words_along_rate
                   : words_across_us + bytes / words_across_rate;
}

/* As if all was split before; what is saved by splitting some of it late is about 1 % of all. */
static double split_time(const xg_kernel *kernel, const xg_args *p, int processors, int64_t m,
                         int64_t n, int64_t k)
{
    const double bytes = (4.0 + 2.0 * kernel->parts) * (double)(m + n) * (double)k;
    const xg_fp16_layout at = xg_fp16_layout_of(m, n, k, kernel->parts);
    const int64_t blocks =
        (int64_t)(at.a_blocks + at.b_blocks) * (XG_UNIT_LINES / XG_SPLIT_LINES) * at.slices;
    const int64_t waves = xg_tiles_of(blocks, (int64_t)processors * SPLIT_BLOCKS);
    const double words = words_us(p->a, p->a_stride_m, p->a_stride_k, 4.0 * (double)m * (double)k) +
                         words_us(p->b, p->b_stride_n, p->b_stride_k, 4.0 * (double)n * (double)k);
    return split_us + xg_larger(bytes / split_rate, (double)(waves - 1) * split_wave_us) + words;
}

xg_fp16_rounds xg_fp16_rounds_of(const xg_kernel *kernel, int processors, int64_t m, int64_t n,
                                 int64_t share)
{
    const int64_t blocks = xg_blocks_together(kernel);
    const int64_t most = processors > blocks ? processors / blocks : 1;
    xg_fp16_rounds rounds;
    rounds.tiles = xg_tiles_of(m, kernel->tile_m * blocks) * xg_tiles_of(n, kernel->tile_n);
    rounds.whole = share > 0 ? rounds.tiles / most * most : rounds.tiles;
    rounds.clusters = rounds.tiles < most && share == 0 ? rounds.tiles : most;
    rounds.sums = share > 0 ? rounds.clusters * blocks * kernel->tile_m * kernel->tile_n : 0;
    return rounds;
}

/* How many tiles a multiprocessor computes, one after the other. */
static double waves_of(const xg_kernel *kernel, int processors, int64_t m, int64_t n)
{
    const xg_fp16_rounds rounds = xg_fp16_rounds_of(kernel, processors, m, n, 0);
    return (double)xg_tiles_of(rounds.tiles, rounds.clusters);
}

/* What they take; of the last ones each cluster computes a share of so many blocks of k, or none
 * is shared. */
static double waves_us(const xg_kernel *kernel, int processors, int64_t m, int64_t n, int64_t k,
                       int64_t share)
{
    const double waves = waves_of(kernel, processors, m, n);
    const double block = wave_of(kernel, m, n, k), tiles = waves * speeds[speed_of(kernel)].tile;
    const int64_t k_blocks = xg_blocks_of(xg_split_k(k), XG_UNIT_K);
    if (share == 0)
        return waves * (double)k_blocks * block + tiles;
    const double parts = (double)xg_tiles_of(k_blocks, share) - 1.0;
    return ((waves - 1.0) * (double)k_blocks + (double)share) * block + tiles + share_us +
           share_column_us * (double)kernel->tile_n + share_part_us * parts;
}

/* The share by which the tiles take least, of those that need no more than so many bytes. */
static int64_t best_share(const xg_kernel *kernel, int processors, int64_t m, int64_t n, int64_t k,
                          size_t bytes)
{
    const xg_fp16_rounds rounds = xg_fp16_rounds_of(kernel, processors, m, n, 1);
    const int64_t k_blocks = xg_blocks_of(xg_split_k(k), XG_UNIT_K);
    const int64_t least = xg_tiles_of((rounds.tiles - rounds.whole) * k_blocks, rounds.clusters);
    double best_us = waves_us(kernel, processors, m, n, k, 0);
    int64_t best = 0;
    if (processors > XG_SHARE_COUNTS || least == 0 || (size_t)rounds.sums * 4 > bytes)
        return 0;
    for (int64_t parts = 2; parts <= SHARE_PARTS_MOST; parts++) {
        const int64_t even = xg_tiles_of(k_blocks, parts), share = even > least ? even : least;
        const double us = waves_us(kernel, processors, m, n, k, share);
        if (share < k_blocks && us < best_us) {
            best = share;
            best_us = us;
        }
    }
    return best;
}

/* What is seen of C's stores: also of those at its edges, by words. */
static double stores_us(const xg_kernel *kernel, const xg_args *p, int processors, int64_t m,
                        int64_t n)
{
    const bool aligned = (uintptr_t)p->c % 16 == 0 && p->c_stride_m % 4 == 0;
    const xg_fp16_rounds rounds = xg_fp16_rounds_of(kernel, processors, m, n, 0);
    const double tile = 4.0 * kernel->tile_m * kernel->tile_n * (double)xg_blocks_together(kernel);
    const double last = tile * (double)rounds.clusters / last_rate;
    const double all = 4.0 * (double)m * (double)n;
    const int64_t below = m % XG_UNIT_LINES,
                  beside = n % (kernel->tile_n < STORED_COLUMNS ? kernel->tile_n : STORED_COLUMNS);
    const double edge = 4.0 * ((double)below * (double)n + (double)(m - below) * (double)beside);
    return last + (aligned ? 0.0 : all / ragged_rate) + (edge > 0.0 ? edge_us : 0.0) +
           edge / edge_rate;
}

/* The time of one panel. */
static double panel_us(const xg_kernel *kernel, const xg_args *p, int processors, int64_t m,
                       int64_t n, int64_t k, int64_t share)
{
    return split_time(kernel, p, processors, m, n, k) + product_us +
           (kernel->cluster ? cluster_us : 0.0) + waves_us(kernel, processors, m, n, k, share) +
           stores_us(kernel, p, processors, m, n);
}

static int64_t half_of(int64_t size, int64_t step)
{
    return xg_tiles_of(xg_tiles_of(size, 2), step) * step;
}

/* Smaller along the way that costs least; false when it is as small as it may be. */
static bool shrink(xg_shape *shape)
{
    enum { LONG_K = 4096, SHORT_K = 512 };
    int64_t *const longer = shape->panel_m > shape->panel_n ? &shape->panel_m : &shape->panel_n;
    if (shape->panel_k > LONG_K)
        shape->panel_k = half_of(shape->panel_k, XG_CHUNK_K);
    else if (*longer > XG_LINES_STEP)
        *longer = half_of(*longer, XG_LINES_STEP);
    else if (shape->panel_k > SHORT_K)
        shape->panel_k = half_of(shape->panel_k, XG_CHUNK_K);
    else
        return false;
    return true;
}

/* What is needed for a panel, but for sums. */
static size_t panel_bytes(const xg_kernel *kernel, const xg_shape *shape)
{
    return (size_t)xg_fp16_layout_of(shape->panel_m, shape->panel_n, shape->panel_k, kernel->parts)
               .bytes +
           XG_WORKSPACE_ALIGN;
}

static void choose_panels(const xg_kernel *kernel, const xg_request *request, xg_shape *shape)
{
    const size_t limit =
        request->workspace_limit < workspace_most ? request->workspace_limit : workspace_most;
    const int64_t k = request->problem.k;
    shape->panel_m = shape->m;
    shape->panel_n = shape->n;
    shape->panel_k = k;
    while (shape->panel_k > XG_SPLIT_K_MOST)
        shape->panel_k = half_of(shape->panel_k, XG_CHUNK_K);
    while (panel_bytes(kernel, shape) > limit && shrink(shape))
        ;
    shape->panels = xg_tiles_of(shape->m, shape->panel_m) * xg_tiles_of(shape->n, shape->panel_n) *
                    xg_tiles_of(k, shape->panel_k);
    const bool strips = shape->m < request->problem.m || shape->n < request->problem.n;
    if (shape->panels == 1 && !strips && panel_bytes(kernel, shape) < limit)
        shape->share = best_share(kernel, request->processors, shape->m, shape->n, k,
                                  limit - panel_bytes(kernel, shape));
    const xg_fp16_rounds rounds =
        xg_fp16_rounds_of(kernel, request->processors, shape->m, shape->n, shape->share);
    shape->shared = (rounds.tiles - rounds.whole) * xg_blocks_together(kernel);
}

xg_shape xg_fp16_shape(const xg_kernel *kernel, const xg_request *request, int64_t m, int64_t n)
{
    const xg_args *p = &request->problem;
    xg_shape shape = {.m = m, .n = n, .k_part = p->k, .together = 1};
    choose_panels(kernel, request, &shape);
    shape.microseconds =
        (double)shape.panels * panel_us(kernel, p, request->processors, shape.panel_m,
                                        shape.panel_n, shape.panel_k, shape.share);
    return shape;
}

bool xg_strips_fit_inside(const xg_args *p)
{
    return steps_fit(p) && p->m >= XG_STRIP_LINES && p->n >= XG_STRIP_LINES;
}

/* What tiles lose by strips that read so many bytes. */
static double beside_strips_us(const xg_kernel *kernel, double bytes)
{
    const bool few = kernel->tile_n > 64 && !splits_late(kernel);
    return strips_us + bytes / (few ? strips_few_rate : strips_rate);
}

/* The steps of one warp beside the tiles, of three beside the last one, then of all. */
double xg_fp16_strips_us(const xg_kernel *kernel, const xg_request *request, const xg_shape *shape)
{
    const xg_args *p = &request->problem;
    const int64_t below = p->m - shape->m, beside = p->n - shape->n;
    const double words = (double)below * (double)p->n + (double)beside * (double)shape->m;
    const double steps = words * (double)p->k / (32.0 * STRIP_WORDS);
    const double step_us = kernel->tile_n == 64 ? strip_step_64_us : strip_step_us;
    const double strips = step_us * steps / request->processors;
    const double waves = waves_of(kernel, request->processors, shape->m, shape->n);
    const double tiles =
        waves_us(kernel, request->processors, shape->m, shape->n, p->k, shape->share);
    return xg_larger(strips - tiles * (1.0 + 2.0 / waves), 0.0) / STRIP_WARPS +
           beside_strips_us(kernel, 4.0 * words * (double)p->k);
}

/* A matrix's lines, for so many strips. */
static double split_strips_us(int64_t strips, int64_t lines, int64_t k)
{
    const double us = 4.0 * (double)lines * (double)k / split_strips_rate;
    return strips > 0 ? us * (1.0 + split_strip_more * (double)(strips - 1)) : 0.0;
}

double xg_fp16_split_strips_us(const xg_kernel *kernel, const xg_request *request,
                               const xg_shape *shape)
{
    const xg_args *p = &request->problem;
    const int64_t below = p->m - shape->m, beside = p->n - shape->n;
    const int early_blocks =
        xg_fp16_early_of_a(kernel, request->processors, p, shape->m, shape->n, shape->share, true);
    const int64_t early = (int64_t)XG_UNIT_LINES * early_blocks;
    const double late = (double)beside * (double)(early < shape->m ? shape->m - early : 0);
    if (below > XG_SPLIT_STRIPS || beside > XG_SPLIT_STRIPS)
        return -1.0;
    return vectors_us + split_strips_us(below, shape->n, p->k) +
           split_strips_us(beside, shape->m, p->k) +
           (late > 0.0 ? beside_strips_us(kernel, 4.0 * late * (double)p->k) : 0.0);
}
