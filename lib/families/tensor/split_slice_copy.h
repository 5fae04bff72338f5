/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of a slice (split_slice.h) from global memory.
 *
 * In the common case every slice is one whole segment and aligned to 16 bytes: then two of a
 * thread's vec4 stay in registers ("held" is 2), so that a multiprocessor holds eight CTAs
 * (fp16_split_even.cu). Else "held" is 0 and all goes through shared memory, by scalars where it
 * must, with zeros for what lies beyond the matrix (fp16_split.cu).
 *
 * Unaligned matrices: K-major ones lose nothing by scalar copies. MN-major ones have only 64 bytes
 * of 16 rows for each k: 4097 x 4097 took 60 us by scalars where 4096 x 4096 takes 41. It takes 53
 * by vec4 that begin at the aligned address before the first row; a fifth vec4 for each k completes
 * the 16 rows, and the rows are realigned in shared memory. Scalars remain for the first row group,
 * as nothing may be read before the matrix; for the matrix's edges; for slices of several segments;
 * and for few CTAs.
 */
#ifndef XGEMM_KERNELS_SPLIT_SLICE_COPY_H
#define XGEMM_KERNELS_SPLIT_SLICE_COPY_H

#include "split_slice.h"
#include "families/common/ptx.h"

/* "left", limited to 0 to "most". */
XG_DEVICE int xg_clamp_count(int left, int most)
{
    return XG_MAX(XG_MIN(left, most), 0);
}

/* MN-major: the k of a thread's vec4, relative to its first. */
XG_DEVICE int xg_k_of_vec(int vec)
{
    return vec % 4 + vec / 4 * 32;
}

/* The whole slice: the held vec4 are loaded, the others are in flight. */
XG_DEVICE void xg_load_whole_slice(const xg_slice *s, float4 *in)
{
    const unsigned thread = xg_reread_thread();
    const int warp = (int)(thread / 32), lane = (int)(thread % 32);
    const unsigned stride = (unsigned)s->stride * 4;
    if (s->k_major) {
        const float *const from = s->from + (int64_t)(2 * warp) * s->stride + 4 * lane;
        const float *const next = from + s->stride;
        in[0] = *(const float4 *)from;
        in[1] = *(const float4 *)(from + XG_CHUNK_K);
        XG_UNROLL
        for (int vec = HELD; vec < 8; vec++)
            xg_cp_async16(xg_vec_at(s, 0, vec, HELD),
                          (vec < 4 ? from : next) + vec % 4 * XG_CHUNK_K, 16);
    } else {
        const float *const from =
            s->from + (int64_t)(64 * warp + lane / 4 * 4) * s->stride + lane % 4 * 4;
        in[0] = xg_load_vec4_l2_128b(from);
        in[1] = xg_load_vec4_l2_128b(from + s->stride);
        XG_UNROLL
        for (int vec = HELD; vec < 8; vec++)
            xg_cp_async16_l2_128b_at(xg_vec_at(s, 0, vec, HELD), from, (unsigned)xg_k_of_vec(vec),
                                     stride);
    }
}

/* The next four functions start the copies of a segment; beyond the matrix they write zeros. */
XG_DEVICE void xg_copy_vec4_k_major(const xg_slice *s, int segment)
{
    const int row = WARP * 2, k = segment * XG_SEGMENT_K + LANE * 4;
    const float *const from = s->from + row * s->stride + k;
    XG_UNROLL
    for (int vec = 0; vec < 8; vec++) {
        const int left = row + vec / 4 < s->rows ? s->k - k - vec % 4 * XG_CHUNK_K : 0;
        if (!xg_slice_reaches(s, segment, vec % 4 * XG_CHUNK_K))
            continue;
        xg_cp_async16(xg_vec_at(s, segment, vec, 0),
                      from + vec / 4 * s->stride + vec % 4 * XG_CHUNK_K,
                      4 * xg_clamp_count(left, 4));
    }
}

XG_DEVICE void xg_copy_scalar_k_major(const xg_slice *s, int segment)
{
    const int lane = LANE, row = WARP * 2;
    for (int half = 0; half < 2; half++) {
        const float *from = s->from + (row + half) * s->stride + segment * XG_SEGMENT_K + lane;
        float *to = (float *)(xg_vec_at(s, segment, half * 4, 0) - lane) + lane;
        int left = row + half < s->rows ? s->k - segment * XG_SEGMENT_K - lane : 0;
        for (int vec = 0; vec < 4 && xg_slice_reaches(s, segment, vec * XG_CHUNK_K); vec++) {
            XG_UNROLL
            for (int i = 0; i < 4; i++)
                xg_cp_async4(to + i * 32, from + i * 32, left > i * 32 ? 4 : 0);
            from += XG_CHUNK_K, left -= XG_CHUNK_K, to += THREADS * 4;
        }
    }
}

XG_DEVICE void xg_copy_vec4_mn_major(const xg_slice *s, int segment)
{
    const int warp = WARP, lane = LANE;
    const int k = segment * XG_SEGMENT_K + warp * 64 + lane / 4 * 4, row = lane % 4 * 4;
    const int bytes = 4 * xg_clamp_count(s->rows - row, 4);
    if (!xg_slice_reaches(s, segment, warp * XG_K_BLOCK))
        return;
    XG_UNROLL
    for (int vec = 0; vec < 8; vec++) {
        const int vec_k = k + xg_k_of_vec(vec);
        xg_cp_async16_l2_128b(xg_vec_at(s, segment, vec, 0), s->from + vec_k * s->stride + row,
                              vec_k < s->k ? bytes : 0);
    }
}

/* Lanes copy 2 k of 16 rows at once, as the rows of one k are contiguous. */
XG_DEVICE void xg_copy_scalar_mn_major(const xg_slice *s, int segment)
{
    const int warp = WARP, lane = LANE, row = lane % ROWS;
    const int first = segment * XG_SEGMENT_K + warp * 64 + lane / ROWS * 4;
    const int end = row < s->rows ? s->k : 0;
    const int64_t stride = 8 * s->stride * (int64_t)sizeof(float);
    if (!xg_slice_reaches(s, segment, warp * XG_K_BLOCK))
        return;
    for (int vec = 0; vec < 4; vec++) {
        const float *from = s->from + (first + vec) * s->stride + row;
        float *to = (float *)(xg_vec_at(s, segment, vec, 0) - lane) + lane;
        XG_UNROLL
        for (int i = 0; i < 8; i++)
            xg_cp_async4_advance(to + i / 4 * (4 * THREADS * 4) + i % 4 * 32, &from, stride,
                                 first + vec + i * 8 < end ? 4 : 0);
    }
}

/* The fifth vec4 of a k; those of all threads follow the segment. */
XG_DEVICE float4 *xg_fifth_vec_at(const xg_slice *s, unsigned vec)
{
    return s->vecs - threadIdx.x + 8 * THREADS + vec * (THREADS / 4) + threadIdx.x / 4;
}

XG_DEVICE const float *xg_aligned_down(const float *from)
{
    return (const float *)((uintptr_t)from & ~(uintptr_t)15);
}

/*
 * A slice of one whole segment from aligned addresses on: four vec4 of each k, and of a fifth one
 * as much as is needed.
 */
XG_DEVICE void xg_copy_aligned_down(const xg_slice *s)
{
    const int lane = LANE, stride = (int)s->stride;
    if (!xg_slice_reaches(s, 0, WARP * XG_K_BLOCK))
        return;
    const float *const from = s->from + (WARP * XG_K_BLOCK + lane / 4 * 4) * s->stride;
    XG_UNROLL
    for (int vec = 0; vec < 8; vec++)
        xg_cp_async16_l2_128b(
            xg_vec_at(s, 0, vec, 0),
            xg_aligned_down(xg_offset_strided(from + lane % 4 * 4, stride, xg_k_of_vec(vec))), 16);
    XG_UNROLL
    for (int half = 0; half < 2; half++) {
        const float *const fifth =
            xg_offset_strided(from + lane % 4 * s->stride + ROWS, stride, 32 * half);
        xg_cp_async16(xg_fifth_vec_at(s, (unsigned)(half * 4 + lane % 4)), xg_aligned_down(fifth),
                      (int)((uintptr_t)fifth % 16));
    }
}

/* Four of the eight floats of a and b, from float "by" % 4 on. */
XG_DEVICE float4 xg_funnel_shift4(float4 a, float4 b, unsigned by)
{
    if (by & 1)
        a = (float4){a.y, a.z, a.w, b.x}, b = (float4){b.y, b.z, b.w, 0.0f};
    return by & 2 ? (float4){a.z, a.w, b.x, b.y} : a;
}

/*
 * Moves what xg_copy_aligned_down() has copied to where the other copies put it. A warp reads only
 * what it has copied itself. The k of vec4 number "vec" differ by multiples of 4 between lanes, so
 * that all of them are as far from an aligned address.
 */
XG_DEVICE void xg_realign(const xg_slice *s)
{
    const int last = LANE % 4 == 3;
    const unsigned from = (unsigned)((uintptr_t)s->from / sizeof(float));
    const float4 *next = last ? xg_fifth_vec_at(s, 0) : s->vecs + 1;
    if (!xg_slice_reaches(s, 0, WARP * XG_K_BLOCK))
        return;
    XG_UNROLL
    for (unsigned vec = 0; vec < 8; vec++) {
        float4 *const at = xg_vec_at(s, 0, (int)vec, 0);
        const float4 a = *at, b = *next;
        __syncwarp();
        *at = xg_funnel_shift4(a, b, from + vec % 4 * (unsigned)s->stride);
        next += last ? THREADS / 4 : THREADS;
    }
}

XG_DEVICE void xg_load_slice(const xg_slice *s)
{
    for (int segment = 0; segment < s->segments; segment++)
        if (s->k_major && s->vec4)
            xg_copy_vec4_k_major(s, segment);
        else if (s->k_major)
            xg_copy_scalar_k_major(s, segment);
        else if (s->vec4)
            xg_copy_vec4_mn_major(s, segment);
        else if (s->realigned)
            xg_copy_aligned_down(s);
        else
            xg_copy_scalar_mn_major(s, segment);
}

#endif
