/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model. Tiles of C, times the parts of k, are blocks, of which the GPU
 * holds processors * blocks_per_sm at once: a wave. A wave takes
 *
 *     fixed + (depth + stores) * per_k                       when it is full,
 *     fixed + (depth + stores) * per_k * max(share, alone)   when a share of it is there,
 *
 * where depth is the part of k, up to a whole number of stages, and "stores" what the
 * tile's way to C takes, and "ragged" more, or less, where C is not aligned: blocks that
 * have a multiprocessor to themselves are faster, down to a point. The many short blocks
 * of the thin kernels form no waves: together they take
 *
 *     fixed + (depth + stores) * per_k * max(blocks / held, share, alone),
 *
 * with k up to a multiple of a few, of which what they do not ask for at once takes
 * longer, and C goes to memory faster. A kernel that copies operands as they lie takes
 * "words" more when both go word by word along k, and of that "across" when they go across; one
 * that transposes fours along k, when both lie so. These and the sliced ones have operands copied
 * first, aligned, where that takes less. Kernels with maps do not split k, but have all blocks
 * share the last tiles (kernels/tma_share.inc), which then take what a part of that length does,
 * and what is left and fetched by way of memory. To that come the launches, the copies that align
 * operands, the sum over the parts, and the strips at the edges, all at the memory's speed; and
 * nothing is faster than reading A and B and writing C once, while a part of the shorter of both
 * times still shows. Clusters of two blocks, where a kernel and the GPU know them, add up their
 * parts of k in a time of their own, and leave half as many sums.
 * "skinny" has a model of its own (choice_skinny.c), and so have the kernels on FP16 parts
 * (choice_fp16.c).
 *
 * Of a batch a launch computes as many products together as the grid, and the
 * workspace for their copies, hold; or the best launches for one are repeated for
 * each, which large products do not mind.
 *
 * The constants were fitted to what an H200 takes where its host does not count, by replayed
 * graphs (doc/notes/fp32.md): on another GPU they are off by about the same factor all, so that
 * the choice remains a good one.
 */
#include "choice_model.h"

#include "families/tensor/fp16_layout.h"
#include "planner/steps.h"

#include <string.h>

/* Microseconds; bytes a microsecond. A launch overlaps the one before it. */
static const double launch_us = 0.572, next_launch_us = 1.997, copy_rate = 3.56e6,
                    read_rate = 4.5e6, write_rate = 1.71e6, thin_write_rate = 3.22e6,
                    sum_rate = 1.95e6;

/* Between the passes of a batch. */
static const double next_pass_us = 0.8;

/* Copies of operands that L2 holds: for the sliced kernels, and those with maps. */
static const double near_copy_us = 2.0, near_copy_rate = 4.16e6;

/* What the thin kernels ask for at once. */
static const double thin_k = 18.9;

/* Sharing tiles, by what is counted on; and each part of a tile that is added. */
static const double share_us = 5.385, share_part_us = 0.231;

/* The sum in a cluster; and what shows of the shorter one, of the blocks' time and the memory's. */
static const double cluster_us = 1.196, shows = 0.367;

static const xg_speed speeds[] = {
    {"pipelined-128x128", 2, 0.1534, 0.552, 1.24, 0, 0, 2.7, -2.2, false, 0, 0, 0},
    {"pipelined-64x128", 4, 0.1638, 0.316, 0.99, 0, 0, 0, 2.0, false, 0, 0, 0},
    {"pipelined-32x64", 8, 0.1040, 0.175, 0.29, 0, 0, 0.5, 4.6, false, 0, 0, 0},
    {"pipelined-words-32x64", 4, 0.0500, 0.313, 1.08, 0.30, 0.07, 5.0, -5.6, false, 0, 0, 1},
    {"pipelined-words-64x128", 3, 0.1212, 0.398, 2.11, 0.19, 0, 22.3, -22.6, false, 0, 0, 1},
    {"tma-128x128", 2, 0.1475, 0.531, 2.29, 0, 0, 4.1, -16.4, false, 0, 0, 0},
    {"tma-sliced-64x128", 1, 0.0381, 1.000, 2.31, 0.14, 0, 2.8, -0.3, false, 0, 0, 0},
    {"tma-sliced-64x64", 1, 0.0199, 1.000, 1.71, 0.20, 0, 0.6, 4.4, false, 0, 0, 64},
    {"sliced-64x128", 1, 0.0402, 1.000, 2.96, 0.29, 0.85, 3.5, -2.5, false, 0, 0, 0},
    {"sliced-64x64", 2, 0.0420, 0.535, 1.16, 0.32, 0.85, 34.8, -8.9, false, 0, 0, 0},
    {"sliced-96x96", 1, 0.0454, 1.000, 2.99, 0.25, 0.85, 6.4, 5.8, false, 0, 0, 0},
    {"sliced-32x64", 4, 0.0429, 0.321, 0.76, 0.28, 0.36, 49.2, -0.5, false, 0, 0, 0},
    {"sliced-64x32", 4, 0.0451, 0.307, 0.66, 0.44, 0.48, 33.5, 9.7, false, 0, 0, 0},
    {"sliced-32x32", 4, 0.0250, 0.304, 0.75, 0.15, 1.20, 42.2, 7.6, false, 0, 0, 0},
    {"sliced-16x128", 2, 0.0278, 0.400, 1.31, 0.52, 0.08, 29.8, 17.5, false, 0, 1, 0},
    {"sliced-128x16", 2, 0.0297, 0.400, 1.47, 0.31, 0.28, 24.3, 26.1, false, 0, 1, 0},
    {"sliced-16x64", 2, 0.0153, 0.403, 0.97, 0.31, 0.58, 60.0, 29.9, false, 0, 1, 0},
    {"sliced-64x16", 2, 0.0137, 0.485, 1.21, 0.44, 0.65, 60.0, 3.4, false, 0, 1, 0},
    {"thin-64x128", 4, 0.1500, 0.308, 1.00, 0.10, 0.52, 3.7, 15.5, false, 1.41, 1, 4},
    {"thin-64x64", 8, 0.1627, 0.282, 0.91, 0.22, 0.23, 1.8, 24.0, false, 1.45, 1, 4},
    {"thin-64x64-8x4", 5, 0.1167, 0.265, 0.66, 0.14, 1.20, 8.4, 13.8, false, 1.20, 1, 4},
    {"thin-32x32", 20, 0.1301, 0.227, 0.52, 0.41, 1.20, 6.1, 22.7, false, 1.25, 1, 4},
    {"thin-fours-64x64", 8, 0.1490, 0.267, 0.61, 0.35, 0, 0, 25.4, false, 1.20, 0, 8},
    {"bf16x6-64x64", 2, 0.0425, 0.600, 3.50, 1.80, 0.30, 0, 0, false, 0, 2, 0},
    {"bf16x6-128x128", 1, 0.0435, 1.000, 3.00, 0.30, 0.30, 0, 0, true, 0, 2, 0},
    {"bf16x6-128x16", 2, 0.0225, 0.600, 2.50, 0.30, 0.30, 0, 0, true, 0, 2, 0},
    {"bf16x6-16x128", 2, 0.0225, 0.600, 2.50, 0.30, 0.30, 0, 0, true, 0, 2, 0},
};
enum { SPEEDS = sizeof speeds / sizeof *speeds };

int64_t xg_part_of(int64_t k, int64_t blocks, int64_t enough, int64_t least, int64_t multiple)
{
    const int64_t most = k / least;
    int64_t parts = enough / blocks;
    parts = parts > most ? most : parts;
    return parts <= 1 ? k : xg_tiles_of(xg_tiles_of(k, parts), multiple) * multiple;
}

/* Also of a batch's other matrices, apart floats further on; of lists it is not known. */
static bool lines_are_aligned(const float *base, int64_t x_step, int64_t l_step, int64_t apart)
{
    return x_step == 1 && l_step % 4 == 0 && l_step < 1 << 28 && (uintptr_t)base % 16 == 0 &&
           apart % 4 == 0 && apart != XG_LISTS;
}

static bool is_aligned(const float *base, int64_t x_step, int64_t l_step, int64_t size,
                       int64_t apart)
{
    return lines_are_aligned(base, x_step, l_step, apart) && size % 4 == 0;
}

/* The copy engine minds no line's end. */
static bool is_packed(const xg_kernel *kernel, const float *base, int64_t x_step, int64_t l_step,
                      int64_t size, int64_t apart)
{
    return kernel->has_maps ? !lines_are_aligned(base, x_step, l_step, apart)
                            : !is_aligned(base, x_step, l_step, size, apart);
}

static unsigned operands(bool a, bool b)
{
    return (a ? XG_COPIES_A : 0u) | (b ? XG_COPIES_B : 0u);
}

/* The operands that lie in fours along k. */
static unsigned along_of(const xg_args *p)
{
    return operands(is_aligned(p->a, p->a_stride_k, p->a_stride_m, p->k, p->a_batch),
                    is_aligned(p->b, p->b_stride_k, p->b_stride_n, p->k, p->b_batch));
}

/* Those of them that a kernel transposes itself. */
static unsigned turned_of(const xg_kernel *kernel, const xg_args *p)
{
    return kernel->packs == XG_PACKS_UNLESS_FOURS ? along_of(p)
           : kernel->packs == XG_PACKS_UNLESS_A_ALONG
               ? operands(lines_are_aligned(p->a, p->a_stride_k, p->a_stride_m, p->a_batch), false)
               : 0;
}

unsigned xg_uneven(const xg_kernel *kernel, const xg_args *p, int64_t m, int64_t n)
{
    return operands(is_packed(kernel, p->a, p->a_stride_m, p->a_stride_k, m, p->a_batch),
                    is_packed(kernel, p->b, p->b_stride_n, p->b_stride_k, n, p->b_batch));
}

/* What has to be copied, and what the shape has copied besides. */
unsigned xg_copied(const xg_kernel *kernel, const xg_args *p, const xg_shape *shape)
{
    const unsigned uneven = xg_uneven(kernel, p, shape->m, shape->n);
    const unsigned must = kernel->packs == XG_PACKS_NONE ? 0u : ~turned_of(kernel, p);
    return uneven & (must | shape->copied);
}

bool xg_maps_reach(const xg_args *p)
{
    const int64_t most = INT32_MAX - 1024; /* a tile's beginning and what is past an edge, too */
    return p->m <= most && p->n <= most && p->k <= most;
}

double xg_floats_us(double floats, double rate)
{
    return 4.0 * floats / rate;
}

unsigned xg_words_of(const xg_speed *s, const xg_kernel *kernel, const xg_args *p)
{
    const unsigned uneven = xg_uneven(kernel, p, p->m, p->n);
    return uneven & (kernel->packs ? turned_of(kernel, p)
                                   : ~(along_of(p) & operands(s->along_k > 0, s->along_k > 1)));
}

/* What the kernel transposes, or copies word by word, costs: by each operand's share of a tile. */
double xg_words_factor(const xg_speed *s, const xg_kernel *kernel, const xg_args *p,
                       unsigned copied)
{
    const unsigned words = xg_words_of(s, kernel, p) & ~copied;
    const double a = words & XG_COPIES_A ? (p->a_stride_m != 1 ? 1.0 : s->across) : 0.0;
    const double b = words & XG_COPIES_B ? (p->b_stride_n != 1 ? 1.0 : s->across) : 0.0;
    return 1.0 +
           s->words * (a * kernel->tile_m + b * kernel->tile_n) / (kernel->tile_m + kernel->tile_n);
}

/* blocks that take so many microseconds each, and a beginning, where a multiprocessor is full. */
static double waves_us(const xg_speed *s, int64_t blocks, double wave, int processors)
{
    const int64_t held = (int64_t)processors * s->blocks_per_sm;
    const int64_t full = blocks / held, rest = blocks % held;
    const double share = (double)xg_tiles_of(rest, processors) / s->blocks_per_sm;
    if (s->wait > 0.0) {
        const double all = full > 0 ? (double)blocks / (double)held : share;
        return s->fixed + wave * xg_larger(all, s->alone);
    }
    return (double)full * (s->fixed + wave) +
           (rest ? s->fixed + wave * xg_larger(share, s->alone) : 0.0);
}

/* What is read and written to copy an operand of that width; the copy's lines are padded. */
static double copied_floats(const xg_args *p, int64_t width, int64_t copies)
{
    return (double)copies * (double)(width + xg_packed_line(width)) * (double)p->k;
}

/* What the copies before the product take: one launch, or one an operand of several products. */
double xg_copies_us(const xg_kernel *kernel, const xg_args *p, const xg_shape *shape)
{
    const unsigned copied = xg_copied(kernel, p, shape);
    const bool a = copied & XG_COPIES_A, b = copied & XG_COPIES_B;
    const double floats = (a ? copied_floats(p, shape->m, p->a_batch ? shape->together : 1) : 0.0) +
                          (b ? copied_floats(p, shape->n, p->b_batch ? shape->together : 1) : 0.0);
    const double launches = a && b && shape->together > 1 ? 2.0 : a || b ? 1.0 : 0.0;
    const double us = xg_floats_us(floats, copy_rate);
    return kernel->packs && !kernel->has_maps
               ? launches * next_launch_us + us
               : xg_larger(launches * near_copy_us + xg_floats_us(floats, near_copy_rate), us);
}

double xg_sum_us(int64_t parts, double floats)
{
    return parts > 1 ? next_launch_us + xg_floats_us(((double)parts + 1.0) * floats, sum_rate)
                     : 0.0;
}

/* The strips that m × n leaves of the problem. */
double xg_strips_us(const xg_request *request, int64_t m, int64_t n)
{
    const xg_args *p = &request->problem;
    xg_args below = *p, beside = *p;
    below.m = p->m - m;
    beside.m = m;
    beside.n = p->n - n;
    return (m < p->m ? next_launch_us + xg_skinny_us(&below, request) : 0.0) +
           (n < p->n ? next_launch_us + xg_skinny_us(&beside, request) : 0.0);
}

/* The k that a block computes. */
static double depth_of(const xg_speed *s, const xg_kernel *kernel, int64_t k)
{
    const int64_t step = s->step > 0 ? s->step : kernel->tile_k;
    return (double)(xg_tiles_of(k, step) * step);
}

/* And what it stores, as k; of a thin kernel k beyond what is asked for at once is waited for. */
static double work_of(const xg_speed *s, const xg_kernel *kernel, const xg_args *p, unsigned copied,
                      int64_t k)
{
    const double depth = depth_of(s, kernel, k) * xg_words_factor(s, kernel, p, copied);
    const double later = s->wait > 0.0 && depth > thin_k ? (s->wait - 1.0) * (depth - thin_k) : 0.0;
    const bool even = p->c_stride_m % 4 == 0 && (uintptr_t)p->c % 16 == 0;
    return depth + later + s->stores + (even ? 0.0 : s->ragged);
}

int64_t xg_tiles_together(const xg_kernel *kernel, const xg_shape *shape)
{
    return xg_tiles_of(shape->m, kernel->tile_m) * xg_tiles_of(shape->n, kernel->tile_n) *
           shape->together;
}

int64_t xg_sharers_of(const xg_kernel *kernel, const xg_shape *shape, int64_t k)
{
    return shape->share > 0
               ? xg_tiles_of(shape->shared * xg_tiles_of(k, kernel->tile_k), shape->share)
               : 0;
}

/* The tiles that a block has each, in whole waves, and those that are shared. */
static double shared_waves_us(const xg_speed *s, const xg_kernel *kernel, const xg_request *request,
                              const xg_shape *shape, int64_t tiles)
{
    const xg_args *p = &request->problem;
    const int64_t depth = shape->share * kernel->tile_k;
    const double parts = (double)xg_tiles_of(p->k, depth);
    const double whole = work_of(s, kernel, p, shape->copied, p->k) * s->per_k;
    const double share = work_of(s, kernel, p, shape->copied, depth) * s->per_k;
    return waves_us(s, tiles - shape->shared, whole, request->processors) +
           waves_us(s, xg_sharers_of(kernel, shape, p->k), share, request->processors) +
           next_launch_us + share_us + share_part_us * parts;
}

/* The time of one pass. */
double xg_shape_us(const xg_speed *s, const xg_kernel *kernel, const xg_request *request,
                   const xg_shape *shape)
{
    const xg_args *p = &request->problem;
    const double all = (double)shape->together;
    const int64_t parts = xg_tiles_of(p->k, shape->k_part);
    const int64_t sums = xg_sums_of(p->k, shape->k_part, shape->cluster);
    const int64_t tiles = xg_tiles_together(kernel, shape);
    const double m = (double)shape->m, n = (double)shape->n, k = (double)p->k;
    const double read = (p->a_batch ? all : 1.0) * m * k + (p->b_batch ? all : 1.0) * k * n;
    const double least =
        xg_floats_us(read, read_rate) +
        xg_floats_us((double)sums * all * m * n, s->wait > 0.0 ? thin_write_rate : write_rate);
    const double wave = work_of(s, kernel, p, shape->copied, shape->k_part) * s->per_k;
    const double waves = shape->share > 0 ? shared_waves_us(s, kernel, request, shape, tiles)
                                          : waves_us(s, tiles * parts, wave, request->processors);
    const double us = xg_larger(waves, least) + shows * (waves < least ? waves : least);
    return launch_us + xg_copies_us(kernel, p, shape) + us +
           (shape->cluster > 1 ? cluster_us : 0.0) + xg_sum_us(sums, all * m * n) +
           xg_strips_us(request, shape->m, shape->n);
}

const xg_speed *xg_speed_of(const xg_kernel *kernel)
{
    for (int i = 0; i < SPEEDS; i++)
        if (strcmp(speeds[i].kernel, kernel->name) == 0)
            return &speeds[i];
    return NULL;
}

double xg_launched_us(double us)
{
    return launch_us + us;
}

/* The time of a batch, from that of one pass: a pass begins when the one before has ended. */
double xg_repeated_us(double pass_us, int64_t passes)
{
    return pass_us + (double)(passes - 1) * (pass_us + next_pass_us);
}

/* That of all passes, of which the last may have fewer products. */
double xg_passes_us(const xg_speed *s, const xg_kernel *kernel, const xg_request *request,
                    const xg_shape *shape)
{
    const int64_t full = request->products / shape->together;
    xg_shape last = *shape;
    last.together = request->products % shape->together;
    const double us = xg_repeated_us(shape->microseconds, full);
    return last.together == 0 ? us : us + xg_shape_us(s, kernel, request, &last) + next_pass_us;
}
