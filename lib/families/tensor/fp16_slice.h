/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a block of the split (fp16_split.h) has: 16 lines of a matrix, a slice of k of each. The
 * macros are undone at the end of fp16_split.h.
 *
 * A piece of a slice, 512 k, is eight rows of four entries for each thread, and what a thread
 * copies to shared memory it reads itself, or its warp does:
 *
 *     along k: a warp has two lines, rows 0 to 3 and 4 to 7; a row of it is 128 k of a line
 *     along lines: a warp has 64 k, row r + 4 h is k = 32 h + 4 (lane / 4) + r of lines
 *     4 (lane % 4) and on, so that four rows are four k of four lines, turned in registers
 */
#ifndef XGEMM_KERNELS_FP16_SLICE_H
#define XGEMM_KERNELS_FP16_SLICE_H

#include "families/common/dialect.h"
#include "fp16_layout.h"
#include "fp16_row.h"
#include "families/common/ptx_sm90.h"

#define LINES   XG_SPLIT_LINES
#define THREADS XG_SPLIT_THREADS
#define WARPS   (THREADS / 32)
#define HELD    2
#define ALL     0xffffffffu
#define WARP    ((int)(threadIdx.x / 32))
#define LANE    ((int)(threadIdx.x % 32))

/* What the threads and blocks tell one another. */
typedef struct {
    xg_packed inbox[LINES][XG_SLICES_MOST]; /* of each slice */
    xg_packed by_warp[WARPS][LINES];
    float scale[LINES]; /* to parts */
    int broken;         /* along lines: whether there are some with Inf or NaN, whose scale is 0 */
    unsigned unused;
    uint64_t arrival;        /* a barrier: the inbox is full */
    uint64_t strips_arrival; /* and those of strips (fp16_slice_strip.h) */
    uint64_t more_unused[5];
} xg_split_notes; /* XG_SPLIT_NOTES_BYTES */

/* The block's piece of an operand: 16 lines and a slice of k. */
typedef struct {
    const float *from;
    int64_t step; /* between lines or k, whichever are not contiguous */
    int lines, k; /* there are in the matrix; at most 16 and depth, and maybe none */
    int depth;    /* k of the slice, a multiple of 64 and at most the room; maybe 0 */
    int pieces, slices;
    int along_k, fours, shifted, is_a;
    int group;     /* of 16 lines */
    int first_line; /* in the matrix */
    int unit_line; /* the first line's in its unit */
    char *units;   /* from the slice's first one on */
    float4 *rows;  /* in shared memory, this thread's */
    xg_split_notes *notes;
} xg_slice;

/* Of 16 lines, those of B after those of A; the block's, of those that are split here. */
XG_DEVICE int xg_own_group(void)
{
    return (int)(blockIdx.z * gridDim.y + blockIdx.y);
}

XG_DEVICE int xg_group(const xg_args *p, const xg_fp16_layout *at)
{
    const int late = (at->a_blocks - xg_early_of_a(p)) * XG_UNIT_GROUPS;
    return xg_own_group() + (xg_own_group() < xg_early_of_a(p) * XG_UNIT_GROUPS ? 0 : late);
}

XG_DEVICE xg_slice xg_slice_of(const xg_args *p, const xg_fp16_layout *at, int held, char *shared)
{
    const int group = xg_group(p, at), a_groups = at->a_blocks * XG_UNIT_GROUPS;
    const int is_a = group < a_groups, own = is_a ? group : group - a_groups;
    const int room = held ? XG_PIECE_K : at->slice_chunks * XG_CHUNK_K;
    const unsigned first_line = (unsigned)own * LINES, first_k = blockIdx.x * (unsigned)room;
    const int size = (int)(is_a ? p->m : p->n);
    const int64_t line_step = is_a ? p->a_stride_m : p->b_stride_n,
                  k_step = is_a ? p->a_stride_k : p->b_stride_k;
    const unsigned unit =
        (unsigned)group / XG_UNIT_GROUPS * (unsigned)at->k_blocks + first_k / XG_UNIT_K;
    xg_slice s;
    s.is_a = is_a;
    s.along_k = k_step == 1;
    s.step = s.along_k ? line_step : k_step;
    s.depth = s.k = room;
    s.lines = LINES;
    s.group = group;
    s.first_line = (int)first_line;
    s.pieces = 1;
    s.slices = at->slices;
    s.from = (is_a ? p->a : p->b) + (uint64_t)(s.along_k ? first_line : first_k) * (uint64_t)s.step;
    s.from += s.along_k ? first_k : first_line;
    s.unit_line = group % XG_UNIT_GROUPS * LINES;
    s.units = xg_workspace_of(p) + (uint64_t)(unit * (unsigned)xg_parts_of(p)) * XG_PART_BYTES;
    s.rows = (float4 *)(shared + XG_SPLIT_NOTES_BYTES) + threadIdx.x;
    s.notes = (xg_split_notes *)shared;
    if (!held) {
        s.depth = XG_MAX(XG_MIN(room, at->k_blocks * XG_UNIT_K - (int)first_k), 0);
        s.lines = XG_MAX(XG_MIN(LINES, size - (int)first_line), 0);
        s.k = XG_MAX(XG_MIN(s.depth, (int)xg_split_k(p->k) - (int)first_k), 0);
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

#endif
