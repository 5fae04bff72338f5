/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a slice (fp16_slice.h) comes to the block.
 *
 * Where all slices are one whole piece and lie for 16-byte copies, the common case, the first two
 * rows are held in registers, so that a multiprocessor has room for eight blocks: "held" is 2 in
 * fp16_split_even.cu. Else it is 0, and all goes to shared memory, by words where it must
 * (fp16_split.cu); nothing is read past the matrix's edges.
 *
 * Copies by words along k take as long as by fours. Of lines side by side each k has 64 bytes, and
 * a matrix of 4097 x 4097 took 60 us so where 4096 x 4096 takes 41. It takes 53 by fours that begin
 * where memory is aligned, "shift" words before the first line; with a fifth for each k they hold
 * all 16 lines, and are put right in shared memory. Words are left for the first 16 lines, before
 * which the matrix may not go on, for its edges, for slices of several pieces and for few blocks.
 */
#ifndef XGEMM_KERNELS_FP16_SLICE_COPY_H
#define XGEMM_KERNELS_FP16_SLICE_COPY_H

#include "fp16_slice.h"
#include "families/common/ptx.h"

/* How much of "most" is there when so much is left. */
XG_DEVICE int xg_there(int left, int most)
{
    return XG_MAX(XG_MIN(left, most), 0);
}

/* Along lines a row's k is this of the thread's, four of which follow one another. */
XG_DEVICE int xg_k_of_row(int row)
{
    return row % 4 + row / 4 * 32;
}

/* Rows are held or on their way. */
XG_DEVICE void xg_take_even(const xg_slice *s, float4 *in)
{
    const unsigned thread = xg_thread_again();
    const int warp = (int)(thread / 32), lane = (int)(thread % 32);
    const unsigned step = (unsigned)s->step * 4;
    if (s->along_k) {
        const float *const from = s->from + (int64_t)(2 * warp) * s->step + 4 * lane;
        const float *const next = from + s->step;
        in[0] = *(const float4 *)from;
        in[1] = *(const float4 *)(from + XG_CHUNK_K);
        XG_UNROLL
        for (int row = HELD; row < 8; row++)
            xg_cp_async16(xg_row_at(s, 0, row, HELD),
                          (row < 4 ? from : next) + row % 4 * XG_CHUNK_K, 16);
    } else {
        const float *const from =
            s->from + (int64_t)(64 * warp + lane / 4 * 4) * s->step + lane % 4 * 4;
        in[0] = xg_load_near(from);
        in[1] = xg_load_near(from + s->step);
        XG_UNROLL
        for (int row = HELD; row < 8; row++)
            xg_cp_async16_near_at(xg_row_at(s, 0, row, HELD), from, (unsigned)xg_k_of_row(row),
                                  step);
    }
}

/* These four ask for all of a piece; what is past the matrix's edges becomes zero. */
XG_DEVICE void xg_copy_fours_along_k(const xg_slice *s, int piece)
{
    const int line = WARP * 2, k = piece * XG_PIECE_K + LANE * 4;
    const float *const from = s->from + line * s->step + k;
    XG_UNROLL
    for (int row = 0; row < 8; row++) {
        const int left = line + row / 4 < s->lines ? s->k - k - row % 4 * XG_CHUNK_K : 0;
        xg_cp_async16(xg_row_at(s, piece, row, 0), from + row / 4 * s->step + row % 4 * XG_CHUNK_K,
                      4 * xg_there(left, 4));
    }
}

XG_DEVICE void xg_copy_words_along_k(const xg_slice *s, int piece)
{
    const int lane = LANE, line = WARP * 2;
    for (int half = 0; half < 2; half++) {
        const float *from = s->from + (line + half) * s->step + piece * XG_PIECE_K + lane;
        float *to = (float *)(xg_row_at(s, piece, half * 4, 0) - lane) + lane;
        int left = line + half < s->lines ? s->k - piece * XG_PIECE_K - lane : 0;
        for (int row = 0; row < 4; row++) {
            XG_UNROLL
            for (int part = 0; part < 4; part++)
                xg_cp_async4(to + part * 32, from + part * 32, left > part * 32 ? 4 : 0);
            from += XG_CHUNK_K, left -= XG_CHUNK_K, to += THREADS * 4;
        }
    }
}

XG_DEVICE void xg_copy_fours_along_lines(const xg_slice *s, int piece)
{
    const int warp = WARP, lane = LANE;
    const int k = piece * XG_PIECE_K + warp * 64 + lane / 4 * 4, line = lane % 4 * 4;
    const int bytes = 4 * xg_there(s->lines - line, 4);
    XG_UNROLL
    for (int row = 0; row < 8; row++) {
        const int this_k = k + xg_k_of_row(row);
        xg_cp_async16_near(xg_row_at(s, piece, row, 0), s->from + this_k * s->step + line,
                           this_k < s->k ? bytes : 0);
    }
}

/* Of a row the lanes copy 2 k of 16 lines at once: lines of one k follow one another there. */
XG_DEVICE void xg_copy_words_along_lines(const xg_slice *s, int piece)
{
    const int warp = WARP, lane = LANE, line = lane % LINES;
    const int first = piece * XG_PIECE_K + warp * 64 + lane / LINES * 4;
    const int end = line < s->lines ? s->k : 0;
    const int64_t step = 8 * s->step * (int64_t)sizeof(float);
    for (int row = 0; row < 4; row++) {
        const float *from = s->from + (first + row) * s->step + line;
        float *to = (float *)(xg_row_at(s, piece, row, 0) - lane) + lane;
        XG_UNROLL
        for (int part = 0; part < 8; part++)
            xg_cp_async4_step(to + part / 4 * (4 * THREADS * 4) + part % 4 * 32, &from, step,
                              first + row + part * 8 < end ? 4 : 0);
    }
}

/* The fifth four of a row's k, after the piece. */
XG_DEVICE float4 *xg_fifth_of(const xg_slice *s, unsigned row)
{
    return s->rows - threadIdx.x + 8 * THREADS + row * (THREADS / 4) + threadIdx.x / 4;
}

/* The memory before it that is aligned to 16 bytes. */
XG_DEVICE const float *xg_four_before(const float *from)
{
    return (const float *)((uintptr_t)from & ~(uintptr_t)15);
}

/*
 * All of a slice of one piece, with a fifth four for as many words as it is shifted; zeros for the
 * warps past the slice's depth.
 */
XG_DEVICE void xg_copy_shifted(const xg_slice *s)
{
    const int lane = LANE, step = (int)s->step, there = WARP * XG_UNIT_K < s->depth;
    const float *const from = s->from + (WARP * XG_UNIT_K + lane / 4 * 4) * s->step;
    XG_UNROLL
    for (int row = 0; row < 8; row++)
        xg_cp_async16_near(xg_row_at(s, 0, row, 0),
                           xg_four_before(xg_step_by(from + lane % 4 * 4, step, xg_k_of_row(row))),
                           there ? 16 : 0);
    XG_UNROLL
    for (int half = 0; half < 2; half++) {
        const float *const fifth = xg_step_by(from + lane % 4 * s->step + LINES, step, 32 * half);
        xg_cp_async16(xg_fifth_of(s, (unsigned)(half * 4 + lane % 4)), xg_four_before(fifth),
                      there ? (int)((uintptr_t)fifth % 16) : 0);
    }
}

/* Four words of eight, from the shift's on. */
XG_DEVICE float4 xg_shifted(float4 a, float4 b, unsigned shift)
{
    if (shift & 1)
        a = (float4){a.y, a.z, a.w, b.x}, b = (float4){b.y, b.z, b.w, 0.0f};
    return shift & 2 ? (float4){a.z, a.w, b.x, b.y} : a;
}

/*
 * What was copied so becomes what the other ways give; a warp has copied all that it reads. All of
 * a row's k begin as many words past a multiple of four.
 */
XG_DEVICE void xg_unshift(const xg_slice *s)
{
    const int last = LANE % 4 == 3;
    const unsigned from = (unsigned)((uintptr_t)s->from / sizeof(float));
    const float4 *next = last ? xg_fifth_of(s, 0) : s->rows + 1;
    XG_UNROLL
    for (unsigned row = 0; row < 8; row++) {
        float4 *const four = xg_row_at(s, 0, (int)row, 0);
        const float4 a = *four, b = *next;
        __syncwarp();
        *four = xg_shifted(a, b, from + row % 4 * (unsigned)s->step);
        next += last ? THREADS / 4 : THREADS;
    }
}

XG_DEVICE void xg_take_any(const xg_slice *s)
{
    for (int piece = 0; piece < s->pieces; piece++)
        if (s->along_k && s->fours)
            xg_copy_fours_along_k(s, piece);
        else if (s->along_k)
            xg_copy_words_along_k(s, piece);
        else if (s->fours)
            xg_copy_fours_along_lines(s, piece);
        else if (s->shifted)
            xg_copy_shifted(s);
        else
            xg_copy_words_along_lines(s, piece);
}

#endif
