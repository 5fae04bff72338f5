/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strips of C where their lines are split: a few rows of C below the tiles are those of A times B's
 * columns, and a few columns beside them A's rows times those of B. So each is a vector times all
 * lines of an operand (fp16_slice.h), which the split reads anyway. fp16_vectors.cu has put the
 * vectors in a row, those of A first.
 *
 * A block multiplies its slice, in FP32; its threads' sums are added up in a fixed order, and sent
 * to the cluster's first block, which adds them up in that of the slices. A last k that the parts
 * do not hold (xg_split_k) comes at the end.
 */
#ifndef XGEMM_KERNELS_FP16_SLICE_STRIP_H
#define XGEMM_KERNELS_FP16_SLICE_STRIP_H

#include "fp16_row.h"
#include "fp16_slice.h"
#include "families/common/ptx_sm90.h"

/* Of a strip, before the other notes: what the slices send, and what the block's warps have. */
typedef struct {
    float inbox[LINES][XG_SLICES_MOST];
    float by_warp[WARPS][LINES];
} xg_strip_notes; /* XG_SPLIT_STRIP_BYTES */

XG_DEVICE unsigned xg_strip_notes_bytes(const xg_args *p)
{
    return XG_SPLIT_STRIP_BYTES * (unsigned)XG_MAX(xg_rows_below(p), xg_columns_beside(p));
}

XG_DEVICE xg_strip_notes *xg_strip_notes_of(const xg_args *p, const xg_slice *s, int strip)
{
    return (xg_strip_notes *)(void *)((char *)s->notes - xg_strip_notes_bytes(p)) + strip;
}

/* How many strips the slice's lines have. */
XG_DEVICE int xg_strips_of(const xg_args *p, const xg_slice *s)
{
    return s->is_a ? xg_columns_beside(p) : xg_rows_below(p);
}

/* Of a strip's vector what the slice has. */
XG_DEVICE const float *xg_strip_vector_of(const xg_args *p, const xg_slice *s, int strip)
{
    const xg_fp16_layout at = xg_layout_of(p);
    const int number = strip + (s->is_a ? xg_rows_below(p) : 0);
    return (const float *)(const void *)(xg_workspace_of(p) + at.bytes) +
           number * xg_strip_vector(&at) + (int)blockIdx.x * at.slice_chunks * XG_CHUNK_K;
}

XG_DEVICE float xg_add_products(float sum, float4 x, float4 y)
{
    sum += x.x * y.x, sum += x.y * y.y, sum += x.z * y.z, sum += x.w * y.w;
    return sum;
}

/* The warp's two lines. */
XG_DEVICE void xg_strip_of_two(const xg_slice *s, const float *vector, xg_strip_notes *notes)
{
    float sum[2] = {0.0f, 0.0f};
    for (int piece = 0; piece < s->pieces; piece++, vector += XG_PIECE_K)
        XG_UNROLL
    for (int row = 0; row < 4; row++) {
        if (piece * XG_PIECE_K + row * XG_CHUNK_K >= s->depth)
            break;
        const float4 y = *(const float4 *)(vector + row * XG_CHUNK_K + LANE * 4);
        sum[0] = xg_add_products(sum[0], *xg_row_at(s, piece, row, 0), y);
        sum[1] = xg_add_products(sum[1], *xg_row_at(s, piece, row + 4, 0), y);
    }
    sum[0] = xg_over_lanes(sum[0], 16, 1), sum[1] = xg_over_lanes(sum[1], 16, 1);
    if (LANE == 0)
        notes->by_warp[0][WARP * 2] = sum[0], notes->by_warp[0][WARP * 2 + 1] = sum[1];
}

/* The warp's k of all lines; a thread has four. */
XG_DEVICE void xg_strip_of_four(const xg_slice *s, const float *vector, xg_strip_notes *notes)
{
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    vector += WARP * XG_UNIT_K + LANE / 4 * 4;
    for (int piece = 0; piece < s->pieces; piece++, vector += XG_PIECE_K) {
        if (piece * XG_PIECE_K + WARP * XG_UNIT_K >= s->depth)
            break;
        XG_UNROLL
        for (int half = 0; half < 2; half++) {
            float4 x[4];
            XG_UNROLL
            for (int row = 0; row < 4; row++)
                x[row] = *xg_row_at(s, piece, half * 4 + row, 0);
            const float4 y = *(const float4 *)(vector + 32 * half);
            XG_UNROLL
            for (int i = 0; i < 4; i++)
                sum[i] = xg_add_products(sum[i], xg_transposed(x, i), y);
        }
    }
    XG_UNROLL
    for (int i = 0; i < 4; i++) {
        sum[i] = xg_over_lanes(sum[i], 16, 4);
        if (LANE < 4)
            notes->by_warp[WARP][LANE * 4 + i] = sum[i];
    }
}

/* Each warp's share of the sums; the block's are seen by all after its next barrier. */
XG_DEVICE void xg_slice_strips(const xg_args *p, const xg_slice *s)
{
    XG_UNROLL_BY(1)
    for (int strip = 0; strip < xg_strips_of(p, s); strip++) {
        const float *const vector = xg_strip_vector_of(p, s, strip);
        if (s->along_k)
            xg_strip_of_two(s, vector, xg_strip_notes_of(p, s, strip));
        else
            xg_strip_of_four(s, vector, xg_strip_notes_of(p, s, strip));
    }
}

/* One thread of the first block: how much will come. */
XG_DEVICE void xg_expect_strips(const xg_args *p, const xg_slice *s)
{
    const unsigned arrival = xg_shared_address(&s->notes->strips_arrival);
    xg_barrier_init(arrival, 1);
    xg_barrier_init_fence();
    if (s->slices > 1 && blockIdx.x == 0)
        xg_barrier_expect(arrival, (unsigned)(xg_strips_of(p, s) * s->slices * LINES) *
                                       (unsigned)sizeof(float));
}

/* 16 threads have a line. */
XG_DEVICE void xg_send_strips(const xg_args *p, const xg_slice *s)
{
    const int line = (int)(threadIdx.x / 16), warp = (int)(threadIdx.x % 16);
    XG_UNROLL_BY(1)
    for (int strip = 0; strip < xg_strips_of(p, s); strip++) {
        xg_strip_notes *const notes = xg_strip_notes_of(p, s, strip);
        const int there = warp < (s->along_k ? 1 : WARPS);
        const float sum = xg_over_lanes(there ? notes->by_warp[warp][line] : 0.0f, 8, 1);
        float *const to = &notes->inbox[line][blockIdx.x];
        if (warp == 0 && s->slices > 1)
            xg_cluster_store(xg_shared_address(to), 0, xg_bits_of(sum),
                             xg_shared_address(&s->notes->strips_arrival));
        else if (warp == 0)
            *to = sum;
    }
}

/* Of line "line" and the vector of a strip, the last k, if the parts do not hold it. */
XG_DEVICE float xg_last_of_strip(const xg_args *p, const xg_slice *s, int line, int strip)
{
    const float *const a = p->a + (s->is_a ? line : p->m + strip) * p->a_stride_m;
    const float *const b = p->b + (s->is_a ? p->n + strip : line) * p->b_stride_n;
    return xg_split_k(p->k) < p->k ? a[(p->k - 1) * p->a_stride_k] * b[(p->k - 1) * p->b_stride_k]
                                   : 0.0f;
}

/* The first block: the sums of all slices, to C. */
XG_DEVICE void xg_store_strips(const xg_args *p, const xg_slice *s)
{
    const int slice = (int)(threadIdx.x % 16), line = (int)(threadIdx.x / 16);
    const int first = (s->group - (s->is_a ? 0 : xg_lines_blocks(p->m) * XG_UNIT_GROUPS)) * LINES;
    if (s->slices > 1 && xg_strips_of(p, s) > 0)
        xg_barrier_wait(xg_shared_address(&s->notes->strips_arrival), 0);
    XG_UNROLL_BY(1)
    for (int strip = 0; strip < xg_strips_of(p, s); strip++) {
        const float *const inbox = xg_strip_notes_of(p, s, strip)->inbox[line];
        const float sum = xg_over_lanes(slice < s->slices ? inbox[slice] : 0.0f, 8, 1);
        const int64_t row = s->is_a ? first + line : p->m + strip;
        const int64_t column = s->is_a ? p->n + strip : first + line;
        float *const c = p->c + row * p->c_stride_m + column;
        if (slice == 0 && line < s->lines)
            *c = xg_blend(p->alpha, sum + xg_last_of_strip(p, s, first + line, strip), p->beta, c);
    }
}

#endif
