/* SPDX-License-Identifier: BSD-3-Clause */
/* A slice (split_slice.h) as FP16 terms, from shared memory to the workspace. */
#ifndef XGEMM_KERNELS_SPLIT_SLICE_CONVERT_H
#define XGEMM_KERNELS_SPLIT_SLICE_CONVERT_H

#include "operand_row.h"
#include "split_slice.h"
#include "families/common/ptx_sm90.h"

/* Bytes from the slice's first operand tile to a thread's first four elements. */
XG_DEVICE unsigned xg_offset_k_major(const xg_slice *s, unsigned thread, int half, int terms)
{
    const unsigned stored = xg_stored_row(thread / 32 * 2 + (unsigned)half);
    const unsigned chunk = thread / 2 % 8 ^ stored % 8;
    return thread / 16 % 2 * (unsigned)(terms * XG_TERM_BYTES) +
           ((unsigned)s->first_stored_row + stored) * 128 + chunk * 16 + thread % 2 * 8;
}

XG_DEVICE unsigned xg_offset_mn_major(const xg_slice *s, unsigned thread, int terms)
{
    const unsigned stored = xg_stored_row(thread % 4 * 4), chunk = thread / 8 % 4 ^ stored % 8;
    return thread / 32 * (unsigned)(terms * XG_TERM_BYTES) +
           ((unsigned)s->first_stored_row + stored) * 128 + chunk * 16 + thread / 4 % 2 * 8;
}

/* Keeps the address in a register: the compiler would compute it anew for each store. */
XG_DEVICE char *xg_pinned_address(const char *terms, unsigned offset)
{
    return (char *)xg_offset_bytes((const float *)terms, offset);
}

/* Zeros in place of the elements of a row with Inf or NaN, whose scale is 0. */
XG_DEVICE float4 xg_zero_if_not_finite(float4 x, float scale)
{
    const float4 zeros = {0.0f, 0.0f, 0.0f, 0.0f};
    return scale == 0.0f ? zeros : x;
}

/* The warp's first or second row (half) of a K-major segment. */
XG_DEVICE void xg_convert_row(const xg_slice *s, const float4 *in, int held, int terms, int segment,
                              int half, char *to)
{
    const float scale = s->state->scale[WARP * 2 + half];
    const int left = s->depth - segment * XG_SEGMENT_K - LANE * 4;
    XG_UNROLL
    for (int vec = 0; vec < 4; vec++)
        if (held || left > vec * XG_CHUNK_K) {
            float4 x = xg_vec_of(s, in, segment, half * 4 + vec, held);
            if (scale == 0.0f)
                x = xg_zero_if_not_finite(x, scale);
            xg_store_terms4(to + vec * 2 * terms * XG_TERM_BYTES, x, scale, terms);
        }
}

XG_DEVICE void xg_slice_convert_k_major(const xg_slice *s, const float4 *in, int held, int terms)
{
    XG_UNROLL
    for (int half = 0; half < 2; half++) {
        char *to =
            xg_pinned_address(s->terms, xg_offset_k_major(s, xg_reread_thread(), half, terms));
        if (held)
            xg_convert_row(s, in, held, terms, 0, half, to);
        else
            XG_UNROLL_BY(1)
        for (int segment = 0; segment < s->segments; segment++) {
            xg_convert_row(s, in, held, terms, segment, half, to);
            to += XG_SEGMENT_K / XG_K_BLOCK * terms * XG_TERM_BYTES;
        }
    }
}

/*
 * Four neighbours in k of a row, scaled, as terms. "to" is where they would go in row 0 of the
 * thread's, in the first 32 k of a k-block; other rows' addresses, and those of the second 32 k
 * (half), differ from it in the bits that the swizzle XORs, as the workspace is aligned to 256
 * bytes.
 */
XG_DEVICE void xg_store_row(float4 x, unsigned row, float scale, int any_not_finite, int terms,
                            int half, char *to)
{
    const unsigned stored = xg_stored_row(row);
    char *const to_row =
        (char *)((uintptr_t)to ^ (uintptr_t)(64 * half + 16 * (stored % 8))) + 128 * stored;
    if (any_not_finite)
        x = xg_zero_if_not_finite(x, scale);
    xg_store_terms4(to_row, x, scale, terms);
}

/* The thread's 4 × 4 elements in the first or second 32 k (half) of the warp's 64. */
XG_DEVICE void xg_convert_4_rows(const xg_slice *s, const float4 *in, int held, int terms,
                                 int segment, int half, char *to)
{
    const int row = (int)(xg_lane() % 4 * 4), any_not_finite = s->state->any_not_finite;
    float4 x[4];
    XG_UNROLL
    for (int vec = 0; vec < 4; vec++)
        x[vec] = xg_vec_of(s, in, segment, half * 4 + vec, held);
    XG_UNROLL
    for (int i = 0; i < 4; i++)
        xg_store_row(xg_transpose4x4_row(x, i), (unsigned)i, s->state->scale[row + i],
                     any_not_finite, terms, half, to);
}

XG_DEVICE void xg_slice_convert_mn_major(const xg_slice *s, const float4 *in, int held, int terms)
{
    if (held) {
        char *const to =
            xg_pinned_address(s->terms, xg_offset_mn_major(s, xg_reread_thread(), terms));
        xg_convert_4_rows(s, in, held, terms, 0, 0, to);
        xg_convert_4_rows(s, in, held, terms, 0, 1, to);
        return;
    }
    char *to = s->terms + xg_offset_mn_major(s, xg_reread_thread(), terms);
    for (int segment = 0; segment < s->segments; segment++) {
        if (!xg_slice_reaches(s, segment, WARP * XG_K_BLOCK))
            break;
        XG_UNROLL_BY(1)
        for (int half = 0; half < 2; half++)
            xg_convert_4_rows(s, in, held, terms, segment, half, to);
        to += XG_SEGMENT_K / XG_K_BLOCK * terms * XG_TERM_BYTES;
    }
}

#endif
