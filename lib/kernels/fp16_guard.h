/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which tiles of C may be computed from FP16 parts.
 *
 * A line (a row of A, a column of B) is scaled so that its largest entry lies in [2^14, 2^15).
 * An entry is then represented by its parts to 2^-22 of itself, unless it is small: nonzero and
 * below 2^-3, since the parts end at 2^-24; then it is off by at most 2^-25. For element (i, j) of
 * C let a = A(i, .), b = B(., j), M the largest of |a|, and S the k at which a is small. In units
 * of M, what the small entries add to the error, and what |A||B| has from those that are neither
 * small nor zero, are
 *
 *     at most 2^-39 * sum of |b| over S,
 *     at least 2^-17 * sum of |b| over the k where |a| >= 2^-17 M.
 *
 * So the error grows by at most 2^-22 R, where R is the first of these sums over the second. With
 * c the number of entries in S and z that of small and zero ones, the first is at most c max|b|,
 * and the second
 *
 *     at least (r - z) max|b|,        r = sum |b| / max|b|, and also
 *     at least (n - z) max|b| / 128,  n the number of entries with |b| >= max|b| / 128.
 *
 * Either may show R <= 1/8; and likewise with A and B exchanged. Where the high part is all there
 * is (TF32's accuracy, 2^-11), small is what lies below 2^-14, the least normal FP16, and the
 * same bounds hold.
 *
 * The split records c, z, n and r of 16 lines at once (the largest c and z, the least n and r), and
 * a tile whose lines do not all pass is left to plain FP32 (fp16_rest.h). Lines with Inf, NaN, or a
 * largest entry outside 2^-60 to 2^60, past which scales or sums could overflow, count as if all
 * was small.
 *
 * Besides, where few entries make up most of a line, so that r is a small part of k, FP32's own
 * sums are more accurate than usual, and those of the tensor core, which cuts off, are not: for
 * FP32's accuracy a tile's lines must all have r >= k / 20. (Uniform ones have k / 2, normal ones
 * about k / 5, and half that with every other entry zero.) With k below 64 none passes: the parts'
 * own rounding would show.
 */
#ifndef XGEMM_KERNELS_FP16_GUARD_H
#define XGEMM_KERNELS_FP16_GUARD_H

#include "dialect.h"
#include "fp16_layout.h"
#include "ptx_sm90.h"

#define XG_GUARD_SMALL       0.125f   /* 2^-3 */
#define XG_GUARD_SMALL_ALONE 0x1p-14f /* where the high part is all there is */
#define XG_GUARD_LARGE       256.0f   /* 2^15 / 128 */
/* The same in both halves of a word, as FP16. */
#define XG_GUARD_SMALL_HALF2       0x30003000u
#define XG_GUARD_SMALL_ALONE_HALF2 0x04000400u
#define XG_GUARD_LARGE_HALF2       0x5c005c00u
#define XG_GUARD_NEVER             1.0e30f /* c of lines that must not be split */
#define XG_GUARD_MARGIN            8.0f    /* 1 / R */
#define XG_GUARD_GROUPS            (XG_UNIT_LINES / XG_SPLIT_LINES)
#define XG_GUARD_EXPONENT          60
#define XG_GUARD_SPREAD            0.05f /* of k */

/* c, z, n, r as x, y, z, w: of a group's lines, all slices of k. */
XG_DEVICE float4 xg_guard_of(const float4 *guards, int slices)
{
    float4 all = {0.0f, 0.0f, 0.0f, 0.0f};
    XG_UNROLL_BY(2)
    for (int s = 0; s < slices; s++) {
        const float4 one = guards[s];
        all.x += one.x, all.y += one.y, all.z += one.z, all.w += one.w;
    }
    return all;
}

/*
 * Whether the small entries of lines "these" do no harm, whatever meets them in lines of which n
 * and r are those.
 */
XG_DEVICE int xg_guard_passes(float4 these, float n, float r)
{
    const float count = these.x * XG_GUARD_MARGIN;
    return these.x == 0.0f || count <= r - these.y || count * 128.0f <= n - these.y;
}

/* The least r for FP32's accuracy. */
XG_DEVICE float xg_guard_spread(int64_t k)
{
    return k < XG_UNIT_K ? 2.0f * XG_GUARD_NEVER : (float)k * XG_GUARD_SPREAD;
}

/*
 * Which guard a thread looks at for a tile whose lines are these groups of 16 of A and of B, at
 * most 16 of each: half of the warp looks at either. -1: none.
 */
XG_DEVICE int xg_guard_group(const xg_fp16_layout *at, int a_group, int a_groups, int b_group,
                             int b_groups)
{
    const int thread = (int)xg_thread_again(), half = thread % 32 / 16, lane = thread % 16;
    const int group = half ? at->a_blocks * XG_GUARD_GROUPS + b_group + lane : a_group + lane;
    return lane < (half ? b_groups : a_groups) ? group : -1;
}

/* A warp, each half of which has 16 lines or groups: those of each half together. */
XG_DEVICE float4 xg_guard_of_lines(float4 guard)
{
    XG_UNROLL
    for (int bit = 8; bit > 0; bit /= 2) {
        guard.x = fmaxf(guard.x, __shfl_xor_sync(0xffffffffu, guard.x, bit));
        guard.y = fmaxf(guard.y, __shfl_xor_sync(0xffffffffu, guard.y, bit));
        guard.z = fminf(guard.z, __shfl_xor_sync(0xffffffffu, guard.z, bit));
        guard.w = fminf(guard.w, __shfl_xor_sync(0xffffffffu, guard.w, bit));
    }
    return guard;
}

/*
 * Called by whole warps: whether the tile may be computed from the parts. "guards" are those of
 * the thread's group, or 0; the least r that lets a line pass is "spread".
 */
XG_DEVICE int xg_guard_tile(const float4 *guards, int slices, float spread)
{
    float4 mine = {0.0f, 0.0f, 1.0e30f, 1.0e30f};
    if (guards)
        mine = xg_guard_of(guards, slices);
    mine = xg_guard_of_lines(mine);
    const float n = __shfl_xor_sync(0xffffffffu, mine.z, 16);
    const float r = __shfl_xor_sync(0xffffffffu, mine.w, 16);
    return __all_sync(0xffffffffu, mine.w >= spread && xg_guard_passes(mine, n, r));
}

/*
 * One thread: puts a tile onto the list of those that are left out, 128 x 128 at a time; how many
 * these are. Once they are seen by all, they are to be counted as "ready".
 */
XG_DEVICE unsigned xg_guard_leave_out(xg_tile_list *list, int row, int column, int columns)
{
    const unsigned pieces = (unsigned)columns / XG_UNIT_LINES;
    xg_tile *const tiles = (xg_tile *)(list + 1) + atomicAdd(&list->count, pieces);
    for (unsigned i = 0; i < pieces; i++)
        xg_store_relaxed(&tiles[i], (xg_tile)(unsigned)row |
                                        (xg_tile)((unsigned)column + i * XG_UNIT_LINES) << 32);
    return pieces;
}

#endif
