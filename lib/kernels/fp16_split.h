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

#include "dialect.h"
#include "fp16_guard.h"
#include "fp16_line.h"
#include "fp16_slice.h"
#include "fp16_slice_convert.h"
#include "fp16_slice_copy.h"
#include "fp16_slice_strip.h"
#include "ptx_sm90.h"

/* NaN do not count here. "lines": as bits, those of the warp's two lines in the slice. */
XG_DEVICE void xg_slice_largest_along_k(const xg_slice *s, const float4 *in, int held,
                                        unsigned *lines)
{
    float most[2] = {0.0f, 0.0f};
    for (int piece = 0; piece < (held ? 1 : s->pieces); piece++) {
        XG_UNROLL
        for (int row = 0; row < 8; row++)
            most[row / 4] = xg_largest_of(xg_row_of(s, in, piece, row, held), most[row / 4]);
    }
    lines[0] = __reduce_max_sync(ALL, xg_bits_of(most[0]));
    lines[1] = __reduce_max_sync(ALL, xg_bits_of(most[1]));
}

XG_DEVICE void xg_slice_largest_along_lines(const xg_slice *s, const float4 *in, int held,
                                            unsigned *lines)
{
    const int warp = WARP, lane = LANE;
    float4 most = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int piece = 0; piece < (held ? 1 : s->pieces); piece++) {
        XG_UNROLL
        for (int row = 0; row < 8; row++) {
            const float4 x = xg_row_of(s, in, piece, row, held);
            most.x = fmaxf(most.x, fabsf(x.x)), most.y = fmaxf(most.y, fabsf(x.y));
            most.z = fmaxf(most.z, fabsf(x.z)), most.w = fmaxf(most.w, fabsf(x.w));
        }
    }
    const unsigned bits[4] = {xg_bits_of(most.x), xg_bits_of(most.y), xg_bits_of(most.z),
                              xg_bits_of(most.w)};
    const unsigned gathered = xg_gather(bits, 0);
    if (!(lane & 4))
        s->notes->by_warp[warp][xg_gathered_line(threadIdx.x)] = gathered;
    __syncthreads();
    lines[0] = __reduce_max_sync(ALL, s->notes->by_warp[lane % WARPS][warp * 2]);
    lines[1] = __reduce_max_sync(ALL, s->notes->by_warp[lane % WARPS][warp * 2 + 1]);
}

/* Each warp sends its two lines' to all slices, and notes what the slices' together are. */
XG_DEVICE void xg_slice_exchange(const xg_slice *s, const unsigned *lines, float *scales)
{
    xg_split_notes *const notes = s->notes;
    const int second = threadIdx.x & 16, line = (int)(threadIdx.x / 16), slice = threadIdx.x & 15;
    const unsigned arrival = xg_shared_address(&notes->arrival);
    unsigned mine = second ? lines[1] : lines[0];
    xg_cluster_wait();   /* all have begun, and their barriers are there */
    if (s->slices > 1) { /* st.async is illegal where a block is no part of a cluster */
        if (slice < s->slices)
            xg_cluster_store(xg_shared_address(&notes->inbox[line][blockIdx.x]), (unsigned)slice,
                             mine, arrival);
        xg_barrier_wait(arrival, 0);
        mine = slice < s->slices ? notes->inbox[line][slice] : 0;
    }
    const unsigned all[2] = {__reduce_max_sync(ALL, second ? 0 : mine),
                             __reduce_max_sync(ALL, second ? mine : 0)};
    const float largest = xg_float_of(second ? all[1] : all[0]);
    if (slice == 0) {
        notes->largest[line] = largest;
        notes->scale[line] = xg_scale_to_parts(largest);
        if (blockIdx.x == 0)
            scales[s->group * (int64_t)LINES + line] = xg_scale_from_parts(largest);
    }
}

/* One warp: the guard of the slice's lines together. */
XG_DEVICE void xg_slice_guard(const xg_slice *s, int held, float4 *guards)
{
    const xg_split_notes *const notes = s->notes;
    const int line = (int)(xg_lane() % LINES);
    const unsigned zero_small = notes->zero_small[line];
    unsigned tally = notes->by_warp[0][line];
    if (!s->along_k) {
        XG_UNROLL
        for (int warp = 1; warp < WARPS; warp++)
            tally += notes->by_warp[warp][line];
    }
    const float4 counts = {(float)(zero_small >> 16),
                           (float)(zero_small & 0xffff) -
                               (float)(s->depth - s->k), /* padding meets padding */
                           (float)(2 * (tally >> PAIRS_BIT)),
                           (float)(tally & ((1u << PAIRS_BIT) - 1)) * xg_sum_unit(s, held)};
    const float4 guard =
        xg_guard_of_lines(xg_guard_of_line(counts, notes->largest[line], notes->broken[line] > 0));
    if (threadIdx.x == 0)
        guards[s->group * (int64_t)s->slices + blockIdx.x] = guard;
}

/* "held" rows are in registers, all others on their way. */
XG_DEVICE void xg_slice_split(const xg_args *p, const xg_slice *s, const float4 *in, int held,
                              int strips, int parts, float *scales)
{
    unsigned lines[2];
    xg_cp_async_commit();
    xg_cp_async_wait(0);
    __syncwarp();
    if (!held && s->shifted)
        xg_unshift(s);
    if (strips)
        xg_slice_strips(p, s);
    if (s->along_k) {
        xg_slice_largest_along_k(s, in, held, lines);
        xg_slice_exchange(s, lines, scales);
        __syncwarp();
        if (strips)
            xg_send_strips(p, s);
        xg_slice_convert_along_k(s, in, held, parts);
    } else {
        xg_slice_largest_along_lines(s, in, held, lines);
        xg_slice_exchange(s, lines, scales);
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
            xg_barrier_expect(arrival, (unsigned)s->slices * LINES * (unsigned)sizeof(unsigned));
        if (strips)
            xg_expect_strips(p, s);
    }
    if (threadIdx.x % 16 == 0) { /* by the warp that may count them first, along k */
        s->notes->zero_small[threadIdx.x / 16] = 0;
        s->notes->broken[threadIdx.x / 16] = 0;
    }
    xg_cluster_arrive_relaxed();
}

/* One block: what the product's blocks tell one another by. */
XG_DEVICE void xg_begin_product(const xg_args *p, const xg_fp16_layout *at)
{
    char *const workspace = xg_workspace_of(p);
    unsigned *const counts = (unsigned *)(workspace + at->counts);
    xg_late_counts *const late = (xg_late_counts *)(workspace + at->late);
    for (int i = (int)threadIdx.x; i < XG_SHARE_COUNTS; i += THREADS)
        counts[i] = 0;
    for (int i = (int)threadIdx.x; i < at->a_blocks; i += THREADS)
        ((unsigned *)(late + 1))[i] = i < xg_early_of_a(p) ? XG_GUARD_GROUPS : 0;
    if (threadIdx.x == 0) {
        *(xg_tile_list *)(workspace + at->list) = (xg_tile_list){0, 0, 0, 0};
        late->taken = 0;
    }
}

/* "held" rows are in registers (fp16_slice_copy.h); with strips or not. */
XG_DEVICE void xg_split_block(const xg_args *p, int held, int strips, char *shared)
{
    const xg_fp16_layout at = xg_layout_of(p);
    if (xg_own_group() >= (xg_early_of_a(p) + at.b_blocks) * XG_GUARD_GROUPS)
        return; /* all of the cluster */
    const xg_slice s = xg_slice_of(p, &at, held, shared + (strips ? xg_strip_notes_bytes(p) : 0));
    float *const scales = (float *)(xg_workspace_of(p) + at.a_scales);
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
        xg_slice_split(p, &s, in, held, strips, 2, scales);
    else
        xg_slice_split(p, &s, in, held, strips, 1, scales);
    __syncthreads();
    if (threadIdx.x < 32)
        xg_slice_guard(&s, held, (float4 *)(xg_workspace_of(p) + at.guards));
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
