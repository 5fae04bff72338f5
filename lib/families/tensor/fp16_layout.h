/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the FP16 parts of A and B lie in the workspace; for the host, which
 * reserves it, and for the kernels.
 *
 * An operand is a set of lines: the rows of A, the columns of B, both along k. Each line is
 * multiplied by a power of two that puts its largest entry into [2^14, 2^15), and every entry x
 * becomes high = FP16(x) and low = FP16(2^11 (x - high)), which is a normal number wherever high is
 * one. 128 lines by 64 k are a unit: 16 KB of
 * high parts and, where there are two parts, 16 KB of low ones, each laid out as
 * xg_wgmma_operand() wants it. So a unit is one bulk copy, whatever the matrix was like. Each 16
 * lines stand in an order of their own, xg_unit_row(): by it a thread of a product has four columns
 * of C in a row.
 *
 *     units of A: line blocks (128 lines), in each k blocks (64)
 *     units of B
 *     counts: of each block the warps that have left sums there for another one's tile
 *     what is to be recomputed of C (xg_rework), and the slots of its lists: for each 128 x 64 of C
 *         one for itself, then for each warp's 16 x 64 those for elements
 *     scales of A's rows, then of B's columns: what the parts have to be multiplied by again
 *     statistics of A's rows, then of B's columns, see fp16_check.h; and what an epilogue needs of
 *         them (xg_row_bound)
 *     late: of each line block of A how many groups of 16 lines are split, for what the product
 *         splits itself (fp16_late.inc), after the number of groups that somebody does
 *     sums, if tiles are shared (fp16_share.inc): of each block those of one tile; or, where the
 *         split computes strips of C (fp16_slice_strip.h), A's rows and B's columns that they are of
 *
 * Lines and k are padded with zeros, but where k is one more than a multiple of 64: the parts then
 * end before that one, whose products the end of each tile adds in FP32. A cluster of "slices"
 * blocks splits 16 lines at once, each a slice of k of slice_chunks * 128, in pieces of 512.
 */
#ifndef XGEMM_KERNELS_FP16_LAYOUT_H
#define XGEMM_KERNELS_FP16_LAYOUT_H

#include "families/common/args.h"

#include <stddef.h>

#ifdef __CUDACC__
#define XG_LAYOUT static __device__ __forceinline__
#else
#define XG_LAYOUT static inline
#endif

enum {
    XG_UNIT_LINES = 128,
    XG_UNIT_K = 64,
    XG_PART_BYTES = XG_UNIT_LINES * XG_UNIT_K * 2,
    XG_LINES_STEP = 256, /* lines are padded to a multiple of that */
    XG_GROUP_LINES =
        2048, /* of C: tiles of so many rows are walked together, for L2 to hold both */
    XG_SPLIT_LINES = 16,
    XG_UNIT_GROUPS = XG_UNIT_LINES / XG_SPLIT_LINES,
    XG_SPLIT_THREADS = 256,
    XG_CHUNK_K = 128,
    XG_PIECE_K = 512,
    XG_PIECE_BYTES = XG_SPLIT_LINES * XG_PIECE_K * 4,
    XG_SPLIT_HELD_BYTES = XG_PIECE_BYTES / 4,  /* of a piece, in registers where that can be */
    XG_SPLIT_NOTES_BYTES = 3200,               /* beside the slice, see fp16_slice.h */
    XG_SPLIT_CHUNKS_MOST = 24,                 /* of a slice: 192 KB of shared memory */
    XG_SPLIT_FIFTH_BYTES = XG_PIECE_BYTES / 4, /* more, for a piece that is copied with a shift */
    XG_SPLIT_SHIFT_BLOCKS = 2400,              /* three times what a GPU of 132 processors holds */
    XG_SLICES_MOST = 16,
    XG_SPLIT_K_MOST = XG_CHUNK_K * XG_SPLIT_CHUNKS_MOST * XG_SLICES_MOST,
    XG_SCALED_EXPONENT = 14,
    XG_NONE_LATE = 65535, /* in place of the first late line block */
    XG_NOTES_BYTES = 112,  /* of the notes in fp16_product.inc, beside scales and B's last k */
    XG_LATE_NOTES_BYTES = 256, /* of those of fp16_late.inc */
    XG_SUSPECTS_A_WARP = 32, /* of 16 x 128 elements of C: with more, all of them are recomputed */
    XG_SUSPECTS_STRIDED = 8, /* the same where it would take too long */
    XG_STRIP_LINES = 8,      /* of a strip's piece, see fp16_strip.h */
    XG_SPLIT_STRIPS = 4,     /* the most rows below, or columns beside, that the split computes */
    XG_SPLIT_STRIP_BYTES = 1536, /* of shared memory for each, see fp16_slice_strip.h */
    XG_SHARE_COUNTS = 256,       /* the most blocks that share tiles */
    /* Up to that k, or so many elements of C, sums of 32 k are promoted; up to that k of 16. */
    XG_FINEST_K = 512,
    XG_FINE_K = 1024,
    XG_FINE_C = 1600 * 1600
};

/*
 * A tile of C that is recomputed (full_range.h): its first row by 128, plus from bit 24 on which of
 * its 8 times 16 rows are; and, in the upper half, its first column, a multiple of 64, plus
 * XG_PLACE_NOT_FINITE if the tile's operands have Inf or NaN, XG_PLACE_WIDE if they have wide rows,
 * and XG_PLACE_BROKEN if all rows of A, or all columns of B, have Inf or NaN.
 */
typedef unsigned long long xg_place;
enum { XG_PLACE_NOT_FINITE = 1, XG_PLACE_WIDE = 2, XG_PLACE_BROKEN = 4 };

/* A list of slots (worklist.h): how many are reserved, published, taken, and to be taken. */
typedef struct {
    unsigned reserved, published, taken;
    int available;
} xg_worklist;

/* Pieces of work that warps take by number, and how many are done. */
typedef struct {
    unsigned taken, done;
} xg_pieces;

/*
 * What is recomputed of C: tiles (of type xg_place), and elements (each one more than its number in
 * C, whose rows are padded to whole units). Besides: strips, the pieces of these that are taken
 * (fp16_strip.h); pace, see LOCAL(keep_pace) in fp16_feed.inc; the blocks that multiply no more
 * (ended), and K-major copies that are made then (fp16_copies.inc); and how many elements of C are
 * recomputed, which xgemm_last_recomputed() reads: the last member, as a split that follows others
 * of the same call leaves it as it is.
 */
typedef struct {
    xg_worklist tiles, elements;
    unsigned strips, pace, ended, unused;
    xg_pieces copies;
    unsigned long long recomputed;
} xg_rework;

typedef struct {
    unsigned taken, unused[3];
} xg_late_counts; /* line blocks' counts follow */

typedef struct {
    int a_blocks, b_blocks, k_blocks; /* of units */
    int slices, slice_chunks;
    int64_t unit_bytes;
    /* Bytes from the workspace's start, the last one without the sums of shared tiles. */
    int64_t b_units, counts, list, elements, a_scales, b_scales, stats, bounds, late, bytes;
} xg_fp16_layout;

XG_LAYOUT int xg_blocks_of(int64_t size, int block)
{
    return (int)(((uint64_t)size + (uint64_t)block - 1) / (uint64_t)block);
}

/* Of lines, padded. */
XG_LAYOUT int xg_lines_blocks(int64_t lines)
{
    return xg_blocks_of(lines, XG_LINES_STEP) * (XG_LINES_STEP / XG_UNIT_LINES);
}

/* x / by, for x below 2^31, and what of "by" it is found with: a division takes 20 instructions. */
XG_LAYOUT unsigned xg_reciprocal(int by)
{
    return UINT32_MAX / (unsigned)by;
}

XG_LAYOUT int xg_divided(int x, int by, unsigned reciprocal)
{
    const unsigned quotient =
        (unsigned)((uint64_t)(unsigned)x * reciprocal >> 32); /* or one less */
    return (int)(quotient + ((unsigned)x - quotient * (unsigned)by >= (unsigned)by));
}

/*
 * What a product's arguments say in a_batch and b_batch, which are of no other use there: the rows
 * of C below its tiles and the columns beside them, which are computed as strips, and whether the
 * split computes them; the slices of k; and the reciprocals for the tiles of a group of rows, and
 * for the rows of tiles in the last one. Beside the share (fp16_share.inc): A's first line block
 * that the product splits itself. The split's, whose workspace is "list", too, say the same in
 * a_batch and b_batch, but chunks of a slice in place of a reciprocal; and in k_part the parts,
 * the line blocks of A that are split there, and, as its sign, whether a pass of the same call, for
 * another panel or product, came before.
 */
enum { XG_STRIPS_ARE_SPLIT = 0x8000 };

XG_LAYOUT int64_t xg_two_words(unsigned low, unsigned high)
{
    return (int64_t)(low | (uint64_t)high << 32);
}

XG_LAYOUT int xg_rows_below(const xg_args *p)
{
    return (int)(unsigned)(uint64_t)p->a_batch;
}

XG_LAYOUT int xg_columns_beside(const xg_args *p)
{
    return (int)((uint64_t)p->b_batch % XG_STRIPS_ARE_SPLIT);
}

XG_LAYOUT int xg_slices_of(const xg_args *p)
{
    return (int)((unsigned)(uint64_t)p->b_batch >> 16);
}

XG_LAYOUT unsigned xg_by_group(const xg_args *p)
{
    return (unsigned)((uint64_t)p->a_batch >> 32);
}

XG_LAYOUT unsigned xg_by_last_rows(const xg_args *p)
{
    return (unsigned)((uint64_t)p->b_batch >> 32);
}

/* The split's: the parts, the line blocks of A, whether it follows a pass, and a slice's chunks. */
XG_LAYOUT int xg_parts_of(const xg_args *p)
{
    return (uint16_t)(uint64_t)p->k_part;
}

XG_LAYOUT int xg_early_of_a(const xg_args *p)
{
    return (int)((uint64_t)p->k_part >> 16);
}

XG_LAYOUT int xg_follows_a_pass(const xg_args *p)
{
    return p->k_part < 0;
}

XG_LAYOUT int xg_chunks_of(const xg_args *p)
{
    return (int)(unsigned)((uint64_t)p->b_batch >> 32);
}

/* How many of k the parts hold. The last one by itself would cost the time of 64. */
XG_LAYOUT int64_t xg_split_k(int64_t k)
{
    return k > XG_UNIT_K && k % XG_UNIT_K == 1 ? k - 1 : k;
}

/* How often a product of two parts promotes its large sums in 64 k, for so many blocks of k. */
XG_LAYOUT int xg_promotions(int64_t m, int64_t n, int k_blocks)
{
    return k_blocks <= XG_FINEST_K / XG_UNIT_K                       ? 4
           : k_blocks <= XG_FINE_K / XG_UNIT_K || m * n <= XG_FINE_C ? 2
                                                                     : 1;
}

/* Where a line of 16 stands in a unit: 0 1 4 5 8 9 12 13, and then 2 3 6 7 10 11 14 15. */
XG_LAYOUT unsigned xg_unit_row(unsigned line)
{
    return line / 2 % 2 * 8 + line / 4 * 2 + line % 2;
}

/* The line at a row. */
XG_LAYOUT unsigned xg_unit_line(unsigned row)
{
    return row % 8 / 2 * 4 + row / 8 * 2 + row % 2;
}

/* Of blocks and slices that are known. */
XG_LAYOUT xg_fp16_layout xg_fp16_layout_in(int a_blocks, int b_blocks, int k_blocks, int parts,
                                           int slices, int slice_chunks)
{
    xg_fp16_layout at;
    at.a_blocks = a_blocks;
    at.b_blocks = b_blocks;
    at.k_blocks = k_blocks;
    at.slice_chunks = slice_chunks;
    at.slices = slices;
    at.unit_bytes = (int64_t)parts * XG_PART_BYTES;
    at.b_units = at.a_blocks * at.k_blocks * at.unit_bytes;
    at.counts = at.b_units + at.b_blocks * at.k_blocks * at.unit_bytes;
    at.list = at.counts + XG_SHARE_COUNTS * 4;
    const int64_t units = (int64_t)at.a_blocks * at.b_blocks, rows = at.a_blocks + at.b_blocks;
    at.elements = at.list + (int64_t)sizeof(xg_rework) + 2 * units * (int64_t)sizeof(xg_place);
    at.a_scales = at.elements + 2 * units * (XG_UNIT_LINES / 16) * XG_SUSPECTS_A_WARP * 4;
    at.b_scales = at.a_scales + (int64_t)at.a_blocks * XG_UNIT_LINES * 4;
    at.stats = at.b_scales + (int64_t)at.b_blocks * XG_UNIT_LINES * 4;
    at.bounds = at.stats + rows * XG_UNIT_LINES * 16;
    at.late = at.bounds + rows * XG_UNIT_LINES * 4;
    at.bytes = (at.late + (int64_t)sizeof(xg_late_counts) + at.a_blocks * 4 + 127) / 128 * 128;
    return at;
}

XG_LAYOUT xg_fp16_layout xg_fp16_layout_of(int64_t m, int64_t n, int64_t k, int parts)
{
    const int64_t split = xg_split_k(k);
    const int chunks = xg_blocks_of(split, XG_CHUNK_K), piece = XG_PIECE_K / XG_CHUNK_K;
    /* 32 KB a block, of which several share a multiprocessor; a cluster has 16 at most. */
    int slice_chunks = xg_blocks_of(chunks, XG_SLICES_MOST), slices;
    slice_chunks = slice_chunks < piece ? (chunks < piece ? chunks : piece) : slice_chunks;
    slices = (int)(((unsigned)chunks + (unsigned)slice_chunks - 1) / (unsigned)slice_chunks);
    return xg_fp16_layout_in(xg_lines_blocks(m), xg_lines_blocks(n), xg_blocks_of(split, XG_UNIT_K),
                             parts, slices, slice_chunks);
}

/* By the split's arguments, in kernels: sizes are below 2^30 there, and k below 2^16. */
XG_LAYOUT xg_fp16_layout xg_layout_of(const xg_args *p)
{
    const unsigned least = XG_LINES_STEP / XG_UNIT_LINES;
    const unsigned a_blocks = ((unsigned)p->m + XG_LINES_STEP - 1) / XG_LINES_STEP * least;
    const unsigned b_blocks = ((unsigned)p->n + XG_LINES_STEP - 1) / XG_LINES_STEP * least;
    return xg_fp16_layout_in((int)a_blocks, (int)b_blocks,
                             (int)(((unsigned)xg_split_k(p->k) + XG_UNIT_K - 1) / XG_UNIT_K),
                             xg_parts_of(p), xg_slices_of(p), xg_chunks_of(p));
}

XG_LAYOUT char *xg_workspace_of(const xg_args *p)
{
    return (char *)(uintptr_t)p->list;
}

/* Of strips, in floats: a row of A, or a column of B, with zeros after what the parts have of k. */
XG_LAYOUT int64_t xg_strip_vector(const xg_fp16_layout *at)
{
    return (int64_t)at->slices * at->slice_chunks * XG_CHUNK_K;
}

/* Whether the split copies a matrix by fours; "step" is the one of its steps that is not 1. */
XG_LAYOUT int xg_split_by_fours(const float *matrix, int64_t step)
{
    return (uintptr_t)matrix % 16 == 0 && step % 4 == 0 && step < 1 << 28;
}

/*
 * Whether it copies a matrix by fours with a shift, where it does not by fours. With few blocks, by
 * words they are all on their way at once, and no slower.
 */
XG_LAYOUT int xg_split_shifts(int fours, int along_k, int64_t step, const xg_fp16_layout *at)
{
    const int groups = (at->a_blocks + at->b_blocks) * (XG_UNIT_LINES / XG_SPLIT_LINES);
    return !fours && !along_k && at->slice_chunks * XG_CHUNK_K <= XG_PIECE_K &&
           groups > XG_SPLIT_SHIFT_BLOCKS / at->slices && step < 1 << 28;
}

#endif
