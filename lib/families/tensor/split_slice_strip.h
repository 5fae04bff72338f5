/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Edge strips of C in the split kernel: a few rows of C below the tiles, each a row of A times B,
 * and a few columns beside them, each A times a column of B. Each is a strip vector times all rows
 * of an operand, which the split kernel reads anyway. fp16_vectors.cu has copied the strip vectors
 * to the workspace, rows of A first.
 *
 * A CTA multiplies its slice in FP32, reduces the sums of its threads in a fixed order and sends
 * them to the cluster's first CTA, which reduces those of all slices in their order. A last k that
 * the terms leave out (xg_split_k()) is added at the end.
 */
#ifndef XGEMM_KERNELS_SPLIT_SLICE_STRIP_H
#define XGEMM_KERNELS_SPLIT_SLICE_STRIP_H

#include "families/common/epilogue.h"
#include "operand_row.h"
#include "split_slice.h"
#include "families/common/ptx_sm90.h"

/* A strip's sums in shared memory, before xg_split_state: of all slices, and of the CTA's warps. */
typedef struct {
    float inbox[ROWS][XG_SLICES_MOST];
    float by_warp[WARPS][ROWS];
} xg_strip_sums; /* of XG_SPLIT_STRIP_BYTES */

XG_DEVICE unsigned xg_strip_sums_bytes(const xg_tensor_args *p)
{
    return XG_SPLIT_STRIP_BYTES * (unsigned)XG_MAX(p->rows_below, p->columns_beside);
}

XG_DEVICE xg_strip_sums *xg_strip_sums_of(const xg_tensor_args *p, const xg_slice *s, int strip)
{
    return (xg_strip_sums *)(void *)((char *)s->state - xg_strip_sums_bytes(p)) + strip;
}

/* Strips of which the slice's operand rows are part. */
XG_DEVICE int xg_strip_count(const xg_tensor_args *p, const xg_slice *s)
{
    return s->is_a ? p->columns_beside : p->rows_below;
}

/* The slice's part of a strip vector. */
XG_DEVICE const float *xg_strip_vector_of(const xg_tensor_args *p, const xg_slice *s, int strip)
{
    const xg_fp16_layout at = xg_split_layout_of(p);
    const int index = strip + (s->is_a ? p->rows_below : 0);
    return (const float *)(const void *)((char *)p->workspace + at.bytes) +
           index * xg_strip_vector_size(&at) + (int)blockIdx.x * at.slice_chunks * XG_CHUNK_K;
}

XG_DEVICE float xg_add_products(float sum, float4 x, float4 y)
{
    sum += x.x * y.x, sum += x.y * y.y, sum += x.z * y.z, sum += x.w * y.w;
    return sum;
}

/* The warp's two rows. */
XG_DEVICE void xg_strip_dot_k_major(const xg_slice *s, const float *vector, xg_strip_sums *sums)
{
    float sum[2] = {0.0f, 0.0f};
    for (int segment = 0; segment < s->segments; segment++, vector += XG_SEGMENT_K)
        XG_UNROLL
    for (int vec = 0; vec < 4; vec++) {
        if (segment * XG_SEGMENT_K + vec * XG_CHUNK_K >= s->depth)
            break;
        const float4 y = *(const float4 *)(vector + vec * XG_CHUNK_K + LANE * 4);
        sum[0] = xg_add_products(sum[0], *xg_vec_at(s, segment, vec, 0), y);
        sum[1] = xg_add_products(sum[1], *xg_vec_at(s, segment, vec + 4, 0), y);
    }
    sum[0] = xg_sum_lanes(sum[0], 16, 1), sum[1] = xg_sum_lanes(sum[1], 16, 1);
    if (LANE == 0)
        sums->by_warp[0][WARP * 2] = sum[0], sums->by_warp[0][WARP * 2 + 1] = sum[1];
}

/* The warp's k of all 16 rows; a lane has four of these. */
XG_DEVICE void xg_strip_dot_mn_major(const xg_slice *s, const float *vector, xg_strip_sums *sums)
{
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    vector += WARP * XG_K_BLOCK + LANE / 4 * 4;
    for (int segment = 0; segment < s->segments; segment++, vector += XG_SEGMENT_K) {
        if (segment * XG_SEGMENT_K + WARP * XG_K_BLOCK >= s->depth)
            break;
        XG_UNROLL
        for (int half = 0; half < 2; half++) {
            float4 x[4];
            XG_UNROLL
            for (int vec = 0; vec < 4; vec++)
                x[vec] = *xg_vec_at(s, segment, half * 4 + vec, 0);
            const float4 y = *(const float4 *)(vector + 32 * half);
            XG_UNROLL
            for (int i = 0; i < 4; i++)
                sum[i] = xg_add_products(sum[i], xg_transpose4x4_row(x, i), y);
        }
    }
    XG_UNROLL
    for (int i = 0; i < 4; i++) {
        sum[i] = xg_sum_lanes(sum[i], 16, 4);
        if (LANE < 4)
            sums->by_warp[WARP][LANE * 4 + i] = sum[i];
    }
}

/* Each warp's partial sums; the CTA's next barrier makes them visible. */
XG_DEVICE void xg_slice_strips(const xg_tensor_args *p, const xg_slice *s)
{
    XG_UNROLL_BY(1)
    for (int strip = 0; strip < xg_strip_count(p, s); strip++) {
        const float *const vector = xg_strip_vector_of(p, s, strip);
        if (s->k_major)
            xg_strip_dot_k_major(s, vector, xg_strip_sums_of(p, s, strip));
        else
            xg_strip_dot_mn_major(s, vector, xg_strip_sums_of(p, s, strip));
    }
}

/* One thread: the mbarrier, for the sums that the first CTA will receive. */
XG_DEVICE void xg_expect_strips(const xg_tensor_args *p, const xg_slice *s)
{
    const unsigned arrival = xg_shared_address(&s->state->strips_arrival);
    xg_mbarrier_init(arrival, 1);
    xg_mbarrier_init_fence();
    if (s->slices > 1 && blockIdx.x == 0)
        xg_mbarrier_arrive_expect_tx(arrival, (unsigned)(xg_strip_count(p, s) * s->slices * ROWS) *
                                                  (unsigned)sizeof(float));
}

/* 16 threads reduce and send the sum of a row. */
XG_DEVICE void xg_send_strips(const xg_tensor_args *p, const xg_slice *s)
{
    const int row = (int)(threadIdx.x / 16), warp = (int)(threadIdx.x % 16);
    XG_UNROLL_BY(1)
    for (int strip = 0; strip < xg_strip_count(p, s); strip++) {
        xg_strip_sums *const sums = xg_strip_sums_of(p, s, strip);
        const int has_sum = warp < (s->k_major ? 1 : WARPS);
        const float sum = xg_sum_lanes(has_sum ? sums->by_warp[warp][row] : 0.0f, 8, 1);
        float *const to = &sums->inbox[row][blockIdx.x];
        if (warp == 0 && s->slices > 1)
            xg_cluster_store(xg_shared_address(to), 0, xg_bits_of(sum),
                             xg_shared_address(&s->state->strips_arrival));
        else if (warp == 0)
            *to = sum;
    }
}

/* The product at the last k of an operand row and a strip vector, if the terms leave it out. */
XG_DEVICE float xg_last_of_strip(const xg_tensor_args *p, const xg_slice *s, int row, int strip)
{
    const float *const a = p->a + (s->is_a ? row : p->m + strip) * p->a_stride_m;
    const float *const b = p->b + (s->is_a ? p->n + strip : row) * p->b_stride_n;
    return xg_has_last_k(p->k, p->k_blocks)
               ? a[(p->k - 1) * p->a_stride_k] * b[(p->k - 1) * p->b_stride_k]
               : 0.0f;
}

/* The first CTA: reduces the sums of all slices and stores them to C. */
XG_DEVICE void xg_store_strips(const xg_tensor_args *p, const xg_slice *s)
{
    const int slice = (int)(threadIdx.x % 16), row = (int)(threadIdx.x / 16);
    const int first = (s->group - (s->is_a ? 0 : xg_row_blocks(p->m) * XG_BLOCK_GROUPS)) * ROWS;
    if (s->slices > 1 && xg_strip_count(p, s) > 0)
        xg_mbarrier_wait(xg_shared_address(&s->state->strips_arrival), 0);
    XG_UNROLL_BY(1)
    for (int strip = 0; strip < xg_strip_count(p, s); strip++) {
        const float *const inbox = xg_strip_sums_of(p, s, strip)->inbox[row];
        const float sum = xg_sum_lanes(slice < s->slices ? inbox[slice] : 0.0f, 8, 1);
        const int64_t vec = s->is_a ? first + row : p->m + strip;
        const int64_t column = s->is_a ? p->n + strip : first + row;
        float *const c = p->c + vec * p->c_stride_m + column;
        if (slice == 0 && row < s->rows)
            *c =
                xg_epilogue(p->alpha, sum + xg_last_of_strip(p, s, first + row, strip), p->beta, c);
    }
}

#endif
