/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which tiles of C may be computed from FP16 parts.
 *
 * A line (a row of A, a column of B) is scaled so that its largest entry lies in [2^14, 2^15).
 * An entry is then represented by its parts to 2^-22 of itself, unless it is small: nonzero and
 * below 2^-3, the parts ending at 2^-24; then it is off by at most 2^-25. For element (i, j) of C
 * let S be the k at which a = A(i, .) is small, and b = B(., j). What the small entries add to the
 * error, in terms of a's largest entry M, is
 *
 *     at most 2^-39 M (sum of |b| over S),   beside   2^-17 M (sum of |b| over the k where a >=
 * 2^-17 M)
 *
 * or more in |A||B|. So the error grows by at most 2^-22 R, where R is the first sum over the
 * second. With c the number of entries in S and z that of the small and zero ones, the first sum
 * is at most c max|b|, and the second
 *
 *     at least (r - z) max|b|,        r = sum |b| / max|b|, and also
 *     at least (n - z) max|b| / 128,  n the number of entries with |b| >= max|b| / 128.
 *
 * Either may show R <= 1/8; and likewise with A and B exchanged. The split records c, z, n and r of
 * 32 lines at once (the largest c and z, the least n and r), and a tile whose lines do not all pass
 * is left to the kernels of plain FP32. Lines with Inf, NaN, or a largest entry outside 2^-60 to
 * 2^60, past which scales or sums could overflow, count as if all was small.
 */
#ifndef XGEMM_KERNELS_FP16_GUARD_H
#define XGEMM_KERNELS_FP16_GUARD_H

#include "dialect.h"
#include "fp16_layout.h"

#define XG_GUARD_SMALL    0.125f  /* 2^-3 */
#define XG_GUARD_LARGE    256.0f  /* 2^15 / 128 */
#define XG_GUARD_NEVER    1.0e30f /* c of lines that must not be split */
#define XG_GUARD_MARGIN   8.0f    /* 1 / R */
#define XG_GUARD_GROUPS   (XG_UNIT_LINES / XG_SPLIT_LINES)
#define XG_GUARD_EXPONENT 60

/* c, z, n, r as x, y, z, w: of the lines of group "group", all of k. */
XG_DEVICE float4 xg_guard_of(const float4 *guards, int group, int slices)
{
    float4 all = {0.0f, 0.0f, 0.0f, 0.0f};
    XG_UNROLL_BY(4)
    for (int s = 0; s < slices; s++) {
        const float4 one = guards[(int64_t)group * slices + s];
        all.x += one.x, all.y += one.y, all.z += one.z, all.w += one.w;
    }
    return all;
}

/* Whether the small entries of lines "these" do no harm, whatever meets them in lines "those". */
XG_DEVICE int xg_guard_passes(float4 these, float4 those)
{
    const float count = these.x * XG_GUARD_MARGIN;
    return these.x == 0.0f || count <= those.w - these.y || count * 128.0f <= those.z - these.y;
}

/*
 * Called by whole warps: whether the tile of A's lines from block a_block on and B's from b_block
 * on may be computed from the parts; of each so many groups of 32 lines, at most 32 in all.
 */
XG_DEVICE int xg_guard_tile(const char *workspace, const xg_fp16_layout *at, int a_block,
                            int a_groups, int b_block, int b_groups)
{
    const int lane = (int)threadIdx.x % 32;
    const float4 *guards = (const float4 *)(workspace + at->guards);
    const int first = lane < a_groups
                          ? a_block * XG_GUARD_GROUPS + lane
                          : (at->a_blocks + b_block) * XG_GUARD_GROUPS + lane - a_groups;
    float4 a = {0.0f, 0.0f, 1.0e30f, 1.0e30f}, b = a;
    if (lane < a_groups)
        a = xg_guard_of(guards, first, at->slices);
    else if (lane < a_groups + b_groups)
        b = xg_guard_of(guards, first, at->slices);
    XG_UNROLL
    for (int bit = 16; bit > 0; bit /= 2) {
        a.x = fmaxf(a.x, __shfl_xor_sync(0xffffffffu, a.x, bit));
        a.y = fmaxf(a.y, __shfl_xor_sync(0xffffffffu, a.y, bit));
        a.z = fminf(a.z, __shfl_xor_sync(0xffffffffu, a.z, bit));
        a.w = fminf(a.w, __shfl_xor_sync(0xffffffffu, a.w, bit));
        b.x = fmaxf(b.x, __shfl_xor_sync(0xffffffffu, b.x, bit));
        b.y = fmaxf(b.y, __shfl_xor_sync(0xffffffffu, b.y, bit));
        b.z = fminf(b.z, __shfl_xor_sync(0xffffffffu, b.z, bit));
        b.w = fminf(b.w, __shfl_xor_sync(0xffffffffu, b.w, bit));
    }
    return xg_guard_passes(a, b) && xg_guard_passes(b, a);
}

/* One thread: puts a tile onto the list of those that are left out. */
XG_DEVICE void xg_guard_leave_out(char *workspace, const xg_fp16_layout *at, int row, int column)
{
    xg_tile_list *const list = (xg_tile_list *)(workspace + at->list);
    xg_tile *const tile = (xg_tile *)(list + 1) + atomicAdd(&list->count, 1u);
    tile->row = row;
    tile->column = column;
}

#endif
