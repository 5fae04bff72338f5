/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layout of the workspace: the FP16 terms of A and B, and what the kernels of a product tell one
 * another. The host, which reserves the workspace, and the kernels both compute it.
 *
 * An operand row is a row of A or a column of B: k elements. Each operand row is scaled by a power
 * of two that puts its largest element into [2^14, 2^15). A scaled element x is split into high =
 * FP16(x) and low = FP16(2^11 (x - high)), which is a normal number wherever high is one.
 *
 * 128 operand rows are a row block, 64 k a k-block, and one by the other an operand tile: 16 KB of
 * high terms and, where there are two terms, 16 KB of low ones, each K-major with the 128-byte
 * swizzle that xg_wgmma_descriptor() describes. So an operand tile is one bulk copy, whatever the
 * matrix's layout. Within each row group (16 operand rows) the rows are permuted by
 * xg_stored_row(), so that the accumulators of a thread are four neighbouring columns of C.
 *
 * The workspace, in this order:
 *
 *     operand tiles of A: for each row block its k-blocks
 *     operand tiles of B
 *     stream-K: for each CTA how many of its warps have stored their partial sums
 *     xg_recompute: what is recomputed of C; then the slots of its two worklists: for each
 *         128 x 64 of C one for a tile, then for each warp's 16 x 64 those for elements
 *     scales of A's rows, then of B's columns, by which results are multiplied
 *     statistics of A's rows, then of B's columns (guard.h); then all bounds once more
 *     deferred split (deferred_split.inc): how many row groups are taken; then for each row block
 *         of A how many of its row groups are split
 *     partial sums of stream-K (stream_k.inc), a tile for each CTA; or, where the split kernel
 *         computes edge strips (split_slice_strip.h), the rows of A and columns of B beyond
 *         the tiles
 *
 * Rows and k are padded with zeros. But where k is one more than a multiple of 64, the terms leave
 * out the last k, whose products the epilogue adds in FP32 (xg_split_k()).
 *
 * The split kernel splits a row group with a cluster of "slices" CTAs, each of which has a slice of
 * slice_chunks * 128 k, in segments of 512 k.
 */
#ifndef XGEMM_KERNELS_FP16_LAYOUT_H
#define XGEMM_KERNELS_FP16_LAYOUT_H

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
    XG_ROW_PADDING = 256,  /* operand rows are padded to a multiple of this */
    XG_RASTER_ROWS = 2048, /* rows of C in a rasterization group: L2 holds its operands */
    XG_ROW_GROUP = 16,
    XG_BLOCK_GROUPS = XG_ROW_BLOCK / XG_ROW_GROUP,
    XG_SPLIT_THREADS = 256,
    XG_CHUNK_K = 128,
    XG_SEGMENT_K = 512,
    XG_SEGMENT_BYTES = XG_ROW_GROUP * XG_SEGMENT_K * 4,
    XG_SPLIT_REGISTER_BYTES = XG_SEGMENT_BYTES / 4, /* of a segment that is held in part */
    XG_SPLIT_STATE_BYTES = 3200, /* shared memory besides the slice: xg_split_state */
    XG_SPLIT_CHUNKS_MOST = 24,   /* of a slice: 192 KB of shared memory */
    XG_SPLIT_REALIGN_BYTES = XG_SEGMENT_BYTES / 4, /* more shared memory for realigned copies */
    XG_SPLIT_REALIGN_CTAS = 2400,                  /* three times what 132 multiprocessors hold */
    XG_SLICES_MOST = 16,
    XG_SPLIT_K_MOST = XG_CHUNK_K * XG_SPLIT_CHUNKS_MOST * XG_SLICES_MOST,
    XG_SCALED_EXPONENT = 14,
    XG_NO_DEFERRED_SPLIT = 65535,     /* in place of the first deferred row block */
    XG_CTA_STATE_BYTES = 112,         /* cta_state of product.inc, but for scales and B's last k */
    XG_DEFERRED_SPLIT_BYTES = 256,    /* the same for deferred_split.inc */
    XG_SUSPECTS_PER_WARP = 32,        /* of 16 x 128 elements; more: all of these are recomputed */
    XG_SUSPECTS_PER_WARP_STRIDED = 8, /* the same where one element takes ten times as long */
    XG_STRIP_TILE = 8,   /* elements of a strip that a warp computes at once, see edge_strips.h */
    XG_SPLIT_STRIPS = 4, /* most strips below, or beside the tiles, that the split computes */
    XG_SPLIT_STRIP_BYTES = 1536, /* of shared memory for each, see split_slice_strip.h */
    XG_STREAM_K_CTAS = 256,      /* most CTAs of a launch with stream-K */
    /*
     * Promotion is every 16 k up to the first of these k; every 32 k up to the second, or up to so
     * many elements of C; and else every 64 k.
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

/* A worklist (worklist.h): slots reserved, published and taken; and how many are available. */
typedef struct {
    unsigned reserved, published, taken;
    int available;
} xg_worklist;

/* Tasks that warps take by number. */
typedef struct {
    unsigned taken, done;
} xg_work_counter;

/*
 * What is recomputed of C: listed tiles, and elements, each as its index in C plus one (in C with
 * rows padded to whole row blocks). Then counters of the product kernel: edge strips' tiles that
 * are taken (edge_strips.h), k-iterations of all clusters (keep_pace), CTAs that have no
 * tile left (ended), and tasks of K-major copies (k_major_copies.inc). Last, the number of
 * recomputed elements, which xgemm_last_recomputed() reads: a split that follows others of the same
 * call leaves it as it is.
 */
typedef struct {
    xg_worklist tiles, elements;
    unsigned strips, pace, ended, unused;
    xg_work_counter copies;
    unsigned long long recomputed;
} xg_recompute;

typedef struct {
    unsigned taken, unused[3];
} xg_deferred_counts; /* a counter for each row block follows */

typedef struct {
    int a_blocks, b_blocks, k_blocks; /* row blocks and k-blocks */
    int slices, slice_chunks;
    int64_t tile_bytes;
    /* Offsets in bytes; "bytes" is the size without partial sums or strip vectors. */
    int64_t b_terms, partial_counts, recompute, elements, a_scales, b_scales, stats, bounds,
        deferred, bytes;
} xg_fp16_layout;

XG_LAYOUT int xg_blocks_of(int64_t size, int block)
{
    return (int)(((uint64_t)size + (uint64_t)block - 1) / (uint64_t)block);
}

/* Row blocks of so many operand rows, with the padding. */
XG_LAYOUT int xg_row_blocks(int64_t rows)
{
    return xg_blocks_of(rows, XG_ROW_PADDING) * (XG_ROW_PADDING / XG_ROW_BLOCK);
}

/* x / by for x below 2^31, by a reciprocal of "by": a division would take 20 instructions. */
XG_LAYOUT unsigned xg_reciprocal(int by)
{
    return UINT32_MAX / (unsigned)by;
}

XG_LAYOUT int xg_fast_divide(int x, int by, unsigned reciprocal)
{
    const unsigned quotient =
        (unsigned)((uint64_t)(unsigned)x * reciprocal >> 32); /* or one less */
    return (int)(quotient + ((unsigned)x - quotient * (unsigned)by >= (unsigned)by));
}

/* The k that the terms hold: a last k by itself would cost the time of a k-block. */
XG_LAYOUT int64_t xg_split_k(int64_t k)
{
    return k > XG_K_BLOCK && k % XG_K_BLOCK == 1 ? k - 1 : k;
}

/* Promotions of the high products in a k-block, for a product of two terms. */
XG_LAYOUT int xg_promotions(int64_t m, int64_t n, int k_blocks)
{
    return k_blocks <= XG_PROMOTE_16_K / XG_K_BLOCK                               ? 4
           : k_blocks <= XG_PROMOTE_32_K / XG_K_BLOCK || m * n <= XG_PROMOTE_32_C ? 2
                                                                                  : 1;
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

/* The layout for so many row blocks, k-blocks and slices. */
XG_LAYOUT xg_fp16_layout xg_fp16_layout_in(int a_blocks, int b_blocks, int k_blocks, int terms,
                                           int slices, int slice_chunks)
{
    xg_fp16_layout at;
    at.a_blocks = a_blocks;
    at.b_blocks = b_blocks;
    at.k_blocks = k_blocks;
    at.slice_chunks = slice_chunks;
    at.slices = slices;
    at.tile_bytes = (int64_t)terms * XG_TERM_BYTES;
    at.b_terms = at.a_blocks * at.k_blocks * at.tile_bytes;
    at.partial_counts = at.b_terms + at.b_blocks * at.k_blocks * at.tile_bytes;
    at.recompute = at.partial_counts + XG_STREAM_K_CTAS * 4;
    const int64_t tiles = (int64_t)at.a_blocks * at.b_blocks, rows = at.a_blocks + at.b_blocks;
    at.elements =
        at.recompute + (int64_t)sizeof(xg_recompute) + 2 * tiles * (int64_t)sizeof(xg_listed_tile);
    at.a_scales = at.elements + 2 * tiles * (XG_ROW_BLOCK / 16) * XG_SUSPECTS_PER_WARP * 4;
    at.b_scales = at.a_scales + (int64_t)at.a_blocks * XG_ROW_BLOCK * 4;
    at.stats = at.b_scales + (int64_t)at.b_blocks * XG_ROW_BLOCK * 4;
    at.bounds = at.stats + rows * XG_ROW_BLOCK * 16;
    at.deferred = at.bounds + rows * XG_ROW_BLOCK * 4;
    at.bytes =
        (at.deferred + (int64_t)sizeof(xg_deferred_counts) + at.a_blocks * 4 + 127) / 128 * 128;
    return at;
}

XG_LAYOUT xg_fp16_layout xg_fp16_layout_of(int64_t m, int64_t n, int64_t k, int terms)
{
    const int64_t split = xg_split_k(k);
    const int chunks = xg_blocks_of(split, XG_CHUNK_K), segment = XG_SEGMENT_K / XG_CHUNK_K;
    /*
     * A segment a slice, 32 KB, so that several CTAs share a multiprocessor; at most 16 CTAs a
     * cluster.
     */
    int slice_chunks = xg_blocks_of(chunks, XG_SLICES_MOST), slices;
    slice_chunks = slice_chunks < segment ? (chunks < segment ? chunks : segment) : slice_chunks;
    slices = (int)(((unsigned)chunks + (unsigned)slice_chunks - 1) / (unsigned)slice_chunks);
    return xg_fp16_layout_in(xg_row_blocks(m), xg_row_blocks(n), xg_blocks_of(split, XG_K_BLOCK),
                             terms, slices, slice_chunks);
}

/* The layout by the split kernel's arguments: sizes are below 2^30 there, and k below 2^16. */
XG_LAYOUT xg_fp16_layout xg_layout_of(const xg_tensor_args *p)
{
    const unsigned least = XG_ROW_PADDING / XG_ROW_BLOCK;
    const unsigned a_blocks = ((unsigned)p->m + XG_ROW_PADDING - 1) / XG_ROW_PADDING * least;
    const unsigned b_blocks = ((unsigned)p->n + XG_ROW_PADDING - 1) / XG_ROW_PADDING * least;
    return xg_fp16_layout_in((int)a_blocks, (int)b_blocks,
                             (int)(((unsigned)xg_split_k(p->k) + XG_K_BLOCK - 1) / XG_K_BLOCK),
                             (int)p->split.terms, (int)p->slices, (int)p->split.chunks);
}

/* Floats of a strip vector: a row of A or a column of B, padded with zeros. */
XG_LAYOUT int64_t xg_strip_vector_size(const xg_fp16_layout *at)
{
    return (int64_t)at->slices * at->slice_chunks * XG_CHUNK_K;
}

/* Whether the split reads a matrix by vec4; "stride" is the one of its strides that is not 1. */
XG_LAYOUT int xg_split_vec4(const void *matrix, int64_t stride)
{
    return (uintptr_t)matrix % 16 == 0 && stride % 4 == 0 && stride < 1 << 28;
}

/*
 * Whether the split copies an MN-major matrix that is not aligned by aligned vec4, and realigns it
 * in shared memory. With few CTAs all scalar loads are in flight at once and are as fast.
 */
XG_LAYOUT int xg_split_realigns(int vec4, int k_major, int64_t stride, const xg_fp16_layout *at)
{
    const int groups = (at->a_blocks + at->b_blocks) * (XG_ROW_BLOCK / XG_ROW_GROUP);
    return !vec4 && !k_major && at->slice_chunks * XG_CHUNK_K <= XG_SEGMENT_K &&
           groups > XG_SPLIT_REALIGN_CTAS / at->slices && stride < 1 << 28;
}

#endif
