/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost model of gemv/: a kernel waits for memory, or for the steps of one CTA, wave after wave;
 * adding up the partial sums of split-K follows.
 */
#include "gemv.h"
#include "gemv_mn_major.h"

/* The rows of a CTA, and the k of its step. */
enum { SKINNY_ROWS = 32, SKINNY_K = 256 };

/*
 * The same for a vector and a K-major matrix, and the CTAs that a multiprocessor holds. Few CTAs
 * are soon done: up to K_MAJOR_WHOLE k a second launch would take longer, and of a longer k so many
 * CTAs a multiprocessor are enough.
 */
enum {
    K_MAJOR_ROWS = 8,
    K_MAJOR_K = 1024,
    K_MAJOR_HELD = 4,
    K_MAJOR_WHOLE = 4096,
    K_MAJOR_ENOUGH = 3
};

/*
 * With an MN-major matrix the warps of a CTA share k, and so do clusters of CTAs as far as the GPU
 * holds them and one has more than a step. Large CTAs are faster where they have more than a step
 * and fill the GPU, by two at most. Without clusters a split is no shorter than what a launch
 * takes.
 */
enum { MN_MAJOR_ENOUGH = 3, MN_MAJOR_LEAST = 1024 };

double xg_elements_us(double elements, double rate)
{
    return 4.0 * elements / rate;
}

double xg_reduce_us(const xg_costs *costs, int64_t splits, double elements)
{
    return splits > 1 ? costs->next_launch_us +
                            xg_elements_us(((double)splits + 1.0) * elements, costs->reduce_rate)
                      : 0.0;
}

int64_t xg_partial_sums(int64_t k, int64_t k_per_split, int64_t cluster)
{
    return xg_ceil_div(k, k_per_split) / (cluster > 1 ? cluster : 1);
}

int64_t xg_split_depth(int64_t k, int64_t blocks, int64_t enough, int64_t least, int64_t multiple)
{
    const int64_t most = k / least;
    int64_t splits = enough / blocks;
    splits = splits > most ? most : splits;
    return splits <= 1 ? k : xg_ceil_div(xg_ceil_div(k, splits), multiple) * multiple;
}

/* The CTAs of so many warps that the GPU holds at once. */
static int64_t mn_major_held(int warps, int multiprocessors)
{
    return (int64_t)multiprocessors * (XG_GEMV_MN_WARPS_MOST / warps);
}

/* The CTAs of a cluster: a power of two. */
static int64_t mn_major_splits(const xg_gemv_shape *s, int64_t k, int warps, int multiprocessors)
{
    int64_t splits = 1;
    while (splits < XG_GEMV_MN_CLUSTER &&
           xg_ceil_div(k, splits) > (int64_t)warps * XG_GEMV_MN_WARP_K &&
           2 * splits * s->blocks <= mn_major_held(warps, multiprocessors))
        splits *= 2;
    return splits;
}

/* For gemv_mn_major.cu; a cluster has a CTA for each split. */
static void split_mn_major(xg_gemv_shape *s, int64_t k, int multiprocessors, bool clusters)
{
    const int most = XG_GEMV_MN_WARPS_MOST;
    const int64_t held = mn_major_held(most, multiprocessors);
    const int64_t by_most = clusters ? mn_major_splits(s, k, most, multiprocessors) : 1;
    const int64_t blocks = s->blocks * by_most;
    const bool large = xg_ceil_div(k, by_most) > (int64_t)most * XG_GEMV_MN_WARP_K &&
                       by_most <= 2 && blocks <= held && 8 * blocks >= 7 * held;
    s->warps = large ? most : XG_GEMV_MN_WARPS_LEAST;
    if (!clusters) {
        const int64_t enough = MN_MAJOR_ENOUGH * mn_major_held(s->warps, multiprocessors) /
                               (XG_GEMV_MN_WARPS_MOST / XG_GEMV_MN_WARPS_LEAST);
        s->k_per_split = xg_split_depth(k, s->blocks, enough, MN_MAJOR_LEAST, 1);
        return;
    }
    const int64_t splits = large ? by_most : mn_major_splits(s, k, s->warps, multiprocessors);
    s->k_per_split = xg_ceil_div(k, splits);
    s->cluster = splits > 1 ? (int)splits : 0;
}

/* Whether k is contiguous in the large matrix, which is A or B. */
static bool is_k_major(const xg_problem *p)
{
    return (p->m <= p->n ? p->b_stride_k : p->a_stride_k) == 1;
}

xg_gemv_shape xg_gemv_shape_of(const xg_problem *p, const xg_target *target)
{
    const bool low = p->m <= p->n;
    const int64_t multiprocessors = target->multiprocessors;
    xg_gemv_shape s = {.side = low ? p->m : p->n, .lines = low ? p->n : p->m};
    s.k_major = s.side == 1 && is_k_major(p);
    s.mn_major = s.side == 1 && !s.k_major;
    s.blocks = xg_ceil_div(s.lines, s.k_major    ? K_MAJOR_ROWS
                                    : s.mn_major ? XG_GEMV_MN_ROWS
                                                 : SKINNY_ROWS);
    s.groups = xg_ceil_div(s.side, XG_STRIP_MOST);
    if (s.mn_major)
        split_mn_major(&s, p->k, target->multiprocessors, target->compute_capability == 90);
    else if (!s.k_major)
        s.k_per_split = xg_split_depth(p->k, s.blocks * s.groups, multiprocessors, 512, 4);
    else if (p->k <= K_MAJOR_WHOLE)
        s.k_per_split = p->k;
    else
        s.k_per_split =
            xg_split_depth(p->k, s.blocks, K_MAJOR_ENOUGH * multiprocessors, K_MAJOR_K, K_MAJOR_K);
    return s;
}

double xg_gemv_us(const xg_problem *p, const xg_target *target)
{
    const xg_costs *const costs = target->costs;
    const xg_gemv_shape s = xg_gemv_shape_of(p, target);
    const int64_t splits = xg_ceil_div(p->k, s.k_per_split), blocks = s.blocks * s.groups * splits;
    const int64_t held = s.mn_major
                             ? mn_major_held(s.warps, target->multiprocessors)
                             : (int64_t)target->multiprocessors * (s.k_major ? K_MAJOR_HELD : 1);
    const int64_t step = s.k_major    ? K_MAJOR_K
                         : s.mn_major ? (int64_t)s.warps * XG_GEMV_MN_WARP_K
                                      : SKINNY_K;
    const double busy = xg_larger(1.0, (double)blocks / (double)held);
    const double side = (double)s.side, lines = (double)s.lines, k = (double)p->k;
    const double elements = lines * k * (double)s.groups + side * k + side * lines;
    const double depth = (double)s.k_per_split;
    int i = 0;
    while (i < XG_GEMV_SIDES - 1 && costs->gemv[i].side < s.side)
        i++;
    const double step_us =
        is_k_major(p) || s.mn_major ? costs->gemv_step_us : costs->gemv_mn_major_step_us;
    const double steps = busy * (depth * costs->gemv[i].us_per_k + depth / (double)step * step_us);
    const double waves = (double)xg_ceil_div(blocks, held) - 1.0;
    return costs->gemv[i].first_us +
           xg_larger(waves * costs->gemv_wave_us + steps,
                     xg_elements_us(elements, costs->gemv[i].read_rate)) +
           xg_reduce_us(costs, xg_partial_sums(p->k, s.k_per_split, s.cluster), side * lines);
}

int64_t xg_without_strip(int64_t size, int tile)
{
    const int64_t left = size % tile;
    return size > tile && left > 0 && left <= XG_STRIP_MOST ? size - left : size;
}

double xg_strips_us(const xg_request *request, int64_t m, int64_t n)
{
    const xg_problem *p = &request->problem;
    const double launch_us = request->target.costs->next_launch_us;
    double us = 0.0;
    if (m < p->m) {
        const xg_problem below = xg_problem_part(p, m, p->m - m, 0, p->n);
        us += launch_us + xg_gemv_us(&below, &request->target);
    }
    if (n < p->n && m > 0) {
        const xg_problem beside = xg_problem_part(p, 0, m, n, p->n - n);
        us += launch_us + xg_gemv_us(&beside, &request->target);
    }
    return us;
}
