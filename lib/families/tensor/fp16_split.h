/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Splits A and B into FP16 parts, as fp16_layout.h says, which says, too, what is where in the
 * arguments; "list" is the workspace. x of the grid is the slice, y (and z) the group of 16 lines,
 * those of A first that are split here (fp16_late.inc says where the others are).
 *
 * Idea: a line's scale hangs on all of its k, and each entry is to be read from memory once. So a
 * cluster of blocks holds 16 lines, a slice of k each; the blocks send one another the lines'
 * largest entries, and convert what they hold: fp16_slice_copy.h, fp16_slice_convert.h.
 */
#ifndef XGEMM_KERNELS_FP16_SPLIT_H
#define XGEMM_KERNELS_FP16_SPLIT_H

#include "families/common/dialect.h"
#include "fp16_row.h"
#include "fp16_slice.h"
#include "fp16_slice_convert.h"
#include "fp16_slice_copy.h"
#include "fp16_slice_strip.h"
#include "families/common/ptx_sm90.h"

/* The warp's two lines in the slice, of all its lanes. */
XG_DEVICE void xg_slice_see_along_k(const xg_slice *s, const float4 *in, int held, xg_packed *lines)
{
    XG_UNROLL
    for (int half = 0; half < 2; half++) {
        xg_seen seen = {0.0f, 0.0f, 0, 0};
        for (int piece = 0; piece < (held ? 1 : s->pieces); piece++)
            XG_UNROLL
        for (int row = 0; row < 4; row++) {
            const float4 x = xg_row_of(s, in, piece, half * 4 + row, held);
            xg_see_four(&seen, x);
            if (row == 0)
                xg_see_log(&seen, x.x);
        }
        seen.most = xg_float_of(__reduce_max_sync(ALL, xg_bits_of(seen.most)));
        seen.least = __reduce_max_sync(ALL, seen.least);
        seen.logs = __reduce_add_sync(ALL, seen.logs);
        seen.sum = xg_over_lanes(seen.sum, 16, 1);
        lines[half] = xg_packed_of(seen);
    }
}

/* The same, of the block; of the logarithms those of a thread's first line. */
XG_DEVICE void xg_slice_see_along_lines(const xg_slice *s, const float4 *in, int held,
                                        xg_packed *lines)
{
    const int warp = WARP, lane = LANE;
    xg_seen seen[4] = {{0.0f, 0.0f, 0, 0}, {0.0f, 0.0f, 0, 0}, {0.0f, 0.0f, 0, 0}, {0.0f, 0.0f, 0, 0}};
    for (int piece = 0; piece < (held ? 1 : s->pieces); piece++) {
        XG_UNROLL
        for (int row = 0; row < 8; row++) {
            const float4 x = xg_row_of(s, in, piece, row, held);
            xg_see(&seen[0], x.x);
            xg_see(&seen[1], x.y);
            xg_see(&seen[2], x.z);
            xg_see(&seen[3], x.w);
            if (row % 4 == 0)
                xg_see_log(&seen[0], x.x);
        }
    }
    seen[1].logs = seen[2].logs = seen[3].logs = seen[0].logs;
    const xg_packed packed[4] = {xg_packed_of(seen[0]), xg_packed_of(seen[1]),
                                 xg_packed_of(seen[2]), xg_packed_of(seen[3])};
    const xg_packed gathered = xg_gather(packed);
    if (!(lane & 4))
        s->notes->by_warp[warp][xg_gathered_line(threadIdx.x)] = gathered;
    if (threadIdx.x == 0)
        s->notes->broken = 0;
    __syncthreads();
    lines[0] = xg_packed_over_lanes(s->notes->by_warp[lane % WARPS][warp * 2], WARPS / 2);
    lines[1] = xg_packed_over_lanes(s->notes->by_warp[lane % WARPS][warp * 2 + 1], WARPS / 2);
}

/* Whether the last of k, which the parts do not hold, is Inf or NaN in a line that there is. */
XG_DEVICE int xg_last_is_broken(const xg_args *p, const xg_slice *s, int line)
{
    if (xg_split_k(p->k) == p->k || line >= s->lines)
        return 0;
    const float *const from =
        s->is_a ? p->a + (p->k - 1) * p->a_stride_k : p->b + (p->k - 1) * p->b_stride_k;
    const int number = s->first_line + line;
    return xg_is_broken(xg_bits_of(from[number * (s->is_a ? p->a_stride_m : p->b_stride_n)]) &
                        0x7fffffffu);
}

/* One thread a line, of the first slice's block: its scale and statistics. */
XG_DEVICE void xg_slice_store_stats(const xg_args *p, const xg_slice *s, int line, xg_packed all,
                                    int parts)
{
    const xg_fp16_layout at = xg_layout_of(p);
    const int64_t number = s->group * (int64_t)LINES + line;
    float *const scales = (float *)(void *)(xg_workspace_of(p) + at.a_scales);
    xg_row_stats *const stats = (xg_row_stats *)(void *)(xg_workspace_of(p) + at.stats);
    scales[number] = xg_scale_from_parts(xg_largest_of_bits(all.most));
    if (xg_last_is_broken(p, s, line)) /* its parts are not zeros */
        all.most = 0x7fffffffu;
    stats[number] = xg_row_stats_of(all, parts);
    ((float *)(void *)(xg_workspace_of(p) + at.bounds))[number] = xg_row_bound(stats[number]);
}

/* Each warp sends its two lines' to all slices, and notes what the slices' together are. */
XG_DEVICE void xg_slice_exchange(const xg_args *p, const xg_slice *s, const xg_packed *lines,
                                 int parts)
{
    xg_split_notes *const notes = s->notes;
    const int second = threadIdx.x & 16, line = (int)(threadIdx.x / 16), slice = threadIdx.x & 15;
    const unsigned arrival = xg_shared_address(&notes->arrival);
    const xg_packed none = {0, XG_NO_REST};
    xg_packed mine = second ? lines[1] : lines[0];
    xg_cluster_wait();   /* all have begun, and their barriers are there */
    if (s->slices > 1) { /* st.async is illegal where a block is no part of a cluster */
        if (slice < s->slices) {
            const unsigned to = xg_shared_address(&notes->inbox[line][blockIdx.x]);
            xg_cluster_store(to, (unsigned)slice, mine.most, arrival);
            xg_cluster_store(to + 4, (unsigned)slice, mine.rest, arrival);
        }
        xg_barrier_wait(arrival, 0);
        mine = slice < s->slices ? notes->inbox[line][slice] : none;
        const unsigned most[2] = {__reduce_max_sync(ALL, second ? 0 : mine.most),
                                  __reduce_max_sync(ALL, second ? mine.most : 0)};
        mine.most = second ? most[1] : most[0];
        if (blockIdx.x == 0)
            mine = xg_packed_over_lanes(mine, XG_SLICES_MOST / 2);
    }
    if (slice == 0) {
        const int broken = xg_is_broken(mine.most);
        notes->scale[line] = broken ? 0.0f : xg_scale_to_parts(xg_float_of(mine.most));
        if (broken && !s->along_k)
            atomicMax(&notes->broken, 1);
        if (blockIdx.x == 0)
            xg_slice_store_stats(p, s, line, mine, parts);
    }
}

/* "held" rows are in registers, all others on their way. */
XG_DEVICE void xg_slice_split(const xg_args *p, const xg_slice *s, const float4 *in, int held,
                              int strips, int parts)
{
    xg_packed lines[2];
    xg_cp_async_commit();
    xg_cp_async_wait(0);
    __syncwarp();
    if (!held && s->shifted)
        xg_unshift(s);
    if (strips)
        xg_slice_strips(p, s);
    if (s->along_k) {
        xg_slice_see_along_k(s, in, held, lines);
        xg_slice_exchange(p, s, lines, parts);
        __syncwarp();
        if (strips)
            xg_send_strips(p, s);
        xg_slice_convert_along_k(s, in, held, parts);
    } else {
        xg_slice_see_along_lines(s, in, held, lines);
        xg_slice_exchange(p, s, lines, parts);
        __syncthreads();
        if (strips)
            xg_send_strips(p, s);
        xg_slice_convert_along_lines(s, in, held, parts);
    }
}

/* Nobody sends before all blocks of the cluster have come past this. */
XG_DEVICE void xg_slice_begin(const xg_args *p, const xg_slice *s, int strips)
{
    const unsigned arrival = xg_shared_address(&s->notes->arrival);
    if (threadIdx.x == 0) {
        xg_barrier_init(arrival, 1);
        xg_barrier_init_fence();
        if (s->slices > 1)
            xg_barrier_expect(arrival, (unsigned)s->slices * LINES * (unsigned)sizeof(xg_packed));
        if (strips)
            xg_expect_strips(p, s);
    }
    xg_cluster_arrive_relaxed();
}

/* One block: what the product's blocks tell one another by. */
XG_DEVICE void xg_begin_product(const xg_args *p, const xg_fp16_layout *at)
{
    char *const workspace = xg_workspace_of(p);
    unsigned *const counts = (unsigned *)(workspace + at->counts);
    xg_late_counts *const late = (xg_late_counts *)(workspace + at->late);
    unsigned *const rework = (unsigned *)(workspace + at->list);
    const unsigned cleared =
        xg_follows_a_pass(p) ? offsetof(xg_rework, recomputed) : sizeof(xg_rework);
    for (int i = (int)threadIdx.x; i < XG_SHARE_COUNTS; i += THREADS)
        counts[i] = 0;
    if (threadIdx.x < cleared / sizeof *rework)
        rework[threadIdx.x] = 0;
    for (int i = (int)threadIdx.x; i < at->a_blocks; i += THREADS)
        ((unsigned *)(late + 1))[i] = i < xg_early_of_a(p) ? XG_UNIT_GROUPS : 0;
    if (threadIdx.x == 0)
        late->taken = 0;
}

/* "held" rows are in registers (fp16_slice_copy.h); with strips or not. */
XG_DEVICE void xg_split_block(const xg_args *p, int held, int strips, char *shared)
{
    const xg_fp16_layout at = xg_layout_of(p);
    if (xg_own_group() >= (xg_early_of_a(p) + at.b_blocks) * XG_UNIT_GROUPS)
        return; /* all of the cluster */
    const xg_slice s = xg_slice_of(p, &at, held, shared + (strips ? xg_strip_notes_bytes(p) : 0));
    float4 in[HELD];
    xg_grid_release();
    xg_slice_begin(p, &s, strips);
    xg_grid_wait();
    if (xg_own_group() == 0 && blockIdx.x == 0)
        xg_begin_product(p, &at);
    if (held)
        xg_take_even(&s, in);
    else
        xg_take_any(&s);
    if (xg_parts_of(p) == 2)
        xg_slice_split(p, &s, in, held, strips, 2);
    else
        xg_slice_split(p, &s, in, held, strips, 1);
    if (strips && blockIdx.x == 0)
        xg_store_strips(p, &s);
}

#undef LINES
#undef THREADS
#undef WARPS
#undef HELD
#undef ALL
#undef WARP
#undef LANE

#endif
