/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strips: a few rows of C below the tiles of a product of FP16 parts, whose strips have all columns
 * of C, and a few columns beside them, in plain FP32 from A and B themselves. A warp of each block
 * that has nothing else to do computes them meanwhile, piece after piece, and the others do once
 * they have no tile left. Where the split has computed them (fp16_slice_strip.h) what is left is
 * C's corner, and the lines of A that it did not have.
 *
 * A strip is a vector y (a row of A, a column of B) times the lines of a matrix X (B's columns,
 * A's rows), of which a piece has eight. Lines along k: a thread has k 32 apart of all of them.
 * Lines side by side: a thread has one of them, and every fourth k. Either way "depth" k are on
 * their way at once, a quarter as many words of each thread, which is what its registers hold; what
 * comes AHEAD later is fetched into L2, as memory is too far away for so few. To spare registers
 * "below" is known wherever it is asked for, so that steps are read from the arguments in each
 * instruction, in 32 bits; and a strip's last piece begins earlier in place of being smaller.
 */
#ifndef XGEMM_KERNELS_FP16_STRIP_H
#define XGEMM_KERNELS_FP16_STRIP_H

#include "fp16_layout.h"
#include "fp16_row.h"
#include "families/common/ptx.h"

enum {
    XG_STRIP_DEPTH_MOST = 256, /* of k, between two waits */
    XG_STRIP_AHEAD = 512       /* of k */
};

/* The strip's lines, by how X lies; and in how many pieces. */
XG_DEVICE int xg_strip_lies_along_k(const xg_args *p, int below)
{
    return (below ? p->b_stride_k : p->a_stride_k) == 1;
}

XG_DEVICE int xg_strip_lines(const xg_args *p, int below)
{
    return (int)(below ? xg_again(p->n) + xg_columns_beside(p) : p->m);
}

/* The pieces of one strip. */
XG_DEVICE int xg_strip_pieces(const xg_args *p, int below)
{
    return (xg_strip_lines(p, below) + XG_STRIP_LINES - 1) / XG_STRIP_LINES;
}

/* Steps, of at most 2^28: from line to line of X, and along k of X and y. */
XG_DEVICE int xg_strip_x_line(const xg_args *p, int below)
{
    return (int)(below ? p->b_stride_n : p->a_stride_m);
}

XG_DEVICE int xg_strip_x_k(const xg_args *p, int below)
{
    return (int)(below ? p->b_stride_k : p->a_stride_k);
}

XG_DEVICE int xg_strip_y_k(const xg_args *p, int below)
{
    return (int)(below ? p->a_stride_k : p->b_stride_k);
}

/* The piece's first line, and how many of its lines an earlier piece has. */
typedef struct {
    int line, skipped;
} xg_strip_place;

XG_DEVICE xg_strip_place xg_strip_place_of(const xg_args *p, int below, int size, int piece)
{
    const int first = piece % xg_strip_pieces(p, below) * size;
    const int line = XG_MIN(first, xg_strip_lines(p, below) - size);
    const xg_strip_place place = {line, first - line};
    return place;
}

/* The row or column of C. */
XG_DEVICE int64_t xg_strip_number(const xg_args *p, int below, int piece)
{
    return (below ? p->m : p->n) + piece / xg_strip_pieces(p, below);
}

XG_DEVICE const float *xg_strip_x(const xg_args *p, int below, int size, int piece)
{
    const int64_t line = xg_strip_place_of(p, below, size, piece).line;
    return below ? p->b + line * p->b_stride_n : p->a + line * p->a_stride_m;
}

XG_DEVICE const float *xg_strip_y(const xg_args *p, int below, int piece)
{
    const int64_t number = xg_strip_number(p, below, piece);
    return below ? p->a + number * p->a_stride_m : p->b + number * p->b_stride_n;
}

/* One thread a line of the piece. */
XG_DEVICE void xg_strip_store(const xg_args *p, int below, int size, int piece, int line, float sum)
{
    const xg_strip_place place = xg_strip_place_of(p, below, size, piece);
    const int64_t number = xg_strip_number(p, below, piece), at = place.line + line;
    float *const c = p->c + (below ? number * p->c_stride_m + at : at * p->c_stride_m + number);
    if (line >= place.skipped)
        *c = xg_blend(p->alpha, sum, p->beta, c);
}

/* A warp's piece, from its word in shared memory, which spares a register. */
XG_DEVICE int xg_strip_of_warp(const volatile int *pieces)
{
    return pieces[xg_thread_again() / 32] / 2;
}

/* Lines along k; past its end there are zeros. */
XG_DEVICE void xg_strip_along_k(const xg_args *p, int below, int depth, const volatile int *pieces)
{
    enum { LINES = XG_STRIP_LINES, WORDS_MOST = XG_STRIP_DEPTH_MOST / 32 };
    const int lane = (int)xg_lane();
    const float *x = xg_strip_x(p, below, LINES, xg_strip_of_warp(pieces)) + lane;
    const float *y =
        xg_step_by(xg_strip_y(p, below, xg_strip_of_warp(pieces)), xg_strip_y_k(p, below), lane);
    float sum[LINES];
    XG_UNROLL
    for (int i = 0; i < LINES; i++)
        sum[i] = 0.0f;
    XG_UNROLL_BY(1)
    for (int k = (int)p->k; k > 0; k -= depth) {
        const int left = k - (int)xg_lane();
        float values[LINES][WORDS_MOST], its_y[WORDS_MOST];
        const float *line = x;
        if (k > XG_STRIP_AHEAD + depth) {
            const int to = (int)xg_lane();
            XG_UNROLL
            for (int i = 0; i < depth; i += 64)
                xg_prefetch(xg_step_by(x + (XG_STRIP_AHEAD + i - to + to % 2 * 32),
                                       xg_strip_x_line(p, below), to / 2 % LINES));
        }
        XG_UNROLL
        for (int i = 0; i < LINES; i++) {
            XG_UNROLL
            for (int word = 0; word < depth / 32; word++)
                values[i][word] = left > 32 * word ? line[32 * word] : 0.0f;
            line = xg_step_by(line, xg_strip_x_line(p, below), 1);
        }
        XG_UNROLL
        for (int word = 0; word < depth / 32; word++)
            its_y[word] =
                left > 32 * word ? *xg_step_by(y, xg_strip_y_k(p, below), 32 * word) : 0.0f;
        XG_UNROLL
        for (int i = 0; i < LINES; i++)
            XG_UNROLL
        for (int word = 0; word < depth / 32; word++)
            sum[i] += values[i][word] * its_y[word];
        x += depth;
        y = xg_step_by(y, xg_strip_y_k(p, below), depth);
    }
    XG_UNROLL
    for (int i = 0; i < LINES; i++) {
        const float total = xg_over_lanes(sum[i], 16, 1);
        sum[0] = (int)xg_lane() == i ? total : sum[0];
    }
    if ((int)xg_lane() < LINES)
        xg_strip_store(p, below, LINES, xg_strip_of_warp(pieces), (int)xg_lane(), sum[0]);
}

/* Lines side by side: a quarter of the lanes has every fourth k. */
XG_DEVICE void xg_strip_across(const xg_args *p, int below, int depth, const volatile int *pieces)
{
    enum { LINES = XG_STRIP_LINES, TURNS = 32 / LINES, WORDS_MOST = XG_STRIP_DEPTH_MOST / 32 };
    const int lane = (int)xg_lane(), turn = lane / LINES;
    const float *x =
        xg_step_by(xg_strip_x(p, below, LINES, xg_strip_of_warp(pieces)) + lane % LINES,
                   xg_strip_x_k(p, below), turn);
    const float *y =
        xg_step_by(xg_strip_y(p, below, xg_strip_of_warp(pieces)), xg_strip_y_k(p, below), lane);
    float sum[2] = {0.0f, 0.0f};
    XG_UNROLL_BY(1)
    for (int k = (int)p->k; k > 0; k -= depth) {
        const int left = k - turn;
        float values[XG_STRIP_DEPTH_MOST / TURNS], its_y[WORDS_MOST];
        if (k > XG_STRIP_AHEAD + depth) {
            const int ahead = XG_STRIP_AHEAD - turn + (int)xg_lane();
            XG_UNROLL
            for (int i = 0; i < depth; i += 32)
                xg_prefetch(xg_step_by(x, xg_strip_x_k(p, below), ahead + i));
        }
        XG_UNROLL
        for (int word = 0; word < depth / 32; word++)
            its_y[word] =
                k > lane + 32 * word ? *xg_step_by(y, xg_strip_y_k(p, below), 32 * word) : 0.0f;
        XG_UNROLL
        for (int i = 0; i < depth / TURNS; i++) {
            values[i] = left > TURNS * i ? *x : 0.0f;
            x = xg_step_by(x, xg_strip_x_k(p, below), TURNS);
        }
        XG_UNROLL
        for (int i = 0; i < depth / TURNS; i++)
            sum[i % 2] +=
                values[i] * __shfl_sync(0xffffffffu, its_y[TURNS * i / 32], TURNS * i % 32 + turn);
        y = xg_step_by(y, xg_strip_y_k(p, below), depth);
    }
    const float total = xg_over_lanes(sum[0] + sum[1], 16, LINES);
    if (turn == 0)
        xg_strip_store(p, below, LINES, xg_strip_of_warp(pieces), lane, total);
}

XG_DEVICE void xg_strip_piece(const xg_args *p, int below, int depth, const volatile int *pieces)
{
    if (xg_strip_lies_along_k(p, below))
        xg_strip_along_k(p, below, depth, pieces);
    else
        xg_strip_across(p, below, depth, pieces);
}

/* A's first line block that the product splits itself; XG_NONE_LATE: there is none. */
XG_DEVICE int xg_first_late(const xg_args *p)
{
    return (int)((unsigned)(uint64_t)xg_again(p->k_part) >> 16);
}

/* The pieces of each strip that the split has computed; what it has ends with one, or the strip. */
XG_DEVICE int xg_strip_skips(const xg_args *p, int below)
{
    const int late = xg_first_late(p);
    if (!(xg_again(p->b_batch) & XG_STRIPS_ARE_SPLIT))
        return 0;
    if (!below && late < XG_NONE_LATE)
        return late * (XG_UNIT_LINES / XG_STRIP_LINES);
    return ((int)xg_again(below ? p->n : p->m) + XG_STRIP_LINES - 1) / XG_STRIP_LINES;
}

/* One thread: the next piece, twice its number and 1 if it is of a row below; -1: there is none. */
XG_DEVICE int xg_strip_take(const xg_args *p, xg_rework *list)
{
    int piece = (int)atomicAdd(&list->strips, 1u);
    XG_UNROLL_BY(1)
    for (int below = 1; below >= 0; below--) {
        const int skips = xg_strip_skips(p, below), left = xg_strip_pieces(p, below) - skips;
        const int strips = below ? xg_rows_below(p) : xg_columns_beside(p);
        if (piece < strips * left)
            return 2 * (piece + (piece / left + 1) * skips) + below;
        piece -= strips * left;
    }
    return -1;
}

#endif
