/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layout of the workspace: the FP16 terms of A and B, and the data that the kernels of a product
 * exchange. The host, which reserves the workspace, and the kernels both compute the layout.
 *
 * An operand row is a row of A or a column of B: k elements. Each operand row is scaled by a power
 * of two that puts its largest element into [2^14, 2^15). A scaled element x is split into high =
 * FP16(x) and low = FP16(2^11 (x - high)): the factor brings low up to at most high's exponent, so
 * that FP16 keeps its bits.
 *
 * 128 operand rows are a row block, and 64 k a k-block. A row block's part in one k-block is an
 * operand tile: 16 KB of high terms and, where there are two terms, 16 KB of low ones, each K-major
 * with the 128-byte swizzle that xg_wgmma_descriptor() describes. So an operand tile is one bulk
 * copy, whatever the matrix's layout. Within each row group (16 operand rows) the rows are permuted
 * by xg_stored_row(): for B, so that a thread's accumulators are groups of four consecutive columns
 * of C, one vec4 each; A's rows likewise.
 *
 * The workspace, in this order:
 *
 *     operand tiles of A: for each row block its k-blocks
 *     operand tiles of B
 *     stream-K: for each CTA how many of its warps have stored their partial sums
 *     xg_recompute; then the slots of its two worklists: one tile for each 128 x 64 of C, and
 *         XG_SUSPECTS_PER_WARP elements for each warp's 16 x 64
 *     scales of A's rows, then of B's columns, by which results are multiplied
 *     statistics of A's rows, then of B's columns (guard.h); then the bounds again, as an array
 *     partial sums of stream-K (stream_k.inc), a tile for each CTA; or, where the split kernel
 *         computes edge strips (split_slice_strip.h), the rows of A and columns of B beyond
 *         the tiles
 *
 * Rows and k are padded with zeros. But where k > 64 is one more than a multiple of 64, the terms
 * leave out the last k, and the epilogue adds its products in FP32 (xg_split_k()).
 *
 * A batch whose products one launch computes has the matrices of an operand one below the other, as
 * one operand: each with padding of its own, and one that all products share once. There are slots
 * for the tiles of all products.
 *
 * The split kernel splits a row group with a cluster of "slices" CTAs, each of which has a slice of
 * slice_chunks * 128 k, in segments of 512 k.
 */
#ifndef XGEMM_TENSOR_FP16_LAYOUT_H
#define XGEMM_TENSOR_FP16_LAYOUT_H

#include "args.h"

#include <stddef.h>

#ifdef __CUDACC__
#define XG_LAYOUT static __device__ __forceinline__
#else
#define XG_LAYOUT static inline
#endif

enum {
    XG_ROW_BLOCK = 128,
    XG_K_BLOCK = 64,
    XG_TERM_BYTES = XG_ROW_BLOCK * XG_K_BLOCK * 2,
    XG_ROW_PADDING = 256, /* operand rows are padded to a multiple of this */
    XG_ROW_GROUP = 16,
    XG_BLOCK_GROUPS = XG_ROW_BLOCK / XG_ROW_GROUP,
    XG_SPLIT_THREADS = 256,
    XG_CHUNK_K = 128,
    XG_SEGMENT_K = 512,
    XG_SEGMENT_BYTES = XG_ROW_GROUP * XG_SEGMENT_K * 4,
    XG_SPLIT_REGISTER_BYTES =
        XG_SEGMENT_BYTES / 4,    /* of a segment, for what fp16_split_even holds in registers */
    XG_SPLIT_STATE_BYTES = 3200, /* shared memory besides the slice: xg_split_state */
    XG_SPLIT_CHUNKS_MOST = 24,   /* of a slice: 192 KB of shared memory */
    XG_SPLIT_REALIGN_BYTES = XG_SEGMENT_BYTES / 4, /* additional shared memory to realign copies */
    XG_SPLIT_REALIGN_CTAS = 2400, /* see xg_split_realigns(): three waves of an H200 */
    XG_SLICES_MOST = 16,
    XG_SHORT_BLOCKS = 4, /* most k-blocks that split_short.h splits */
    XG_SPLIT_K_MOST = XG_CHUNK_K * XG_SPLIT_CHUNKS_MOST * XG_SLICES_MOST,
    XG_SCALED_EXPONENT = 14,          /* of a scaled row's largest element */
    XG_CTA_STATE_BYTES = 112,         /* cta_state (cta_state.inc) without its arrays of floats */
    XG_SUSPECTS_PER_WARP = 32,        /* most of 16 x 128; with more, all of these are recomputed */
    XG_SUSPECTS_PER_WARP_STRIDED = 8, /* where an operand is not K-major: ten times slower */
    XG_STRIP_TILE = 8,   /* elements of a strip that a warp computes at once, see edge_strips.h */
    XG_SPLIT_STRIPS = 4, /* most strips below, and most beside, that the split computes */
    XG_SPLIT_STRIP_BYTES = 1536, /* of shared memory for each, see split_slice_strip.h */
    XG_STREAM_K_CTAS = 256,      /* most CTAs of a launch with stream-K */
    XG_CROSS_BLOCKS = 128, /* k-blocks after which kernels of one panel promote cross products:
                              see guard.h for what is truncated until then */
    XG_CANCEL_BLOCKS = 16, /* after which the first tile may be cancelled (producer.inc) */
    /*
     * Promotion is every 16 k where k <= XG_PROMOTE_16_K; every 32 k where k <= XG_PROMOTE_32_K or
     * C has at most XG_PROMOTE_32_C elements; else every 64 k.
     */
    XG_PROMOTE_16_K = 512,
    XG_PROMOTE_32_K = 1024,
    XG_PROMOTE_32_C = 1600 * 1600
};

/*
 * A listed tile: 128 x 128 or 128 x 64 of C, to be recomputed. Lower half: its first row divided by
 * 128 and, from bit 24 on, which of its eight groups of 16 rows are wanted. Upper half: its first
 * column, a multiple of 64, plus flags: its operands have Inf or NaN; they have wide rows
 * (XG_ROW_WIDE); all its rows of A, or all its columns of B, have Inf or NaN.
 */
typedef unsigned long long xg_listed_tile;
enum { XG_LISTED_NOT_FINITE = 1, XG_LISTED_WIDE = 2, XG_LISTED_ALL_NOT_FINITE = 4 };

/* Elements that a worklist can tell apart: their numbers fit 32 bits. */
#define XG_LISTED_ELEMENTS_MOST 0xfffffff0u

/* A worklist (worklist.h): slots reserved, published and taken; and how many are available. */
typedef struct {
    unsigned reserved, published, taken;
    int available;
} xg_worklist;

/* Tasks that warps take in order: how many are taken, and how many done. */
typedef struct {
    unsigned taken, done;
} xg_work_counter;

/*
 * Counters of the product kernel. Worklists of C's tiles and elements to be recomputed; an element
 * is 1 + row * (b_blocks * 128) + column, where the rows of a batch's products are one below the
 * other. Then: edge strip tiles taken (edge_strips.h); steps of
 * two k-blocks of all clusters (keep_pace()); CTAs that have listed all their elements
 * (count_ended()); tasks of K-major copies (k_major_copies.inc). Last, the number of recomputed
 * elements, for xgemm_last_recomputed(): the split of a call's later passes does not clear it.
 */
typedef struct {
    xg_worklist tiles, elements;
    unsigned strips, pace, ended, unused;
    xg_work_counter copies;
    unsigned long long recomputed;
} xg_recompute;

typedef struct {
    int a_blocks, b_blocks, k_blocks; /* row blocks and k-blocks */
    int slices, slice_chunks; /* the split's CTAs a row group, and XG_CHUNK_K of each; or 0 */
    int64_t tile_bytes;       /* of an operand tile, all terms */
    /* Offsets in bytes; "bytes": of the partial sums or strip vectors. */
    int64_t b_terms, partial_counts, recompute, elements, a_scales, b_scales, stats, bounds, bytes;
} xg_fp16_layout;

/* Ceiling division. */
XG_LAYOUT int xg_blocks_of(int64_t size, int block)
{
    return (int)(((uint64_t)size + (uint64_t)block - 1) / (uint64_t)block);
}

/* Row blocks of so many operand rows, with the padding; of 2^38 rows and more, which no memory
 * holds, any number. */
XG_LAYOUT int xg_row_blocks(int64_t rows)
{
    return (int)((unsigned)xg_blocks_of(rows, XG_ROW_PADDING) *
                 (unsigned)(XG_ROW_PADDING / XG_ROW_BLOCK));
}

/* For xg_fast_divide(). */
XG_LAYOUT unsigned xg_reciprocal(int by)
{
    return UINT32_MAX / (unsigned)by;
}

/* x / by for 0 <= x < 2^31; "reciprocal" is xg_reciprocal(by). A division takes 20 instructions. */
XG_LAYOUT int xg_fast_divide(int x, int by, unsigned reciprocal)
{
    const unsigned quotient =
        (unsigned)((uint64_t)(unsigned)x * reciprocal >> 32); /* exact, or one too small */
    return (int)(quotient + ((unsigned)x - quotient * (unsigned)by >= (unsigned)by));
}

/* The k that the terms hold: without a last k that would need a k-block of its own. */
XG_LAYOUT int64_t xg_split_k(int64_t k)
{
    return k > XG_K_BLOCK && k % XG_K_BLOCK == 1 ? k - 1 : k;
}

/* Whether terms of so many k-blocks leave out the last k. */
XG_LAYOUT int xg_has_last_k(int64_t k, unsigned k_blocks)
{
    return (unsigned)k > k_blocks * XG_K_BLOCK;
}

/* Promotions of the high products in each k-block, for kernels with two terms. */
XG_LAYOUT int xg_promotions(int64_t m, int64_t n, int k_blocks)
{
    return k_blocks <= XG_PROMOTE_16_K / XG_K_BLOCK                               ? 4
           : k_blocks <= XG_PROMOTE_32_K / XG_K_BLOCK || m * n <= XG_PROMOTE_32_C ? 2
                                                                                  : 1;
}

/* Whether tiles that will be recomputed in any case are skipped (producer.inc). */
XG_LAYOUT int xg_can_skip(int k_blocks, int whole_tiles, int clusters)
{
    return k_blocks >= 16 && whole_tiles >= clusters;
}

/*
 * The position at which an operand row of a row group is stored. Rows 0 1 4 5 8 9 12 13 come first,
 * then 2 3 6 7 10 11 14 15.
 */
XG_LAYOUT unsigned xg_stored_row(unsigned row)
{
    return row / 2 % 2 * 8 + row / 4 * 2 + row % 2;
}

/* The operand row that is stored at a position. */
XG_LAYOUT unsigned xg_row_stored_at(unsigned position)
{
    return position % 8 / 2 * 4 + position / 8 * 2 + position % 2;
}

/* The layout for so many row blocks, tiles of 128 x 128 and k-blocks, without the split's slices.
 */
XG_LAYOUT xg_fp16_layout xg_fp16_layout_with(int a_blocks, int b_blocks, int64_t tiles,
                                             int k_blocks, int terms)
{
    xg_fp16_layout at;
    at.a_blocks = a_blocks;
    at.b_blocks = b_blocks;
    at.k_blocks = k_blocks;
    at.slices = at.slice_chunks = 0;
    at.tile_bytes = (int64_t)terms * XG_TERM_BYTES;
    at.b_terms = (int64_t)at.a_blocks * at.k_blocks * at.tile_bytes;
    at.partial_counts = at.b_terms + (int64_t)at.b_blocks * at.k_blocks * at.tile_bytes;
    at.recompute = at.partial_counts + XG_STREAM_K_CTAS * 4;
    const int64_t rows = at.a_blocks + at.b_blocks;
    at.elements =
        at.recompute + (int64_t)sizeof(xg_recompute) + 2 * tiles * (int64_t)sizeof(xg_listed_tile);
    at.a_scales = at.elements + 2 * tiles * (XG_ROW_BLOCK / 16) * XG_SUSPECTS_PER_WARP * 4;
    at.b_scales = at.a_scales + (int64_t)at.a_blocks * XG_ROW_BLOCK * 4;
    at.stats = at.b_scales + (int64_t)at.b_blocks * XG_ROW_BLOCK * 4;
    at.bounds = at.stats + rows * XG_ROW_BLOCK * 16;
    at.bytes = (at.bounds + rows * XG_ROW_BLOCK * 4 + 127) / 128 * 128;
    return at;
}

XG_LAYOUT xg_fp16_layout xg_fp16_layout_in(int a_blocks, int b_blocks, int k_blocks, int terms)
{
    return xg_fp16_layout_with(a_blocks, b_blocks, (int64_t)a_blocks * b_blocks, k_blocks, terms);
}

/* The same of a batch, by the row blocks of one of its products. */
XG_LAYOUT xg_fp16_layout xg_batched_layout_in(int a_blocks, int b_blocks, int k_blocks, int terms,
                                              const xg_tensor_batch *batch)
{
    const int room = batch->room;
    return xg_fp16_layout_with(a_blocks * (batch->a_stride ? room : 1),
                               b_blocks * (batch->b_stride ? room : 1),
                               (int64_t)a_blocks * b_blocks * room, k_blocks, terms);
}

/* Sets the split's slices. */
XG_LAYOUT void xg_set_slices(xg_fp16_layout *at, int64_t k)
{
    const int chunks = xg_blocks_of(xg_split_k(k), XG_CHUNK_K);
    const int segment = XG_SEGMENT_K / XG_CHUNK_K;
    /* A slice is one segment (32 KB) if 16 slices suffice: several CTAs fit a multiprocessor. */
    const int least = chunks < segment ? chunks : segment;
    const int even = xg_blocks_of(chunks, XG_SLICES_MOST);
    at->slice_chunks = even < segment ? least : even;
    at->slices = xg_blocks_of(chunks, at->slice_chunks);
}

XG_LAYOUT xg_fp16_layout xg_fp16_layout_of(int64_t m, int64_t n, int64_t k, int terms)
{
    xg_fp16_layout at = xg_fp16_layout_in(xg_row_blocks(m), xg_row_blocks(n),
                                          xg_blocks_of(xg_split_k(k), XG_K_BLOCK), terms);
    xg_set_slices(&at, k);
    return at;
}

XG_LAYOUT xg_fp16_layout xg_batched_layout_of(int64_t m, int64_t n, int64_t k, int terms,
                                              const xg_tensor_batch *batch)
{
    xg_fp16_layout at = xg_batched_layout_in(xg_row_blocks(m), xg_row_blocks(n),
                                             xg_blocks_of(xg_split_k(k), XG_K_BLOCK), terms, batch);
    xg_set_slices(&at, k);
    return at;
}

/* The layout by the split's arguments, where m and n are below 2^30 and k is below 2^16. */
XG_LAYOUT xg_fp16_layout xg_split_layout_of(const xg_tensor_args *p)
{
    const unsigned least = XG_ROW_PADDING / XG_ROW_BLOCK;
    const unsigned a_blocks = ((unsigned)p->m + XG_ROW_PADDING - 1) / XG_ROW_PADDING * least;
    const unsigned b_blocks = ((unsigned)p->n + XG_ROW_PADDING - 1) / XG_ROW_PADDING * least;
    xg_fp16_layout at =
        xg_fp16_layout_in((int)a_blocks, (int)b_blocks, (int)p->k_blocks, (int)p->split.terms);
    at.slices = (int)p->split.slices;
    at.slice_chunks = (int)p->split.chunks;
    return at;
}

/* The same of a batch. */
XG_LAYOUT xg_fp16_layout xg_split_batched_layout_of(const xg_tensor_args *p)
{
    xg_fp16_layout at =
        xg_batched_layout_in(xg_row_blocks(p->m), xg_row_blocks(p->n), (int)p->k_blocks,
                             (int)p->split.terms, &p->split.batch);
    at.slices = (int)p->split.slices;
    at.slice_chunks = (int)p->split.chunks;
    return at;
}

/* Floats of a strip vector: a row of A or a column of B, padded with zeros. */
XG_LAYOUT int64_t xg_strip_vector_size(const xg_fp16_layout *at)
{
    return (int64_t)at->slices * at->slice_chunks * XG_CHUNK_K;
}

/* Whether split_short.h splits operands of so many k-blocks. */
XG_LAYOUT int xg_splits_short(int batched, int k_blocks)
{
    return batched && k_blocks <= XG_SHORT_BLOCKS;
}

/* Warps that split_short.h gives a row group, one for each k-block: a power of two. */
XG_LAYOUT int xg_short_warps(int k_blocks)
{
    return k_blocks > 2 ? XG_SHORT_BLOCKS : k_blocks;
}

/* The row groups of its CTAs. */
XG_LAYOUT int xg_short_groups(int k_blocks)
{
    return XG_SPLIT_THREADS / 32 / xg_short_warps(k_blocks);
}

/* Whether the split reads a matrix by vec4; "stride" is the one of its strides that is not 1. */
XG_LAYOUT int xg_split_vec4(const void *matrix, int64_t stride)
{
    return (uintptr_t)matrix % 16 == 0 && stride % 4 == 0 && stride < 1 << 28;
}

/*
 * Whether the split copies an unaligned MN-major matrix with aligned vec4 loads and realigns it in
 * shared memory. With few CTAs scalar loads are as fast, as all of them are in flight at once.
 */
XG_LAYOUT int xg_split_realigns(int vec4, int k_major, int64_t stride, const xg_fp16_layout *at)
{
    const int groups = (at->a_blocks + at->b_blocks) * XG_BLOCK_GROUPS;
    return !vec4 && !k_major && at->slice_chunks * XG_CHUNK_K <= XG_SEGMENT_K &&
           groups > XG_SPLIT_REALIGN_CTAS / at->slices && stride < 1 << 28;
}

#endif
