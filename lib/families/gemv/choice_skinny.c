/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model of "skinny": it waits for memory, or for the steps of one block, wave after wave; the
 * sum over parts of k follows. Constants as in choice_model.c.
 */
#include "planner/choice.h"
#include "skinny1_across.h"
#include "planner/steps.h"

/* A later wave of blocks, and a step of one, of lines along k and of others; and by the lines
 * that it computes, a block's beginning, what each k adds, and how fast it reads. */
static const double wave_us = 3.873, step_us = 0.835, step_across_us = 1.583;
static const struct {
    int side;
    double first, per_k, rate;
} speeds[] = {{1, 0.56, 0.0, 4.33e6},
              {2, 1.71, 0.0, 4.08e6},
              {4, 1.94, 0.0005, 2.24e6},
              {8, 2.02, 0.0025, 1.6e6},
              {16, 3.68, 0.0077, 1.65e6}};

/*
 * The lines of a block, the k of its step, and the blocks that a multiprocessor
 * holds. With lines along k few blocks are soon done: up to LINES_WHOLE k a second launch would
 * take longer, and of a longer k so many blocks a multiprocessor are enough.
 */
enum { SKINNY_LINES = 32, SKINNY_K = 256 };
enum { LINES_LINES = 8, LINES_K = 1024, LINES_HELD = 4, LINES_WHOLE = 4096, LINES_ENOUGH = 3 };

/*
 * With lines side by side the warps of a block share k, and clusters of blocks as far as the GPU
 * holds them and a step is not all that one has. Large blocks are
 * faster where they have more than a step and fill the GPU, by two at most (doc/notes/fp32.md).
 * Without clusters a part is no shorter than what a launch takes.
 */
enum { ACROSS_ENOUGH = 3, ACROSS_LEAST = 1024 };

/* The blocks of so many warps that the GPU holds at once. */
static int64_t across_held(int warps, int processors)
{
    return (int64_t)processors * (XG_ACROSS_WARPS_MOST / warps);
}

/* The blocks of a cluster: a power of two. */
static int64_t across_parts(const xg_skinny_shape *s, int64_t k, int warps, int processors)
{
    int64_t parts = 1;
    while (parts < XG_ACROSS_CLUSTER && xg_tiles_of(k, parts) > (int64_t)warps * XG_ACROSS_STEP &&
           2 * parts * s->blocks <= across_held(warps, processors))
        parts *= 2;
    return parts;
}

/* For skinny1_across.cu; a cluster's parts are as many as it has blocks. */
static void share_across(xg_skinny_shape *s, int64_t k, int processors, bool clusters)
{
    const int most = XG_ACROSS_WARPS_MOST;
    const int64_t held = across_held(most, processors);
    const int64_t by_most = clusters ? across_parts(s, k, most, processors) : 1;
    const int64_t blocks = s->blocks * by_most;
    const bool large = xg_tiles_of(k, by_most) > (int64_t)most * XG_ACROSS_STEP && by_most <= 2 &&
                       blocks <= held && 8 * blocks >= 7 * held;
    s->warps = large ? most : XG_ACROSS_WARPS_LEAST;
    if (!clusters) {
        const int64_t enough = ACROSS_ENOUGH * across_held(s->warps, processors) /
                               (XG_ACROSS_WARPS_MOST / XG_ACROSS_WARPS_LEAST);
        s->part = xg_part_of(k, s->blocks, enough, ACROSS_LEAST, 1);
        return;
    }
    const int64_t parts = large ? by_most : across_parts(s, k, s->warps, processors);
    s->part = xg_tiles_of(k, parts);
    s->cluster = parts > 1 ? (int)parts : 0;
}

/* Whether the lines of the large matrix, B's columns or A's rows, are contiguous. */
static bool is_along_k(const xg_args *p)
{
    return (p->m <= p->n ? p->b_stride_k : p->a_stride_k) == 1;
}

xg_skinny_shape xg_skinny_of(const xg_args *p, int processors, int64_t architecture)
{
    const bool low = p->m <= p->n;
    xg_skinny_shape s = {.side = low ? p->m : p->n, .lines = low ? p->n : p->m};
    s.along_k = s.side == 1 && is_along_k(p);
    s.across = s.side == 1 && !s.along_k;
    s.blocks = xg_tiles_of(s.lines, s.along_k  ? LINES_LINES
                                    : s.across ? XG_ACROSS_LINES
                                               : SKINNY_LINES);
    s.groups = xg_tiles_of(s.side, XG_STRIP_MOST);
    if (s.across)
        share_across(&s, p->k, processors, architecture == 90);
    else if (!s.along_k)
        s.part = xg_part_of(p->k, s.blocks * s.groups, processors, 512, 4);
    else if (p->k <= LINES_WHOLE)
        s.part = p->k;
    else
        s.part = xg_part_of(p->k, s.blocks, LINES_ENOUGH * (int64_t)processors, LINES_K, LINES_K);
    return s;
}

double xg_skinny_us(const xg_args *p, const xg_request *request)
{
    const xg_skinny_shape s = xg_skinny_of(p, request->processors, request->architecture);
    const int64_t parts = xg_tiles_of(p->k, s.part), blocks = s.blocks * s.groups * parts;
    const int64_t held = s.across ? across_held(s.warps, request->processors)
                                  : (int64_t)request->processors * (s.along_k ? LINES_HELD : 1);
    const int64_t step = s.along_k  ? LINES_K
                         : s.across ? (int64_t)s.warps * XG_ACROSS_STEP
                                    : SKINNY_K;
    const double busy = xg_larger(1.0, (double)blocks / (double)held);
    const double side = (double)s.side, lines = (double)s.lines, k = (double)p->k;
    const double floats = lines * k * (double)s.groups + side * k + side * lines;
    int i = 0;
    while (i < 4 && speeds[i].side < s.side)
        i++;
    const double each = is_along_k(p) || s.across ? step_us : step_across_us;
    const double steps =
        busy * ((double)s.part * speeds[i].per_k + (double)s.part / (double)step * each);
    const double waves = (double)xg_tiles_of(blocks, held) - 1.0;
    return speeds[i].first +
           xg_larger(waves * wave_us + steps, xg_floats_us(floats, speeds[i].rate)) +
           xg_sum_us(xg_sums_of(p->k, s.part, s.cluster), side * lines);
}
