/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The split kernel for a few k-blocks, at most XG_SHORT_BLOCKS; fp16_split.h splits any number of
 * them, and takes as long for 64 k as for 512. A warp has one k-block of a row group in registers:
 * 16 operand rows by 64 k, eight vec4 of each lane:
 *
 *     K-major: vec4 i of a lane is in row 2 i + lane / 16, from k = 4 (lane % 16) on
 *     MN-major: as in split_slice.h
 *
 * A row group's k-blocks are those of consecutive warps, 1, 2 or 4 of them. x of the grid is
 * which of a product's row groups a CTA has, and z the product.
 */
#ifndef XGEMM_KERNELS_SPLIT_SHORT_H
#define XGEMM_KERNELS_SPLIT_SHORT_H

#include "fp16_split.h"

enum { SHORT_VECS = 8 };

/* What the warps of a row group exchange. */
typedef struct {
    xg_packed_scan by_warp[WARPS][ROWS];
} xg_short_state;

/* The warp's part of its row group. The slice's "room", segments and shared memory are not used. */
XG_DEVICE xg_slice xg_short_slice_of(const xg_tensor_args *p, const xg_fp16_layout *at,
                                     xg_row_group of, int k_block)
{
    const float *const matrix = of.is_a ? p->a : p->b;
    const int64_t row_stride = of.is_a ? p->a_stride_m : p->b_stride_n,
                  k_stride = of.is_a ? p->a_stride_k : p->b_stride_k;
    const int size = (int)(of.is_a ? p->m : p->n), k = k_block * XG_K_BLOCK;
    const unsigned tile =
        (unsigned)of.number / XG_BLOCK_GROUPS * (unsigned)at->k_blocks + (unsigned)k_block;
    xg_slice s;
    s.is_a = of.is_a;
    s.k_major = k_stride == 1;
    s.stride = s.k_major ? row_stride : k_stride;
    s.group = of.number;
    s.first_row = of.own * ROWS;
    s.first_stored_row = of.number % XG_BLOCK_GROUPS * ROWS;
    s.rows = XG_MAX(XG_MIN(ROWS, size - s.first_row), 0);
    s.k = XG_MAX(XG_MIN(XG_K_BLOCK, (int)p->k - xg_has_last_k(p->k, p->k_blocks) - k), 0);
    s.vec4 = xg_split_vec4(matrix, s.stride);
    s.from = matrix + (s.k_major ? s.first_row : k) * s.stride + (s.k_major ? k : s.first_row);
    s.terms = (char *)p->workspace + (uint64_t)(tile * (unsigned)p->split.terms) * XG_TERM_BYTES;
    return s;
}

/* Up to four floats; zeros in place of those beyond "left". */
XG_DEVICE float4 xg_load_up_to_4(const float *from, int left, int vec4)
{
    float4 x = {0.0f, 0.0f, 0.0f, 0.0f};
    if (vec4 && left >= 4)
        return *(const float4 *)from;
    if (left > 0)
        x.x = from[0];
    if (left > 1)
        x.y = from[1];
    if (left > 2)
        x.z = from[2];
    if (left > 3)
        x.w = from[3];
    return x;
}

XG_DEVICE void xg_short_load(const xg_slice *s, float4 x[SHORT_VECS])
{
    const int lane = LANE, whole = s->vec4 && s->rows == ROWS && s->k == XG_K_BLOCK;
    const int row = s->k_major ? lane / 16 : lane % 4 * 4;
    const int k = s->k_major ? lane % 16 * 4 : lane / 4 * 4;
    const float *const from =
        s->k_major ? s->from + row * s->stride + k : s->from + k * s->stride + row;
    XG_UNROLL
    for (int i = 0; i < SHORT_VECS; i++) {
        const int line = s->k_major ? 2 * i : i % 4 + i / 4 * 32;
        const int left = s->k_major ? (row + line < s->rows ? s->k - k : 0)
                                    : (k + line < s->k ? s->rows - row : 0);
        if (whole)
            x[i] = *(const float4 *)(from + line * s->stride);
        else
            x[i] = xg_load_up_to_4(from + line * s->stride, left, s->vec4);
    }
}

/* One of two scans is kept, by a bit of the lane's number, and merged with the other lane's. */
XG_DEVICE xg_packed_scan xg_exchange_scans(xg_packed_scan low, xg_packed_scan high, int bit)
{
    const int upper = (int)xg_lane() & bit;
    return xg_merge_scans(xg_select_scan(upper, high, low),
                          xg_scan_of_lane(xg_select_scan(upper, low, high), bit));
}

/*
 * Scans of the warp's rows: a lane ends with that of *row, or -1 where another lane has the same.
 * Of 16 lanes, which have eight rows, half keep the upper four in the first step.
 */
XG_DEVICE xg_packed_scan xg_short_scan_k_major(const float4 x[SHORT_VECS], int *row)
{
    const int lane = LANE;
    xg_packed_scan rows[SHORT_VECS];
    XG_UNROLL
    for (int i = 0; i < SHORT_VECS; i++) {
        const unsigned quarter = xg_bits_of(x[i].x) >> 25 & 63;
        xg_row_scan scan = {0.0f, 0.0f, 0, 0};
        xg_scan_vec4(&scan, x[i]);
        rows[i] = xg_pack_scan_without_log(scan);
        rows[i].rest |= quarter && lane % 4 == 0 ? quarter : 63u;
    }
    XG_UNROLL
    for (int count = SHORT_VECS / 2; count > 0; count /= 2)
        XG_UNROLL
    for (int i = 0; i < count; i++)
        rows[i] = xg_exchange_scans(rows[i], rows[i + count], 2 * count);
    *row = lane & 1 ? -1 : lane % 16 + lane / 16;
    return xg_merge_scans(rows[0], xg_scan_of_lane(rows[0], 1));
}

XG_DEVICE xg_packed_scan xg_short_scan_mn_major(const float4 x[SHORT_VECS], int *row)
{
    xg_row_scan scan[4] = {
        {0.0f, 0.0f, 0, 0}, {0.0f, 0.0f, 0, 0}, {0.0f, 0.0f, 0, 0}, {0.0f, 0.0f, 0, 0}};
    XG_UNROLL
    for (int i = 0; i < SHORT_VECS; i++) {
        xg_scan(&scan[0], x[i].x);
        xg_scan(&scan[1], x[i].y);
        xg_scan(&scan[2], x[i].z);
        xg_scan(&scan[3], x[i].w);
        if (i % 4 == 0)
            xg_scan_log(&scan[0], x[i].x);
    }
    scan[1].logs = scan[2].logs = scan[3].logs = scan[0].logs;
    const xg_packed_scan packed[4] = {xg_pack_scan(scan[0]), xg_pack_scan(scan[1]),
                                      xg_pack_scan(scan[2]), xg_pack_scan(scan[3])};
    *row = LANE & 4 ? -1 : xg_gathered_row((unsigned)LANE);
    return xg_gather_scans(packed);
}

/* The scan of row lane % 16 over all of the row group's k-blocks. */
XG_DEVICE xg_packed_scan xg_short_exchange(xg_short_state *state, xg_packed_scan mine, int row,
                                           int warps)
{
    const int first = WARP / warps * warps;
    if (row >= 0)
        state->by_warp[WARP][row] = mine;
    if (warps > 1)
        __syncthreads();
    else
        __syncwarp();
    xg_packed_scan all = state->by_warp[first][LANE % ROWS];
    for (int i = 1; i < warps; i++)
        all = xg_merge_scans(all, state->by_warp[first + i][LANE % ROWS]);
    return all;
}

/* The warp's k-block as terms; "scale" is that of row lane % 16. */
XG_DEVICE void xg_short_convert(const xg_slice *s, const float4 x[SHORT_VECS], float scale,
                                int terms)
{
    const unsigned lane = xg_lane();
    const int any_not_finite = __any_sync(ALL, scale == 0.0f);
    if (s->k_major) {
        const unsigned chunk = lane / 2 % 8 ^ lane / 16;
        char *const to = s->terms + ((unsigned)s->first_stored_row + lane / 16) * 128 + chunk * 16 +
                         lane % 2 * 8;
        XG_UNROLL
        for (unsigned i = 0; i < SHORT_VECS; i++) {
            const float row_scale = __shfl_sync(ALL, scale, (int)(2 * i + lane / 16));
            xg_store_row(x[i], 2 * i, row_scale, any_not_finite, terms, 0, to);
        }
    } else {
        char *const to = s->terms + xg_offset_mn_major(s, lane, terms);
        XG_UNROLL
        for (int i = 0; i < 4; i++) {
            const float row_scale = __shfl_sync(ALL, scale, (int)(lane % 4 * 4) + i);
            XG_UNROLL
            for (int half = 0; half < 2; half++)
                xg_store_row(xg_transpose4x4_row(x + 4 * half, i), (unsigned)i, row_scale,
                             any_not_finite, terms, half, to);
        }
    }
}

XG_DEVICE void xg_short_split(const xg_tensor_args *p, const xg_slice *s, xg_short_state *state,
                              int k_block, int warps, int terms)
{
    float4 x[SHORT_VECS];
    int row;
    xg_short_load(s, x);
    const xg_packed_scan mine =
        s->k_major ? xg_short_scan_k_major(x, &row) : xg_short_scan_mn_major(x, &row);
    const xg_packed_scan all = xg_short_exchange(state, mine, row, warps);
    const float scale =
        xg_is_not_finite(all.largest) ? 0.0f : xg_scale_to_terms(xg_float_of(all.largest));
    if (k_block == 0 && LANE < ROWS)
        xg_slice_store_stats(p, s, LANE, all, terms);
    if (k_block < (int)p->k_blocks)
        xg_short_convert(s, x, scale, terms);
}

XG_DEVICE void xg_split_short_cta(const xg_tensor_args *args)
{
    XG_SHARED16 xg_short_state state;
    const xg_fp16_layout at = xg_layout_of_split(args);
    const int warps = xg_short_warps((int)args->k_blocks), k_block = WARP % warps;
    const xg_row_group group = xg_row_group_at(args, &at, ((int)blockIdx.x * WARPS + WARP) / warps);
    if (!group.is_there)
        return; /* the whole CTA, as its row groups are of one operand */
    xg_tensor_args moved;
    xg_pdl_trigger();
    xg_pdl_wait();
    const xg_tensor_args *const p = xg_split_args_of_product(args, &moved);
    const xg_slice s = xg_short_slice_of(p, &at, group, k_block);
    if (blockIdx.x == 0 && blockIdx.z == 0)
        xg_clear_counters(p, &at);
    if (p->split.terms == 2)
        xg_short_split(p, &s, &state, k_block, warps, 2);
    else
        xg_short_split(p, &s, &state, k_block, warps, 1);
}

#endif
