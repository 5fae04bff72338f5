/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fastest shape of a kernel with tiles, by the model: how much of C they cover, the parts of
 * k, or the tiles that are shared, the operands that are copied first, and how many products of a
 * batch a launch computes.
 */
#include "choice_tiles.h"
#include "planner/steps.h"

/* The parts that a shared tile has at most. */
enum { SHARE_PARTS_MOST = 8 };

/* What a part of k is at least, and a multiple of. */
enum { PART_LEAST = 64, PART_STEP = 16 };

/* Sliced kernels of smaller tiles, as 32 × 32, were no faster with copies. */
enum { COPIED_TILE_LEAST = 2048 };

/* The copies of a batch's operands, at once; enough to fill any GPU several times. */
#define COPIES_MOST ((size_t)256 << 20)

/* The blocks of each cluster that adds up some of so many parts; 0: there are no clusters. */
static int cluster_of(const xg_kernel *kernel, const xg_request *request, int64_t parts)
{
    return kernel->adds_parts && request->architecture == 90 && parts % XG_CLUSTER_PARTS == 0
               ? XG_CLUSTER_PARTS
               : 0;
}

/* Keeps that many parts of k when they are faster than the best so far, and there is memory. */
static void try_count(const xg_speed *s, const xg_kernel *kernel, const xg_request *request,
                      int64_t parts, xg_shape *best)
{
    const xg_args *p = &request->problem;
    /* A named kernel does not change for a small workspace: it says what it needs. */
    const size_t room = request->kernel ? SIZE_MAX : request->workspace_limit;
    xg_shape other = *best;
    other.k_part = xg_part_of(p->k, 1, parts, PART_LEAST, PART_STEP);
    other.cluster = cluster_of(kernel, request, xg_tiles_of(p->k, other.k_part));
    const int64_t sums = xg_sums_of(p->k, other.k_part, other.cluster);
    const double floats = (double)sums * (double)other.m * (double)other.n * (double)other.together;
    if (sums > 1 && 4.0 * floats > (double)room)
        return;
    other.microseconds = xg_shape_us(s, kernel, request, &other);
    if (other.microseconds < best->microseconds)
        *best = other;
}

/* The same for two or more, and also for as many as clusters can share. */
static void try_parts(const xg_speed *s, const xg_kernel *kernel, const xg_request *request,
                      int64_t parts, xg_shape *best)
{
    try_count(s, kernel, request, parts, best);
    if (parts % XG_CLUSTER_PARTS > 0)
        try_count(s, kernel, request, xg_tiles_of(parts, XG_CLUSTER_PARTS) * XG_CLUSTER_PARTS,
                  best);
}

/* Has so many of the last tiles shared when that is faster, and there is memory for the sums. */
static void try_share(const xg_speed *s, const xg_kernel *kernel, const xg_request *request,
                      int64_t tiles, xg_shape *best)
{
    const int64_t stages = xg_tiles_of(request->problem.k, kernel->tile_k);
    const int64_t least = xg_tiles_of(stages, SHARE_PARTS_MOST);
    const int64_t held = (int64_t)request->processors * s->blocks_per_sm;
    const double floats = (double)held * kernel->tile_m * kernel->tile_n;
    const size_t room = request->kernel ? SIZE_MAX : request->workspace_limit;
    xg_shape other = *best;
    if (tiles == 0 || tiles * stages > INT32_MAX || 4.0 * floats > (double)room)
        return;
    other.shared = tiles;
    other.share = xg_tiles_of(tiles * stages, held);
    if (other.share < least)
        other.share = least;
    other.microseconds = xg_shape_us(s, kernel, request, &other);
    if (other.microseconds < best->microseconds)
        *best = other;
}

/* Those of a last wave that is not full; or, of which each block then has more, of two. */
static void choose_share(const xg_speed *s, const xg_kernel *kernel, const xg_request *request,
                         xg_shape *shape)
{
    const int64_t tiles = xg_tiles_together(kernel, shape);
    const int64_t held = (int64_t)request->processors * s->blocks_per_sm;
    try_share(s, kernel, request, tiles % held, shape);
    if (tiles > held && tiles % held > 0)
        try_share(s, kernel, request, tiles % held + held, shape);
}

/* The best number of parts for what the shape covers: of some, and of those that fill the GPU. */
static void choose_part(const xg_speed *s, const xg_kernel *kernel, const xg_request *request,
                        xg_shape *shape)
{
    const int processors = request->processors;
    const int64_t tiles = xg_tiles_together(kernel, shape);
    const int64_t enough = 2 * (int64_t)processors * s->blocks_per_sm;
    shape->k_part = request->problem.k;
    shape->cluster = 0;
    shape->microseconds = xg_shape_us(s, kernel, request, shape);
    if (xg_has_lists(&request->problem))
        return;
    if (kernel->has_maps) {
        choose_share(s, kernel, request, shape);
        return;
    }
    for (int64_t parts = 2; tiles * parts <= enough; parts += (parts + 2) / 3)
        try_parts(s, kernel, request, parts, shape);
    for (int share = 1; share <= s->blocks_per_sm; share++)
        if (share * (int64_t)processors >= 2 * tiles)
            try_parts(s, kernel, request, share * (int64_t)processors / tiles, shape);
}

int64_t xg_without_strip(int64_t size, int tile)
{
    const int64_t left = size % tile;
    return size > tile && left > 0 && left <= XG_STRIP_MOST ? size - left : size;
}

xg_shape xg_whole_shape(const xg_request *request, int64_t together)
{
    const xg_args *p = &request->problem;
    return (xg_shape){.m = p->m, .n = p->n, .k_part = p->k, .together = together};
}

bool xg_batches(const xg_kernel *kernel)
{
    return kernel->steps == xg_steps_pipelined && !kernel->has_maps;
}

/* How many products a launch can compute; 1: it is no kernel for batches, or memory is short. */
static int64_t most_in_launch(const xg_kernel *kernel, const xg_request *request)
{
    const xg_args *p = &request->problem;
    const size_t limit =
        request->workspace_limit < COPIES_MOST ? request->workspace_limit : COPIES_MOST;
    const int64_t most = request->products < XG_GRID_Z_MAX ? request->products : XG_GRID_Z_MAX;
    if (!xg_batches(kernel))
        return 1;
    if (!kernel->packs)
        return most;
    const xg_shape one = xg_whole_shape(request, 1);
    const unsigned copied = xg_copied(kernel, p, &one);
    const double floats = (copied & XG_COPIES_A ? (double)(p->m + XG_PACK_LINE) : 0.0) +
                          (copied & XG_COPIES_B ? (double)(p->n + XG_PACK_LINE) : 0.0);
    const double bytes = 4.0 * floats * (double)p->k;
    const double room = bytes > 0.0 ? (double)limit / bytes : (double)most;
    return room < 1.0 ? 1 : room < (double)most ? (int64_t)room : most;
}

/* As few passes as can be, of about equal size. */
static int64_t balanced(const xg_kernel *kernel, const xg_request *request)
{
    const int64_t passes = xg_tiles_of(request->products, most_in_launch(kernel, request));
    return xg_tiles_of(request->products, passes);
}

/* Keeps the shape with its best parts when that is faster than the best so far. */
static void consider_parts(const xg_speed *s, const xg_kernel *kernel, const xg_request *request,
                           xg_shape shape, xg_shape *best)
{
    choose_part(s, kernel, request, &shape);
    shape.microseconds = xg_passes_us(s, kernel, request, &shape);
    if (best->together == 0 || shape.microseconds < best->microseconds)
        *best = shape;
}

/* Whether copies of these operands first could pay: they take less than what words cost. */
static bool copies_may_pay(const xg_speed *s, const xg_kernel *kernel, const xg_request *request,
                           const xg_shape *copied, double us)
{
    const xg_args *p = &request->problem;
    const double now = xg_words_factor(s, kernel, p, 0);
    return us * (1.0 - xg_words_factor(s, kernel, p, copied->copied) / now) >
           xg_copies_us(kernel, p, copied);
}

/* Whether some operands may be copied first, or not: for single products. */
static bool has_a_choice(const xg_kernel *kernel, const xg_request *request, const xg_shape *shape)
{
    const bool can = kernel->packs != XG_PACKS_NONE ||
                     (kernel->adds_parts && kernel->tile_m * kernel->tile_n >= COPIED_TILE_LEAST);
    return can && shape->together == 1 && !xg_has_lists(&request->problem);
}

/* As it is; and with copies of what goes by words, or would be transposed. */
static void consider(const xg_speed *s, const xg_kernel *kernel, const xg_request *request,
                     xg_shape shape, xg_shape *best)
{
    const unsigned words = xg_words_of(s, kernel, &request->problem);
    consider_parts(s, kernel, request, shape, best);
    if (!has_a_choice(kernel, request, &shape))
        return;
    const double us = best->microseconds;
    for (unsigned copied = XG_COPIES_A; copied <= (XG_COPIES_A | XG_COPIES_B); copied++) {
        xg_shape other = {.together = 0};
        shape.copied = copied;
        if ((copied & words) != copied || !copies_may_pay(s, kernel, request, &shape, us))
            continue;
        consider_parts(s, kernel, request, shape, &other);
        if (other.microseconds < best->microseconds && xg_has_workspace(kernel, request, &other))
            *best = other;
    }
}

xg_shape xg_tiles_shape(const xg_speed *s, const xg_kernel *kernel, const xg_request *request)
{
    const xg_args *p = &request->problem;
    const int64_t m = xg_without_strip(p->m, kernel->tile_m);
    const int64_t n = xg_without_strip(p->n, kernel->tile_n);
    const int64_t together = balanced(kernel, request);
    xg_shape best = {.together = 0};
    if (together > 1 || xg_has_lists(p))
        consider(s, kernel, request, xg_whole_shape(request, together), &best);
    for (int strips = 0; strips < 4 && !xg_has_lists(p); strips++) {
        xg_shape shape = xg_whole_shape(request, 1);
        if ((strips & 1 && m == p->m) || (strips & 2 && n == p->n))
            continue;
        shape.m = strips & 1 ? m : p->m;
        shape.n = strips & 2 ? n : p->n;
        consider(s, kernel, request, shape, &best);
    }
    return best;
}
