/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A slice (fp16_slice.h) as FP16 parts in the workspace, and what the guard counts on the way.
 */
#ifndef XGEMM_KERNELS_FP16_SLICE_CONVERT_H
#define XGEMM_KERNELS_FP16_SLICE_CONVERT_H

#include "fp16_guard.h"
#include "fp16_line.h"
#include "fp16_slice.h"
#include "ptx_sm90.h"

/*
 * What fp16_guard.h counts, of a thread's share of one line: the sum in units, rounded down, in 21
 * bits of a word, and above it the number of pairs of large entries; what they are counted from is
 * lost at the word's end.
 */
enum { PAIRS_BIT = 21 };

XG_DEVICE unsigned xg_tally_of(float sum, unsigned pairs, float units)
{
    return (unsigned)(sum * units) + (((pairs & 0xffff) + (pairs >> 16)) << PAIRS_BIT);
}

/* Units of the sum: 512 entries below 2^15 fill 21 bits by 8, and 3072 do by 64. */
XG_DEVICE float xg_sum_unit(const xg_slice *s, int held)
{
    return held || s->pieces == 1 ? 8.0f : 64.0f;
}

/* An entry of a line: zeros and small ones, the small ones alone in the high half. */
XG_DEVICE unsigned xg_count_one(xg_split_notes *notes, int line, float x, float small)
{
    const float scaled = fabsf(x * notes->scale[line]);
    if (!(scaled >= 0.0f)) /* NaN */
        atomicAdd(&notes->broken[line], 1u);
    return scaled < small ? (x != 0.0f ? 0x10001u : 1u) : 0u;
}

/*
 * For whole warps: adds the zeros, the small entries and NaN of four rows to those of the lines.
 * Rare, and so it keeps nothing in registers: the matrix is read again where rows were held.
 */
XG_DEVICE void xg_count_small(const xg_slice *s, int piece, int first_row, int held, int parts)
{
    const float small = parts == 2 ? XG_GUARD_SMALL : XG_GUARD_SMALL_ALONE;
    const unsigned thread = xg_thread_again();
    const int warp = (int)(thread / 32), lane = (int)(thread % 32), along_k = s->along_k;
    const int line = along_k ? warp * 2 + first_row / 4 : lane % 4 * 4;
    const float *from =
        s->from + (along_k ? line * s->step + 4 * lane
                           : (64 * warp + first_row * 8 + lane / 4 * 4) * s->step + line);
    const float4 *row = (const float4 *)(s->notes + 1) + (piece * 8 + first_row) * THREADS + thread;
    unsigned counts[4] = {0, 0, 0, 0};
    XG_UNROLL_BY(1)
    for (int i = 0; i < 4; i++) {
        const float4 x = held ? *(const float4 *)from : *row;
        if (along_k && piece * XG_PIECE_K + i * XG_CHUNK_K + lane * 4 >= s->depth)
            break;
        counts[0] += xg_count_one(s->notes, line, x.x, small);
        counts[1] += xg_count_one(s->notes, along_k ? line : line + 1, x.y, small);
        counts[2] += xg_count_one(s->notes, along_k ? line : line + 2, x.z, small);
        counts[3] += xg_count_one(s->notes, along_k ? line : line + 3, x.w, small);
        from += along_k ? XG_CHUNK_K : s->step;
        row += THREADS;
    }
    const unsigned all = along_k
                             ? __reduce_add_sync(ALL, counts[0] + counts[1] + counts[2] + counts[3])
                             : xg_gather(counts, 1);
    if (along_k ? lane == 0 : !(lane & 4))
        atomicAdd(&s->notes->zero_small[along_k ? line : xg_gathered_line(thread)], all);
}

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

/* The warp's first or second line of a piece. */
XG_DEVICE void xg_convert_line(const xg_slice *s, const float4 *in, int held, int parts, int piece,
                               int half, char *to, float *sum, unsigned *pairs)
{
    const float scale = s->notes->scale[WARP * 2 + half];
    const int left = s->depth - piece * XG_PIECE_K - LANE * 4;
    unsigned least = 0x7c007c00;
    XG_UNROLL
    for (int row = 0; row < 4; row++)
        if (held || left > row * XG_CHUNK_K) {
            const xg_counts counts =
                xg_put_four(to + row * 2 * parts * XG_PART_BYTES,
                            xg_row_of(s, in, piece, half * 4 + row, held), scale, parts);
            *sum += counts.sum;
            *pairs = xg_half2_count(*pairs, counts.least, XG_GUARD_LARGE_HALF2);
            least = xg_half2_least(least, counts.least);
        }
    if (xg_may_be_small(least, parts))
        xg_count_small(s, piece, half * 4, held, parts);
}

XG_DEVICE void xg_slice_convert_along_k(const xg_slice *s, const float4 *in, int held, int parts)
{
    XG_UNROLL
    for (int half = 0; half < 2; half++) {
        char *to = xg_put_at(s->units, xg_place_along_k(s, xg_thread_again(), half, parts));
        unsigned pairs = PAIRS_NONE;
        float sum = 0.0f;
        if (held)
            xg_convert_line(s, in, held, parts, 0, half, to, &sum, &pairs);
        else
            XG_UNROLL_BY(1)
        for (int piece = 0; piece < s->pieces; piece++) {
            xg_convert_line(s, in, held, parts, piece, half, to, &sum, &pairs);
            to += XG_PIECE_K / XG_UNIT_K * parts * XG_PART_BYTES;
        }
        const unsigned tally =
            __reduce_add_sync(ALL, xg_tally_of(sum, pairs, 1.0f / xg_sum_unit(s, held)));
        if (LANE == 0)
            s->notes->by_warp[0][WARP * 2 + half] = tally;
    }
}

/* Where a thread keeps its lines' tallies of half a piece: in a row that it has converted. */
XG_DEVICE uint4 *xg_tally_at(const xg_slice *s, int piece, int half, int held)
{
    return (uint4 *)xg_row_at(s, piece, half * 4 + 3, held);
}

/*
 * The first or second 32 k of the warp's 64. "to" is the first line's place; the others' differ in
 * the bits that the swizzle turns, as the workspace lies at a multiple of 256.
 */
XG_DEVICE void xg_convert_lines(const xg_slice *s, const float4 *in, int held, int parts, int piece,
                                int half, char *to)
{
    const int line = (int)(xg_lane() % 4 * 4);
    const float units = 1.0f / xg_sum_unit(s, held);
    unsigned least = 0x7c007c00, tally[4];
    float4 x[4];
    XG_UNROLL
    for (int row = 0; row < 4; row++)
        x[row] = xg_row_of(s, in, piece, half * 4 + row, held);
    XG_UNROLL
    for (int i = 0; i < 4; i++) {
        const unsigned row = xg_unit_row((unsigned)i);
        char *const its =
            (char *)((uintptr_t)to ^ (uintptr_t)(64 * half + 16 * (row % 8))) + 128 * row;
        const xg_counts counts =
            xg_put_four(its, xg_turned(x, i), s->notes->scale[line + i], parts);
        tally[i] = xg_tally_of(
            counts.sum, xg_half2_count(PAIRS_NONE, counts.least, XG_GUARD_LARGE_HALF2), units);
        least = xg_half2_least(least, counts.least);
    }
    if (held)
        *xg_tally_at(s, piece, half, held) = (uint4){tally[0], tally[1], tally[2], tally[3]};
    if (xg_may_be_small(least, parts))
        xg_count_small(s, piece, half * 4, held, parts);
    if (!held)
        *xg_tally_at(s, piece, half, held) = (uint4){tally[0], tally[1], tally[2], tally[3]};
}

XG_DEVICE unsigned xg_gather_tally(const xg_slice *s, int piece, int held)
{
    const uint4 a = *xg_tally_at(s, piece, 0, held), b = *xg_tally_at(s, piece, 1, held);
    const unsigned tally[4] = {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
    return xg_gather(tally, 1);
}

XG_DEVICE void xg_slice_convert_along_lines(const xg_slice *s, const float4 *in, int held,
                                            int parts)
{
    unsigned gathered = 0;
    if (held) {
        char *const to = xg_put_at(s->units, xg_place_along_lines(s, xg_thread_again(), parts));
        xg_convert_lines(s, in, held, parts, 0, 0, to);
        xg_convert_lines(s, in, held, parts, 0, 1, to);
        gathered = xg_gather_tally(s, 0, held);
    } else {
        char *to = s->units + xg_place_along_lines(s, xg_thread_again(), parts);
        for (int piece = 0; piece < s->pieces; piece++) {
            if (piece * XG_PIECE_K + WARP * XG_UNIT_K >= s->depth)
                break;
            XG_UNROLL_BY(1)
            for (int half = 0; half < 2; half++)
                xg_convert_lines(s, in, held, parts, piece, half, to);
            gathered += xg_gather_tally(s, piece, held);
            to += XG_PIECE_K / XG_UNIT_K * parts * XG_PART_BYTES;
        }
    }
    const unsigned thread = xg_thread_again();
    if (!(thread & 4))
        s->notes->by_warp[thread / 32][xg_gathered_line(thread)] = gathered;
}

#endif
