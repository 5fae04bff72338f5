/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fastest way to run a kernel of simt/, by the cost model: how much of C its tiles cover,
 * split-K or stream-K, the operands that are copied first, and how many products of a batch a
 * launch computes.
 */
#include "families/gemv/gemv.h"
#include "families/transform/transform.h"
#include "simt.h"

#include <math.h>

/* The parts that a stream-K tile has at most. */
enum { STREAM_K_PARTS_MOST = 8 };

/* Sliced kernels of smaller tiles, as 32 x 32, were no faster with copies. */
enum { COPIED_TILE_LEAST = 2048 };

/* The copies of a batch's operands, at once; enough to fill any GPU several times. */
#define COPIES_MOST ((size_t)256 << 20)

/* The workspace that a search may use: a named kernel says what it needs, and does not change. */
static double room_of(const xg_request *request)
{
    return request->kernel ? 0x1p64 : (double)request->workspace_limit;
}

/* A candidate whose k is to be split. */
typedef struct {
    const xg_request *request;
    double most_us; /* what takes longer is of no use */
    xg_pass pass;
    xg_candidate *best;
    bool clusters;    /* whether pairs of CTAs can add up their splits */
    int64_t tried[2]; /* the last depth of splits, without clusters and with them */
} search;

/*
 * Keeps that many splits of k when they are faster than the best so far, and there is memory.
 * "cluster": the CTAs of each cluster that adds up some of them, or 0. Returns whether more splits
 * may be faster.
 */
static bool try_count(search *s, int64_t splits, int cluster)
{
    const double bound_us = xg_bound_us(s->best, s->most_us);
    const xg_problem *p = &s->request->problem;
    const int64_t depth = xg_split_depth(p->k, 1, splits, XG_SPLIT_LEAST, XG_SPLIT_STEP);
    if (depth == s->tried[cluster > 0])
        return true;
    s->tried[cluster > 0] = depth;
    if (cluster > 0 && xg_ceil_div(p->k, depth) % cluster > 0)
        return true;
    if (xg_split_k_least_us(&s->pass, depth, cluster) > bound_us)
        return xg_reduction_least_us(&s->pass, depth, cluster) <= bound_us;
    const double us = xg_split_k_us(&s->pass, depth, cluster);
    if (us >= s->best->microseconds)
        return true;
    const int64_t sums = xg_partial_sums(p->k, depth, cluster);
    if (sums > 1 &&
        (double)xg_type_bytes(p->type_c) * (double)sums * s->pass.c_elements > room_of(s->request))
        return false;
    s->best->k_per_split = depth;
    s->best->cluster = cluster;
    s->best->microseconds = us;
    return true;
}

/* The same for two or more, and for as many as clusters can share. */
static bool try_splits(search *s, int64_t splits)
{
    const int64_t clusters = xg_ceil_div(splits, XG_CLUSTER_SPLITS);
    const bool more = try_count(s, splits, 0);
    return (s->clusters && try_count(s, clusters * XG_CLUSTER_SPLITS, XG_CLUSTER_SPLITS)) || more;
}

/* With fewer splits one CTA alone takes too long. */
static double fewest_splits(const search *s)
{
    const double left_us =
        xg_bound_us(s->best, s->most_us) - s->pass.others_us - s->pass.cta_epilogue_us;
    return left_us > 0.0 ? (double)s->pass.k * s->pass.cta_us_per_k / left_us : 0.0;
}

/* Has so many of the last tiles computed by stream-K when that is faster, and there is memory. */
static void try_stream_k(search *s, int64_t tiles, int64_t held)
{
    const xg_kernel *const kernel = s->best->kernel;
    const int64_t k_iterations = xg_ceil_div(s->pass.k, kernel->tile_k);
    const int64_t least = xg_ceil_div(k_iterations, STREAM_K_PARTS_MOST);
    const double elements = (double)held * kernel->tile_m * kernel->tile_n;
    if (tiles == 0 || tiles * k_iterations > INT32_MAX ||
        (double)xg_type_bytes(s->request->problem.type_c) * elements > room_of(s->request))
        return;
    const int64_t even = xg_ceil_div(tiles * k_iterations, held);
    const int64_t iterations = even < least ? least : even;
    const double us = xg_stream_k_us(&s->pass, tiles, iterations);
    if (us < s->best->microseconds) {
        s->best->split_tiles = tiles;
        s->best->stream_k_iterations = iterations;
        s->best->microseconds = us;
    }
}

/* Those of a last wave that is not full; or, of which each CTA then has more, of two. */
static void choose_stream_k(search *s, int64_t held)
{
    const int64_t tiles = s->pass.tiles;
    try_stream_k(s, tiles % held, held);
    if (tiles > held && tiles % held > 0)
        try_stream_k(s, tiles % held + held, held);
}

/* The best number of splits for what the candidate covers: of some, and of those that fill the
   GPU. */
static void choose_splits(const xg_request *request, double most_us, xg_candidate *candidate)
{
    const xg_kernel *const kernel = candidate->kernel;
    const int64_t multiprocessors = request->target.multiprocessors;
    search s = {.request = request,
                .most_us = most_us,
                .pass = xg_pass_of(candidate, request),
                .best = candidate};
    const int64_t tiles = s.pass.tiles, held = multiprocessors * s.pass.cost->ctas_per_sm;
    s.clusters = kernel->reduces_in_cluster && request->target.compute_capability == 90;
    candidate->k_per_split = request->problem.k;
    candidate->cluster = 0;
    candidate->microseconds = xg_split_k_us(&s.pass, request->problem.k, 0);
    if (request->problem.pointer_arrays || request->by_element)
        return;
    if (kernel->tensor_maps) {
        choose_stream_k(&s, held);
        return;
    }
    const double fewest = fewest_splits(&s);
    for (int64_t splits = 2; tiles * splits <= 2 * held; splits += (splits + 2) / 3) {
        if ((double)(splits + 1) >= fewest && !try_splits(&s, splits))
            break;
        if (splits > s.pass.k / XG_SPLIT_LEAST)
            break; /* more of them are no smaller */
    }
    for (int ctas = 1; ctas <= s.pass.cost->ctas_per_sm; ctas++)
        if (ctas * multiprocessors >= 2 * tiles)
            try_splits(&s, ctas * multiprocessors / tiles);
}

/* How many products a launch can compute; 1: it is no kernel for batches, or memory is short. */
static int64_t most_per_pass(const xg_kernel *kernel, const xg_request *request)
{
    const xg_problem *p = &request->problem;
    const size_t limit =
        request->workspace_limit < COPIES_MOST ? request->workspace_limit : COPIES_MOST;
    const int64_t most = xg_products_of_grid(p);
    if (!xg_simt_batches(kernel))
        return 1;
    if (kernel->operands == XG_ANY_OPERANDS)
        return most;
    const xg_candidate one = xg_candidate_begin(kernel, request);
    const unsigned copied = xg_copied(&one, p);
    const double rows = (copied & XG_A ? (double)(p->m + XG_PACK_ELEMENTS) : 0.0) +
                        (copied & XG_B ? (double)(p->n + XG_PACK_ELEMENTS) : 0.0);
    const double bytes = (double)xg_type_bytes(p->type_a) * rows * (double)p->k;
    const double room = bytes > 0.0 ? (double)limit / bytes : (double)most;
    return room < 1.0 ? 1 : room < (double)most ? (int64_t)room : most;
}

/* As few passes as can be, of about equal size. */
static int64_t balanced(const xg_kernel *kernel, const xg_request *request)
{
    const int64_t count = request->problem.batch_count;
    return xg_ceil_div(count, xg_ceil_div(count, most_per_pass(kernel, request)));
}

/* Keeps the candidate with its best splits when that is faster than the best so far. */
static void consider_splits(const xg_request *request, double most_us, xg_candidate candidate,
                            xg_candidate *best)
{
    const bool one = request->problem.batch_count == 1; /* else that is not a pass's time */
    choose_splits(request, one ? most_us : INFINITY, &candidate);
    candidate.microseconds = xg_batch_us(&candidate, request);
    if (!best->kernel || candidate.microseconds < best->microseconds)
        *best = candidate;
}

/* Whether copies first could pay: they take less than what scalar copies cost. */
static bool copies_may_pay(const xg_request *request, const xg_tile_cost *cost,
                           const xg_candidate *copied, double us)
{
    const xg_problem *p = &request->problem;
    const double now = xg_scalar_factor(copied->kernel, cost, p, 0);
    const double then = xg_scalar_factor(copied->kernel, cost, p, copied->copied);
    return us * (1.0 - then / now) > xg_copies_us(copied, request);
}

/* Whether some operands may be copied first, or not: for single products. */
static bool has_a_choice(const xg_request *request, const xg_candidate *candidate)
{
    const xg_kernel *const kernel = candidate->kernel;
    const bool can =
        kernel->operands != XG_ANY_OPERANDS ||
        (kernel->reduces_in_cluster && kernel->tile_m * kernel->tile_n >= COPIED_TILE_LEAST);
    return can && candidate->batch_per_pass == 1 && !request->problem.pointer_arrays;
}

/* As it is; and with copies of what goes by scalars, or would be transposed. */
static void consider(const xg_request *request, const xg_tile_cost *cost, xg_candidate candidate,
                     double most_us, xg_candidate *best)
{
    const unsigned scalar = xg_scalar_operands(candidate.kernel, cost, &request->problem);
    consider_splits(request, xg_bound_us(best, most_us), candidate, best);
    if (!has_a_choice(request, &candidate))
        return;
    const double us = best->microseconds;
    for (unsigned copied = XG_A; copied <= (XG_A | XG_B); copied++) {
        xg_candidate other = {.kernel = NULL};
        candidate.copied = copied;
        if ((copied & scalar) != copied || !copies_may_pay(request, cost, &candidate, us))
            continue;
        consider_splits(request, xg_bound_us(best, most_us), candidate, &other);
        if (other.microseconds < best->microseconds &&
            xg_simt_workspace(&other, request) <= (double)request->workspace_limit)
            *best = other;
    }
}

/* Whether the candidate can be no better than the best so far, and slower than "most_us". */
static bool is_too_slow(const xg_candidate *candidate, const xg_request *request,
                        const xg_candidate *best, double most_us)
{
    const double bound = xg_bound_us(best, most_us);
    const double us = xg_simt_least_us(candidate->kernel, request, candidate->m, candidate->n);
    return us > bound || us + xg_strips_us(request, candidate->m, candidate->n) > bound;
}

xg_candidate xg_simt_candidate(const xg_kernel *kernel, const xg_request *request, double most_us)
{
    const xg_problem *p = &request->problem;
    const xg_tile_cost *const cost = xg_tile_cost_of(kernel, request->target.costs);
    const int64_t m = xg_without_strip(p->m, kernel->tile_m);
    const int64_t n = xg_without_strip(p->n, kernel->tile_n);
    xg_candidate best = {.kernel = NULL}, candidate = xg_candidate_begin(kernel, request);
    if (!cost)
        return candidate;
    candidate.batch_per_pass = balanced(kernel, request);
    if (candidate.batch_per_pass > 1 || p->pointer_arrays)
        consider(request, cost, candidate, most_us, &best);
    candidate.batch_per_pass = 1;
    for (int strips = 0; strips < 4 && !p->pointer_arrays; strips++) {
        if ((strips & 1 && m == p->m) || (strips & 2 && n == p->n) ||
            (strips && request->by_element))
            continue;
        candidate.m = strips & 1 ? m : p->m;
        candidate.n = strips & 2 ? n : p->n;
        if (!is_too_slow(&candidate, request, &best, most_us))
            consider(request, cost, candidate, most_us, &best);
    }
    return best.kernel ? best : xg_slow_candidate(kernel, request);
}
