/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A slice (fp16_slice.h) as FP16 parts in the workspace.
 */
#ifndef XGEMM_KERNELS_FP16_SLICE_CONVERT_H
#define XGEMM_KERNELS_FP16_SLICE_CONVERT_H

#include "fp16_row.h"
#include "fp16_slice.h"
#include "families/common/ptx_sm90.h"

/* Where a thread puts its first four entries, beside the slice's first unit. */
XG_DEVICE unsigned xg_place_along_k(const xg_slice *s, unsigned thread, int half, int parts)
{
    const unsigned row = xg_unit_row(thread / 32 * 2 + (unsigned)half);
    const unsigned chunk = thread / 2 % 8 ^ row % 8;
    return thread / 16 % 2 * (unsigned)(parts * XG_PART_BYTES) +
           ((unsigned)s->unit_line + row) * 128 + chunk * 16 + thread % 2 * 8;
}

XG_DEVICE unsigned xg_place_along_lines(const xg_slice *s, unsigned thread, int parts)
{
    const unsigned row = xg_unit_row(thread % 4 * 4), chunk = thread / 8 % 4 ^ row % 8;
    return thread / 32 * (unsigned)(parts * XG_PART_BYTES) + ((unsigned)s->unit_line + row) * 128 +
           chunk * 16 + thread / 4 % 2 * 8;
}

/* Computed once: the compiler would compute it for each store anew. */
XG_DEVICE char *xg_put_at(const char *units, unsigned place)
{
    return (char *)xg_beside((const float *)units, place);
}

/* Zeros, where a line's scale says that it has Inf or NaN. */
XG_DEVICE float4 xg_unbroken(float4 x, float scale)
{
    const float4 zeros = {0.0f, 0.0f, 0.0f, 0.0f};
    return scale == 0.0f ? zeros : x;
}

/* The warp's first or second line of a piece. */
XG_DEVICE void xg_convert_line(const xg_slice *s, const float4 *in, int held, int parts, int piece,
                               int half, char *to)
{
    const float scale = s->notes->scale[WARP * 2 + half];
    const int left = s->depth - piece * XG_PIECE_K - LANE * 4;
    XG_UNROLL
    for (int row = 0; row < 4; row++)
        if (held || left > row * XG_CHUNK_K) {
            float4 x = xg_row_of(s, in, piece, half * 4 + row, held);
            if (scale == 0.0f)
                x = xg_unbroken(x, scale);
            xg_put_four(to + row * 2 * parts * XG_PART_BYTES, x, scale, parts);
        }
}

XG_DEVICE void xg_slice_convert_along_k(const xg_slice *s, const float4 *in, int held, int parts)
{
    XG_UNROLL
    for (int half = 0; half < 2; half++) {
        char *to = xg_put_at(s->units, xg_place_along_k(s, xg_thread_again(), half, parts));
        if (held)
            xg_convert_line(s, in, held, parts, 0, half, to);
        else
            XG_UNROLL_BY(1)
        for (int piece = 0; piece < s->pieces; piece++) {
            xg_convert_line(s, in, held, parts, piece, half, to);
            to += XG_PIECE_K / XG_UNIT_K * parts * XG_PART_BYTES;
        }
    }
}

/*
 * The first or second 32 k of the warp's 64. "to" is the first line's place; the others' differ in
 * the bits that the swizzle turns, as the workspace lies at a multiple of 256.
 */
XG_DEVICE void xg_convert_lines(const xg_slice *s, const float4 *in, int held, int parts, int piece,
                                int half, char *to)
{
    const int line = (int)(xg_lane() % 4 * 4), broken = s->notes->broken;
    float4 x[4];
    XG_UNROLL
    for (int row = 0; row < 4; row++)
        x[row] = xg_row_of(s, in, piece, half * 4 + row, held);
    XG_UNROLL
    for (int i = 0; i < 4; i++) {
        const unsigned row = xg_unit_row((unsigned)i);
        const float scale = s->notes->scale[line + i];
        char *const its =
            (char *)((uintptr_t)to ^ (uintptr_t)(64 * half + 16 * (row % 8))) + 128 * row;
        float4 its_x = xg_transposed(x, i);
        if (broken)
            its_x = xg_unbroken(its_x, scale);
        xg_put_four(its, its_x, scale, parts);
    }
}

XG_DEVICE void xg_slice_convert_along_lines(const xg_slice *s, const float4 *in, int held,
                                            int parts)
{
    if (held) {
        char *const to = xg_put_at(s->units, xg_place_along_lines(s, xg_thread_again(), parts));
        xg_convert_lines(s, in, held, parts, 0, 0, to);
        xg_convert_lines(s, in, held, parts, 0, 1, to);
        return;
    }
    char *to = s->units + xg_place_along_lines(s, xg_thread_again(), parts);
    for (int piece = 0; piece < s->pieces; piece++) {
        if (piece * XG_PIECE_K + WARP * XG_UNIT_K >= s->depth)
            break;
        XG_UNROLL_BY(1)
        for (int half = 0; half < 2; half++)
            xg_convert_lines(s, in, held, parts, piece, half, to);
        to += XG_PIECE_K / XG_UNIT_K * parts * XG_PART_BYTES;
    }
}

#endif
