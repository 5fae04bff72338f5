/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The split kernel: scales the operand rows of A and B and splits them into FP16 terms, in the
 * workspace that fp16_layout.h describes. x of the grid is the slice; y and z are the row group,
 * those of A first. In kernels of batches (batched.h) z is the product, and the row groups of an
 * operand that all products share are split by those of the first one.
 *
 * A row's scale depends on all of its k, and each element is to be read from memory once. So a
 * cluster of CTAs holds a row group, each CTA a slice of k; the CTAs exchange the scans of the
 * rows, and convert what they hold (split_slice_copy.h, split_slice_convert.h).
 */
#ifndef XGEMM_KERNELS_FP16_SPLIT_H
#define XGEMM_KERNELS_FP16_SPLIT_H

#include "batched.h"
#include "families/common/dialect.h"
#include "operand_row.h"
#include "split_slice.h"
#include "split_slice_convert.h"
#include "split_slice_copy.h"
#include "split_slice_strip.h"
#include "families/common/ptx_sm90.h"

/* Scans of the warp's two rows in the slice. */
XG_DEVICE void xg_slice_scan_k_major(const xg_slice *s, const float4 *in, int held,
                                     xg_packed_scan *rows)
{
    XG_UNROLL
    for (int half = 0; half < 2; half++) {
        xg_row_scan scan = {0.0f, 0.0f, 0, 0};
        for (int segment = 0; segment < (held ? 1 : s->segments); segment++)
            XG_UNROLL
        for (int vec = 0; vec < 4; vec++) {
            if (!held && !xg_slice_reaches(s, segment, vec * XG_CHUNK_K))
                continue;
            const float4 x = xg_vec_of(s, in, segment, half * 4 + vec, held);
            xg_scan_vec4(&scan, x);
            if (vec == 0)
                xg_scan_log(&scan, x.x);
        }
        scan.largest = xg_float_of(__reduce_max_sync(ALL, xg_bits_of(scan.largest)));
        scan.least = __reduce_max_sync(ALL, scan.least);
        scan.logs = __reduce_add_sync(ALL, scan.logs);
        scan.sum = xg_sum_lanes(scan.sum, 16, 1);
        rows[half] = xg_pack_scan(scan);
    }
}

/*
 * The same where all warps have part of each row. The log sample is that of a thread's first row.
 */
XG_DEVICE void xg_slice_scan_mn_major(const xg_slice *s, const float4 *in, int held,
                                      xg_packed_scan *rows)
{
    const int warp = WARP, lane = LANE;
    xg_row_scan scan[4] = {
        {0.0f, 0.0f, 0, 0}, {0.0f, 0.0f, 0, 0}, {0.0f, 0.0f, 0, 0}, {0.0f, 0.0f, 0, 0}};
    for (int segment = 0; segment < (held ? 1 : s->segments); segment++) {
        if (!held && !xg_slice_reaches(s, segment, warp * XG_K_BLOCK))
            break;
        XG_UNROLL
        for (int vec = 0; vec < 8; vec++) {
            const float4 x = xg_vec_of(s, in, segment, vec, held);
            xg_scan(&scan[0], x.x);
            xg_scan(&scan[1], x.y);
            xg_scan(&scan[2], x.z);
            xg_scan(&scan[3], x.w);
            if (vec % 4 == 0)
                xg_scan_log(&scan[0], x.x);
        }
    }
    scan[1].logs = scan[2].logs = scan[3].logs = scan[0].logs;
    const xg_packed_scan packed[4] = {xg_pack_scan(scan[0]), xg_pack_scan(scan[1]),
                                      xg_pack_scan(scan[2]), xg_pack_scan(scan[3])};
    const xg_packed_scan gathered = xg_gather_scans(packed);
    if (!(lane & 4))
        s->state->by_warp[warp][xg_gathered_row(threadIdx.x)] = gathered;
    if (threadIdx.x == 0)
        s->state->any_not_finite = 0;
    __syncthreads();
    rows[0] = xg_merge_lanes(s->state->by_warp[lane % WARPS][warp * 2], WARPS / 2);
    rows[1] = xg_merge_lanes(s->state->by_warp[lane % WARPS][warp * 2 + 1], WARPS / 2);
}

/* Whether a row of the matrix has Inf or NaN at the last k, where the terms leave it out. */
XG_DEVICE int xg_last_k_is_not_finite(const xg_tensor_args *p, const xg_slice *s, int row)
{
    if (!xg_has_last_k(p->k, p->k_blocks) || row >= s->rows)
        return 0;
    const float *const from =
        s->is_a ? p->a + (p->k - 1) * p->a_stride_k : p->b + (p->k - 1) * p->b_stride_k;
    const int index = s->first_row + row;
    return xg_is_not_finite(xg_bits_of(from[index * (s->is_a ? p->a_stride_m : p->b_stride_n)]) &
                            0x7fffffffu);
}

/* One thread a row, in the first slice's CTA: stores the row's scale and statistics. */
XG_DEVICE void xg_slice_store_stats(const xg_tensor_args *p, const xg_slice *s, int row,
                                    xg_packed_scan all, int terms)
{
    const xg_fp16_layout at = xg_layout_of_split(p);
    /* Recomputed here, which saves registers. */
    const int64_t index = xg_rematerialize(s->group) * (int64_t)ROWS + row;
    float *const scales = (float *)(void *)((char *)p->workspace + at.a_scales);
    xg_row_stats *const stats = (xg_row_stats *)(void *)((char *)p->workspace + at.stats);
    scales[index] = xg_scale_from_terms(xg_largest_finite(all.largest));
    if (xg_last_k_is_not_finite(p, s, row)) /* its terms are those of the other k */
        all.largest = 0x7fffffffu;
    stats[index] = xg_make_row_stats(all, terms);
    ((float *)(void *)((char *)p->workspace + at.bounds))[index] = stats[index].bound;
}

/*
 * Each warp sends the scans of its two rows to all CTAs of the cluster, merges those that it
 * receives, and sets the rows' scales.
 */
XG_DEVICE void xg_slice_exchange(const xg_tensor_args *p, const xg_slice *s,
                                 const xg_packed_scan *rows, int terms)
{
    xg_split_state *const state = s->state;
    const int second = threadIdx.x & 16, row = (int)(threadIdx.x / 16), slice = threadIdx.x & 15;
    const unsigned arrival = xg_shared_address(&state->arrival);
    const xg_packed_scan none = {0, XG_EMPTY_REST};
    xg_packed_scan mine = xg_select_scan(second, rows[1], rows[0]);
    xg_cluster_wait();   /* all CTAs have initialized their mbarriers */
    if (s->slices > 1) { /* st.async is illegal outside clusters */
        if (slice < s->slices) {
            const unsigned to = xg_shared_address(&state->inbox[row][blockIdx.x]);
            xg_cluster_store(to, (unsigned)slice, mine.largest, arrival);
            xg_cluster_store(to + 4, (unsigned)slice, mine.rest, arrival);
        }
        xg_mbarrier_wait(arrival, 0);
        mine = slice < s->slices ? state->inbox[row][slice] : none;
        const unsigned largest[2] = {__reduce_max_sync(ALL, second ? 0 : mine.largest),
                                     __reduce_max_sync(ALL, second ? mine.largest : 0)};
        mine.largest = second ? largest[1] : largest[0];
        if (blockIdx.x == 0)
            mine = xg_merge_lanes(mine, XG_SLICES_MOST / 2);
    }
    if (slice == 0) {
        const int not_finite = xg_is_not_finite(mine.largest);
        state->scale[row] = not_finite ? 0.0f : xg_scale_to_terms(xg_float_of(mine.largest));
        if (not_finite && !s->k_major)
            atomicMax(&state->any_not_finite, 1);
        if (blockIdx.x == 0)
            xg_slice_store_stats(p, s, row, mine, terms);
    }
}

/* Scans, exchanges and converts the slice, whose copies are in flight. */
XG_DEVICE void xg_slice_split(const xg_tensor_args *p, const xg_slice *s, const float4 *in,
                              int held, int strips, int terms)
{
    xg_packed_scan rows[2];
    xg_cp_async_commit();
    xg_cp_async_wait(0);
    __syncwarp();
    if (!held && s->realigned)
        xg_realign(s);
    if (strips)
        xg_slice_strips(p, s);
    if (s->k_major) {
        xg_slice_scan_k_major(s, in, held, rows);
        xg_slice_exchange(p, s, rows, terms);
        __syncwarp();
        if (strips)
            xg_send_strips(p, s);
        xg_slice_convert_k_major(s, in, held, terms);
    } else {
        xg_slice_scan_mn_major(s, in, held, rows);
        xg_slice_exchange(p, s, rows, terms);
        __syncthreads();
        if (strips)
            xg_send_strips(p, s);
        xg_slice_convert_mn_major(s, in, held, terms);
    }
}

/* Initializes the mbarrier; the cluster's barrier that it begins must end before any CTA sends. */
XG_DEVICE void xg_slice_begin(const xg_tensor_args *p, const xg_slice *s, int strips)
{
    const unsigned arrival = xg_shared_address(&s->state->arrival);
    if (threadIdx.x == 0) {
        xg_mbarrier_init(arrival, 1);
        xg_mbarrier_init_fence();
        if (s->slices > 1)
            xg_mbarrier_arrive_expect_tx(arrival, (unsigned)s->slices * ROWS *
                                                      (unsigned)sizeof(xg_packed_scan));
        if (strips)
            xg_expect_strips(p, s);
    }
    xg_cluster_arrive_relaxed();
}

/* One CTA: clears the counters of the product kernel. */
XG_DEVICE void xg_clear_counters(const xg_tensor_args *p, const xg_fp16_layout *at)
{
    char *const workspace = (char *)p->workspace;
    unsigned *const counts = (unsigned *)(workspace + at->partial_counts);
    unsigned *const recompute = (unsigned *)(workspace + at->recompute);
    const unsigned cleared =
        p->later_pass ? offsetof(xg_recompute, recomputed) : sizeof(xg_recompute);
    for (int i = (int)threadIdx.x; i < XG_STREAM_K_CTAS; i += THREADS)
        counts[i] = 0;
    if (threadIdx.x < cleared / sizeof *recompute)
        recompute[threadIdx.x] = 0;
}

/*
 * The kernel: with "held" vec4 in registers (split_slice_copy.h), and with edge strips or without.
 */
XG_DEVICE void xg_split_cta(const xg_tensor_args *args, int held, int strips, char *shared)
{
    const xg_fp16_layout at = xg_layout_of_split(args);
    const xg_row_group group = xg_row_group_of(args, &at);
    if (!group.is_there)
        return; /* the whole cluster */
    xg_tensor_args moved;
    if (BATCHED)
        xg_pdl_wait(); /* before arrays of pointers are read */
    const xg_tensor_args *const p = xg_split_args_of_product(args, &moved);
    const xg_slice s =
        xg_slice_of(p, &at, group, held, shared + (strips ? xg_strip_sums_bytes(p) : 0));
    float4 in[HELD];
    xg_pdl_trigger();
    xg_slice_begin(p, &s, strips);
    xg_pdl_wait();
    if (xg_cluster_index() == 0 && blockIdx.x == 0)
        xg_clear_counters(p, &at);
    if (held)
        xg_load_whole_slice(&s, in);
    else
        xg_load_slice(&s);
    if (p->split.terms == 2)
        xg_slice_split(p, &s, in, held, strips, 2);
    else
        xg_slice_split(p, &s, in, held, strips, 1);
    if (strips && blockIdx.x == 0)
        xg_store_strips(p, &s);
}

#endif
