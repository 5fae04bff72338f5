/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Splits A and B into FP16 parts, as fp16_layout.h says. In the arguments C is the workspace,
 * k_part the number of parts, a_batch that of slices and b_batch of chunks in a slice; x of the
 * grid is the slice, y (and z) the group of 16 lines, those of A first.
 *
 * Idea: a line's scale hangs on all of its k, and each entry is to be read from memory once. So a
 * cluster of blocks holds 16 lines, a slice of k each; the blocks send one another the lines'
 * largest entries, and convert what they hold.
 *
 * A piece of a slice, 512 k, is eight rows of four entries for each thread, and what a thread
 * copies to shared memory it reads itself:
 *
 *     along k: a warp has two lines, rows 0 to 3 and 4 to 7; a row of it is 128 k of a line
 *     along lines: a warp has 64 k, row r + 4 h is k = 32 h + 4 (lane / 4) + r of lines
 *     4 (lane % 4) and on, so that four rows are four k of four lines, turned in registers
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
#ifndef XGEMM_KERNELS_FP16_SPLIT_H
#define XGEMM_KERNELS_FP16_SPLIT_H

#include "dialect.h"
#include "fp16_guard.h"
#include "fp16_layout.h"
#include "ptx_sm90.h"

#define LINES   XG_SPLIT_LINES
#define THREADS XG_SPLIT_THREADS
#define WARPS   (THREADS / 32)
#define HELD    2
#define ALL     0xffffffffu
#define WARP    ((int)(threadIdx.x / 32))
#define LANE    ((int)(threadIdx.x % 32))

/* What the threads and blocks tell one another. */
typedef struct {
    unsigned inbox[LINES][XG_SLICES_MOST]; /* the largest magnitude, as bits, of each slice */
    unsigned by_warp[WARPS][LINES];
    float largest[LINES], scale[LINES]; /* of all slices; to parts */
    unsigned zero_small[LINES];         /* zeros and small entries; small ones in the high half */
    unsigned broken[LINES];             /* more than 0: there are NaN */
    uint64_t arrival;                   /* a barrier: the inbox is full */
    uint64_t unused[15];
} xg_split_notes; /* XG_SPLIT_NOTES_BYTES */

/* The block's piece of an operand: 16 lines and a slice of k. */
typedef struct {
    const float *from;
    int64_t step; /* between lines or k, whichever are not contiguous */
    int lines, k; /* there are in the matrix; at most 16 and depth, and maybe none */
    int depth;    /* k of the slice, a multiple of 64 and at most the room; maybe 0 */
    int pieces, slices;
    int along_k, fours, shifted;
    int unit_line; /* the first line's in its unit */
    char *units;   /* from the slice's first one on */
    float4 *rows;  /* in shared memory, this thread's */
    xg_split_notes *notes;
} xg_slice;

/* Sizes are below 2^30 here, and k below 2^16. */
XG_DEVICE xg_fp16_layout xg_layout_of(const xg_args *p)
{
    const unsigned least = XG_LINES_STEP / XG_UNIT_LINES;
    const unsigned a_blocks = ((unsigned)p->m + XG_LINES_STEP - 1) / XG_LINES_STEP * least;
    const unsigned b_blocks = ((unsigned)p->n + XG_LINES_STEP - 1) / XG_LINES_STEP * least;
    return xg_fp16_layout_in((int)a_blocks, (int)b_blocks,
                             (int)(((unsigned)p->k + XG_UNIT_K - 1) / XG_UNIT_K), (int)p->k_part,
                             (int)p->a_batch, (int)p->b_batch);
}

/* Of 16 lines, those of B after those of A. */
XG_DEVICE int xg_group(void)
{
    return (int)(blockIdx.z * gridDim.y + blockIdx.y);
}

XG_DEVICE xg_slice xg_slice_of(const xg_args *p, const xg_fp16_layout *at, int held, char *shared)
{
    const int group = xg_group(), a_groups = at->a_blocks * XG_GUARD_GROUPS;
    const int is_a = group < a_groups, own = is_a ? group : group - a_groups;
    const int room = held ? XG_PIECE_K : at->slice_chunks * XG_CHUNK_K;
    const unsigned first_line = (unsigned)own * LINES, first_k = blockIdx.x * (unsigned)room;
    const int size = (int)(is_a ? p->m : p->n);
    const int64_t line_step = is_a ? p->a_row : p->b_col, k_step = is_a ? p->a_col : p->b_row;
    const unsigned unit =
        (unsigned)group / XG_GUARD_GROUPS * (unsigned)at->k_blocks + first_k / XG_UNIT_K;
    xg_slice s;
    s.along_k = k_step == 1;
    s.step = s.along_k ? line_step : k_step;
    s.depth = s.k = room;
    s.lines = LINES;
    s.pieces = 1;
    s.slices = at->slices;
    s.from = (is_a ? p->a : p->b) + (uint64_t)(s.along_k ? first_line : first_k) * (uint64_t)s.step;
    s.from += s.along_k ? first_k : first_line;
    s.unit_line = group % XG_GUARD_GROUPS * LINES;
    s.units = (char *)p->c + (uint64_t)(unit * (unsigned)p->k_part) * XG_PART_BYTES;
    s.rows = (float4 *)(shared + XG_SPLIT_NOTES_BYTES) + threadIdx.x;
    s.notes = (xg_split_notes *)shared;
    if (!held) {
        s.depth = XG_MAX(XG_MIN(room, at->k_blocks * XG_UNIT_K - (int)first_k), 0);
        s.lines = XG_MAX(XG_MIN(LINES, size - (int)first_line), 0);
        s.k = XG_MAX(XG_MIN(s.depth, (int)p->k - (int)first_k), 0);
        s.pieces = (room + XG_PIECE_K - 1) / XG_PIECE_K;
        s.fours = xg_split_by_fours(is_a ? p->a : p->b, s.step);
        s.shifted = first_line > 0 && s.lines == LINES && s.k == s.depth &&
                    xg_split_shifts(s.fours, s.along_k, s.step, at);
    }
    return s;
}

/* Row "row" of a piece; those that are held are the first. */
XG_DEVICE float4 *xg_row_at(const xg_slice *s, int piece, int row, int held)
{
    return s->rows + (piece * (8 - held) + row - held) * THREADS;
}

XG_DEVICE float4 xg_row_of(const xg_slice *s, const float4 *in, int piece, int row, int held)
{
    return row < held ? in[row] : *xg_row_at(s, piece, row, held);
}

/* How much of "most" is there when so much is left. */
XG_DEVICE int xg_there(int left, int most)
{
    return XG_MAX(XG_MIN(left, most), 0);
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
        in[0] = *(const float4 *)from;
        in[1] = *(const float4 *)(from + s->step);
        XG_UNROLL
        for (int row = HELD; row < 8; row++)
            xg_cp_async16_at(xg_row_at(s, 0, row, HELD), from, row % 4 + row / 4 * 32, step, 16);
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

/* Along lines a row's k is this of the thread's, four of which follow one another. */
XG_DEVICE int xg_k_of_row(int row)
{
    return row % 4 + row / 4 * 32;
}

XG_DEVICE void xg_copy_fours_along_lines(const xg_slice *s, int piece)
{
    const int warp = WARP, lane = LANE;
    const int k = piece * XG_PIECE_K + warp * 64 + lane / 4 * 4, line = lane % 4 * 4;
    const int bytes = 4 * xg_there(s->lines - line, 4);
    XG_UNROLL
    for (int row = 0; row < 8; row++) {
        const int this_k = k + xg_k_of_row(row);
        xg_cp_async16(xg_row_at(s, piece, row, 0), s->from + this_k * s->step + line,
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
        xg_cp_async16(xg_row_at(s, 0, row, 0),
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

XG_DEVICE float xg_largest_of(float4 x, float most)
{
    most = fmaxf(fmaxf(most, fabsf(x.x)), fabsf(x.y));
    return fmaxf(fmaxf(most, fabsf(x.z)), fabsf(x.w));
}

/*
 * Lanes that differ in the bits 4, 8 and 16 have values of the same four lines: their sums, or the
 * largest. With each step a lane keeps half of its lines. It ends with this one of them:
 */
XG_DEVICE int xg_gathered_line(unsigned thread)
{
    return (int)(thread % 4 * 4 + thread / 16 % 2 * 2 + thread / 8 % 2);
}

XG_DEVICE unsigned xg_together(unsigned a, unsigned b, int add)
{
    return add ? a + b : XG_MAX(a, b);
}

XG_DEVICE unsigned xg_gather(const unsigned *lines, int add)
{
    const int far = threadIdx.x & 16, near = threadIdx.x & 8;
    const unsigned low = xg_together(far ? lines[2] : lines[0],
                                     __shfl_xor_sync(ALL, far ? lines[0] : lines[2], 16), add);
    const unsigned high = xg_together(far ? lines[3] : lines[1],
                                      __shfl_xor_sync(ALL, far ? lines[1] : lines[3], 16), add);
    const unsigned one =
        xg_together(near ? high : low, __shfl_xor_sync(ALL, near ? low : high, 8), add);
    return xg_together(one, __shfl_xor_sync(ALL, one, 4), add);
}

/* NaN do not count here. "lines": as bits, those of the warp's two lines in the slice. */
XG_DEVICE void xg_slice_largest_along_k(const xg_slice *s, const float4 *in, int held,
                                        unsigned *lines)
{
    float most[2] = {0.0f, 0.0f};
    for (int piece = 0; piece < (held ? 1 : s->pieces); piece++) {
        XG_UNROLL
        for (int row = 0; row < 8; row++)
            most[row / 4] = xg_largest_of(xg_row_of(s, in, piece, row, held), most[row / 4]);
    }
    lines[0] = __reduce_max_sync(ALL, xg_bits_of(most[0]));
    lines[1] = __reduce_max_sync(ALL, xg_bits_of(most[1]));
}

XG_DEVICE void xg_slice_largest_along_lines(const xg_slice *s, const float4 *in, int held,
                                            unsigned *lines)
{
    const int warp = WARP, lane = LANE;
    float4 most = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int piece = 0; piece < (held ? 1 : s->pieces); piece++) {
        XG_UNROLL
        for (int row = 0; row < 8; row++) {
            const float4 x = xg_row_of(s, in, piece, row, held);
            most.x = fmaxf(most.x, fabsf(x.x)), most.y = fmaxf(most.y, fabsf(x.y));
            most.z = fmaxf(most.z, fabsf(x.z)), most.w = fmaxf(most.w, fabsf(x.w));
        }
    }
    const unsigned bits[4] = {xg_bits_of(most.x), xg_bits_of(most.y), xg_bits_of(most.z),
                              xg_bits_of(most.w)};
    const unsigned gathered = xg_gather(bits, 0);
    if (!(lane & 4))
        s->notes->by_warp[warp][xg_gathered_line(threadIdx.x)] = gathered;
    __syncthreads();
    lines[0] = __reduce_max_sync(ALL, s->notes->by_warp[lane % WARPS][warp * 2]);
    lines[1] = __reduce_max_sync(ALL, s->notes->by_warp[lane % WARPS][warp * 2 + 1]);
}

/* 2^(14 - exponent of the largest), or what is nearest to it that is normal. */
XG_DEVICE unsigned xg_exponent_of(float largest)
{
    return XG_MIN(XG_MAX(xg_bits_of(largest) >> 23, XG_SCALED_EXPONENT + 1u), 253u);
}

XG_DEVICE float xg_scale_to_parts(float largest)
{
    const unsigned exponent = xg_exponent_of(largest);
    return xg_float_of((254u + XG_SCALED_EXPONENT - exponent) << 23);
}

XG_DEVICE float xg_scale_from_parts(float largest)
{
    return xg_float_of((xg_exponent_of(largest) - XG_SCALED_EXPONENT) << 23);
}

/* Each warp sends its two lines' to all slices, and notes what the slices' together are. */
XG_DEVICE void xg_slice_exchange(const xg_slice *s, const unsigned *lines, float *scales)
{
    xg_split_notes *const notes = s->notes;
    const int second = threadIdx.x & 16, line = (int)(threadIdx.x / 16), slice = threadIdx.x & 15;
    const unsigned arrival = xg_shared_address(&notes->arrival);
    unsigned mine = second ? lines[1] : lines[0];
    xg_cluster_wait();   /* all have begun, and their barriers are there */
    if (s->slices > 1) { /* st.async is illegal where a block is no part of a cluster */
        if (slice < s->slices)
            xg_cluster_store(xg_shared_address(&notes->inbox[line][blockIdx.x]), (unsigned)slice,
                             mine, arrival);
        xg_barrier_wait(arrival, 0);
        mine = slice < s->slices ? notes->inbox[line][slice] : 0;
    }
    const unsigned all[2] = {__reduce_max_sync(ALL, second ? 0 : mine),
                             __reduce_max_sync(ALL, second ? mine : 0)};
    const float largest = xg_float_of(second ? all[1] : all[0]);
    if (slice == 0) {
        notes->largest[line] = largest;
        notes->scale[line] = xg_scale_to_parts(largest);
        if (blockIdx.x == 0)
            scales[xg_group() * (int64_t)LINES + line] = xg_scale_from_parts(largest);
    }
}

/*
 * What fp16_guard.h counts, of a thread's share of one line: the sum in units, rounded down, in 21
 * bits of a word, and above it the number of pairs of large entries. Those come as two FP16,
 * counted from 1024 on: from there on its bits count, too, and what they begin with is lost at the
 * word's end.
 */
enum { PAIRS_BIT = 21, PAIRS_NONE = 0x64006400 };

XG_DEVICE unsigned xg_tally_of(float sum, unsigned pairs, float units)
{
    return (unsigned)(sum * units) + (((pairs & 0xffff) + (pairs >> 16)) << PAIRS_BIT);
}

/* Of four entries: the sum, and the least high parts of the first or third, second or fourth. */
typedef struct {
    float sum;
    unsigned least;
} xg_counts;

/* Units of the sum: 512 entries below 2^15 fill 21 bits by 8, and 3072 do by 64. */
XG_DEVICE float xg_sum_unit(const xg_slice *s, int held)
{
    return held || s->pieces == 1 ? 8.0f : 64.0f;
}

/*
 * Four entries along k, scaled, as parts; the low ones, if any, lie where the high ones end. Large
 * entries are counted by pairs, which is no more than there are, and by their high parts: one that
 * is less than 2^-12 of itself below the limit may count, which is far within the guard's margin.
 */
XG_DEVICE xg_counts xg_put_four(char *to, float4 x, float scale, int parts)
{
    const float4 y = {x.x * scale, x.y * scale, x.z * scale, x.w * scale};
    const unsigned xy = xg_half2(y.x, y.y), zw = xg_half2(y.z, y.w);
    const xg_counts counts = {(fabsf(y.x) + fabsf(y.y)) + (fabsf(y.z) + fabsf(y.w)),
                              xg_half2_least(xy, zw)};
    xg_store_words(to, xy, zw);
    if (parts == 2) {
        const unsigned low_xy = xg_half2(y.x - xg_half2_low(xy), y.y - xg_half2_high(xy));
        const unsigned low_zw = xg_half2(y.z - xg_half2_low(zw), y.w - xg_half2_high(zw));
        xg_store_words(to + XG_PART_BYTES, low_xy, low_zw);
    }
    return counts;
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

/* Whether there may be small entries in the warp where the least high parts are these; or NaN. */
XG_DEVICE int xg_may_be_small(unsigned least, int parts)
{
    return __any_sync(ALL, xg_half2_any_to(least, parts == 2 ? XG_GUARD_SMALL_HALF2
                                                             : XG_GUARD_SMALL_ALONE_HALF2));
}

/* Where a thread puts its first four entries, beside the slice's first unit. */
XG_DEVICE unsigned xg_place_along_k(const xg_slice *s, unsigned thread, int half, int parts)
{
    const unsigned line = thread / 32 * 2 + (unsigned)half, chunk = thread / 2 % 8 ^ line % 8;
    return thread / 16 % 2 * (unsigned)(parts * XG_PART_BYTES) +
           ((unsigned)s->unit_line + line) * 128 + chunk * 16 + thread % 2 * 8;
}

XG_DEVICE unsigned xg_place_along_lines(const xg_slice *s, unsigned thread, int parts)
{
    const unsigned line = thread % 4 * 4, chunk = thread / 8 % 4 ^ line % 8;
    return thread / 32 * (unsigned)(parts * XG_PART_BYTES) + ((unsigned)s->unit_line + line) * 128 +
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

XG_DEVICE float4 xg_turned(const float4 *x, int line)
{
    const float4 lines[4] = {{x[0].x, x[1].x, x[2].x, x[3].x},
                             {x[0].y, x[1].y, x[2].y, x[3].y},
                             {x[0].z, x[1].z, x[2].z, x[3].z},
                             {x[0].w, x[1].w, x[2].w, x[3].w}};
    return lines[line];
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
        char *const its = (char *)((uintptr_t)to ^ (uintptr_t)(64 * half + 16 * i)) + 128 * i;
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

/* Of one line, from its counts in this slice and its largest entry in all: c, z, n, r. */
XG_DEVICE float4 xg_guard_of_line(float4 counts, float largest, int broken)
{
    const int exponent = (int)(xg_bits_of(largest) >> 23) - 127;
    const float most = largest * xg_scale_to_parts(largest);
    float4 guard = {counts.x, counts.y, counts.z, counts.w / most};
    if (largest == 0.0f && !broken)
        guard = (float4){0.0f, 0.0f, 1.0e30f, 1.0e30f};
    else if (broken || exponent < -XG_GUARD_EXPONENT || exponent > XG_GUARD_EXPONENT)
        guard = (float4){XG_GUARD_NEVER, XG_GUARD_NEVER, 0.0f, 0.0f};
    return guard;
}

/* One warp: the guard of the slice's lines together. */
XG_DEVICE void xg_slice_guard(const xg_slice *s, int held, float4 *guards)
{
    const xg_split_notes *const notes = s->notes;
    const int line = (int)(xg_lane() % LINES);
    const unsigned zero_small = notes->zero_small[line];
    unsigned tally = notes->by_warp[0][line];
    if (!s->along_k) {
        XG_UNROLL
        for (int warp = 1; warp < WARPS; warp++)
            tally += notes->by_warp[warp][line];
    }
    const float4 counts = {(float)(zero_small >> 16),
                           (float)(zero_small & 0xffff) -
                               (float)(s->depth - s->k), /* padding meets padding */
                           (float)(2 * (tally >> PAIRS_BIT)),
                           (float)(tally & ((1u << PAIRS_BIT) - 1)) * xg_sum_unit(s, held)};
    float4 guard = xg_guard_of_line(counts, notes->largest[line], notes->broken[line] > 0);
    XG_UNROLL
    for (int bit = 8; bit > 0; bit /= 2) {
        guard.x = fmaxf(guard.x, __shfl_xor_sync(ALL, guard.x, bit));
        guard.y = fmaxf(guard.y, __shfl_xor_sync(ALL, guard.y, bit));
        guard.z = fminf(guard.z, __shfl_xor_sync(ALL, guard.z, bit));
        guard.w = fminf(guard.w, __shfl_xor_sync(ALL, guard.w, bit));
    }
    if (threadIdx.x == 0)
        guards[xg_group() * (int64_t)s->slices + blockIdx.x] = guard;
}

/* "held" rows are in registers, all others on their way. */
XG_DEVICE void xg_slice_split(const xg_slice *s, const float4 *in, int held, int parts,
                              float *scales)
{
    unsigned lines[2];
    xg_cp_async_commit();
    xg_cp_async_wait(0);
    __syncwarp();
    if (!held && s->shifted)
        xg_unshift(s);
    if (s->along_k) {
        xg_slice_largest_along_k(s, in, held, lines);
        xg_slice_exchange(s, lines, scales);
        __syncwarp();
        xg_slice_convert_along_k(s, in, held, parts);
    } else {
        xg_slice_largest_along_lines(s, in, held, lines);
        xg_slice_exchange(s, lines, scales);
        __syncthreads();
        xg_slice_convert_along_lines(s, in, held, parts);
    }
}

/* Nobody sends before all blocks of the cluster have come past this. */
XG_DEVICE void xg_slice_begin(const xg_slice *s)
{
    const unsigned arrival = xg_shared_address(&s->notes->arrival);
    if (threadIdx.x == 0) {
        xg_barrier_init(arrival, 1);
        xg_barrier_init_fence();
        if (s->slices > 1)
            xg_barrier_expect(arrival, (unsigned)s->slices * LINES * (unsigned)sizeof(unsigned));
    }
    if (threadIdx.x % 16 == 0) { /* by the warp that may count them first, along k */
        s->notes->zero_small[threadIdx.x / 16] = 0;
        s->notes->broken[threadIdx.x / 16] = 0;
    }
    xg_cluster_arrive_relaxed();
}

XG_DEVICE void xg_split_block(const xg_args *p, int held, char *shared)
{
    const xg_fp16_layout at = xg_layout_of(p);
    if (xg_group() >= (at.a_blocks + at.b_blocks) * XG_GUARD_GROUPS)
        return; /* all of the cluster */
    const xg_slice s = xg_slice_of(p, &at, held, shared);
    float *const scales = (float *)((char *)p->c + at.a_scales);
    float4 in[HELD];
    xg_grid_release();
    xg_slice_begin(&s);
    xg_grid_wait();
    if (xg_group() == 0 && blockIdx.x == 0 && threadIdx.x == 0)
        *(xg_tile_list *)((char *)p->c + at.list) = (xg_tile_list){0, 0, 0, 0};
    if (held)
        xg_take_even(&s, in);
    else
        xg_take_any(&s);
    if (p->k_part == 2)
        xg_slice_split(&s, in, held, 2, scales);
    else
        xg_slice_split(&s, in, held, 1, scales);
    __syncthreads();
    if (threadIdx.x < 32)
        xg_slice_guard(&s, held, (float4 *)((char *)p->c + at.guards));
}

#undef LINES
#undef THREADS
#undef WARPS
#undef HELD
#undef ALL
#undef WARP
#undef LANE

#endif
