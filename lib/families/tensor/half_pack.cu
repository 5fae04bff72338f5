/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * half_pack: operands of 16 bits, of any layout and alignment, as operand tiles (fp16_layout.h):
 * 128 rows of A or columns of B by 64 k, K-major with the 128-byte swizzle of wgmma, padded with
 * zeros.
 *
 * A CTA makes a tile: the grid's x is the k-block, y the row block, those of B after those of A,
 * and z the product of a batch. Whatever the alignment, memory is read by aligned vec4, where these
 * lie inside a row or column of the matrix; by way of shared memory, where lines begin at their
 * first element.
 */
#include "fp16_layout.h"
#include "half_args.h"
#include "families/common/ptx_sm90.h"

#define THREADS  256
#define CHUNK    8                    /* elements of 16 bytes */
#define CHUNKS   (XG_K_BLOCK / CHUNK) /* of a row of a tile */
#define PITCH_K  (XG_K_BLOCK + CHUNK) /* in shared memory, of K-major operands; */
#define PITCH_MN (XG_ROW_BLOCK + 2)   /* and of MN-major ones, of which a thread reads 8 k */
#define STAGED   (XG_ROW_BLOCK * PITCH_K)

/* A tile's part of an operand: lines of contiguous elements. */
typedef struct {
    const uint16_t *from;
    int64_t stride;    /* from line to line */
    int lines, length; /* inside the matrix; either may be 0 */
} lines;

XG_DEVICE const uint16_t *operand_of(const uint16_t *operand, int64_t batch_stride)
{
    return batch_stride == XG_POINTER_ARRAYS
               ? ((const uint16_t *const *)(const void *)operand)[XG_BATCH]
               : operand + XG_BATCH * batch_stride;
}

/* Of what is left of a dimension from there on, at most so much. */
XG_DEVICE int inside(int64_t size, int64_t first, int most)
{
    return (int)XG_MAX(XG_MIN(size - first, (int64_t)most), (int64_t)0);
}

XG_DEVICE lines part_of(const uint16_t *from, int64_t stride_mn, int64_t stride_k, int64_t size,
                        int64_t k, int64_t mn0, int64_t k0)
{
    const int k_major = stride_k == 1;
    const int mn = inside(size, mn0, XG_ROW_BLOCK), depth = inside(k, k0, XG_K_BLOCK);
    lines of;
    of.from = from + mn0 * stride_mn + k0 * stride_k;
    of.stride = k_major ? stride_mn : stride_k;
    of.lines = k_major ? mn : depth;
    of.length = k_major ? depth : mn;
    return of;
}

/*
 * Chunk number c of one line, of those that begin at multiples of 16 bytes and hold its elements,
 * to its place in shared memory; what is outside the line is left out.
 */
XG_DEVICE void stage_chunk(const uint16_t *line, int length, int c, uint16_t *to)
{
    const int shift = (int)((uintptr_t)line / 2 % CHUNK), first = c * CHUNK - shift;
    if (first >= 0 && first + CHUNK <= length) {
        const uint4 four = *(const uint4 *)(const void *)(line + first);
        const unsigned words[4] = {four.x, four.y, four.z, four.w};
        if (first % 2 == 0) {
            XG_UNROLL
            for (int i = 0; i < CHUNK / 2; i++)
                ((unsigned *)(void *)(to + first))[i] = words[i];
            return;
        }
        XG_UNROLL
        for (int i = 0; i < CHUNK; i++)
            to[first + i] = (uint16_t)(words[i / 2] >> 16 * (i % 2));
        return;
    }
    for (int i = 0; i < CHUNK; i++)
        if (first + i >= 0 && first + i < length)
            to[first + i] = line[first + i];
}

/* All lines of the tile to shared memory, which is zero. */
XG_DEVICE void stage(const lines *of, int whole_length, int pitch, uint16_t *staged)
{
    const int chunks = whole_length / CHUNK + 1;
    for (int i = (int)threadIdx.x; i < of->lines * chunks; i += THREADS) {
        const int line = i / chunks;
        stage_chunk(of->from + line * of->stride, of->length, i % chunks, staged + line * pitch);
    }
}

/* Where chunk c of a row is in the tile. */
XG_DEVICE uint4 *place_of(char *tile, int row, int c)
{
    const unsigned in_group = (unsigned)row % XG_ROW_GROUP;
    const unsigned at = (unsigned)row - in_group + xg_stored_row(in_group);
    return (uint4 *)(void *)(tile + at * 128 + (((unsigned)c ^ at % 8) * 16));
}

XG_DEVICE unsigned pair(const uint16_t *from, int step)
{
    return (unsigned)from[0] | (unsigned)from[step] << 16;
}

/* Chunk c of a row, its 8 elements "step" apart in shared memory, to its place in the tile. */
XG_DEVICE void store_chunk(char *tile, int row, int c, const uint16_t *from, int step)
{
    const uint4 four = {pair(from, step), pair(from + 2 * step, step), pair(from + 4 * step, step),
                        pair(from + 6 * step, step)};
    *place_of(tile, row, c) = four;
}

/* Element i of a row, or 0 beyond its end. */
XG_DEVICE unsigned element(const uint16_t *row, int i, int length)
{
    return i < length ? row[i] : 0u;
}

/* A K-major operand whose rows begin at multiples of 16 bytes: each chunk straight to its place. */
XG_DEVICE void copy_aligned(const lines *of, char *tile)
{
    for (int i = (int)threadIdx.x; i < XG_ROW_BLOCK * CHUNKS; i += THREADS) {
        const int row = i / CHUNKS, c = i % CHUNKS, first = c * CHUNK;
        const int length = row < of->lines ? of->length : 0;
        const uint16_t *const from = of->from + row * of->stride;
        uint4 four = {0, 0, 0, 0};
        if (first + CHUNK <= length)
            four = *(const uint4 *)(const void *)(from + first);
        else if (first < length) {
            four.x = element(from, first, length) | element(from, first + 1, length) << 16;
            four.y = element(from, first + 2, length) | element(from, first + 3, length) << 16;
            four.z = element(from, first + 4, length) | element(from, first + 5, length) << 16;
            four.w = element(from, first + 6, length) | element(from, first + 7, length) << 16;
        }
        *place_of(tile, row, c) = four;
    }
}

XG_KERNEL(__launch_bounds__(THREADS), half_pack, xg_half_pack_args)
{
    XG_SHARED16 uint16_t staged[STAGED];
    const int is_a = blockIdx.y < p.a_blocks;
    const int64_t block = is_a ? blockIdx.y : blockIdx.y - p.a_blocks;
    const int64_t copy = (is_a ? p.a_copies : p.b_copies) == 1 ? 0 : XG_BATCH;
    const int64_t blocks = is_a ? p.a_blocks : p.b_blocks;
    char *const tile = p.tiles + (is_a ? 0 : p.b_tiles) +
                       ((copy * blocks + block) * p.k_blocks + blockIdx.x) * XG_TERM_BYTES;
    const int64_t mn0 = block * XG_ROW_BLOCK, k0 = (int64_t)blockIdx.x * XG_K_BLOCK;
    const int k_major = (is_a ? p.a_stride_k : p.b_stride_k) == 1;
    const int pitch = k_major ? PITCH_K : PITCH_MN;

    xg_pdl_wait();
    xg_pdl_trigger();
    if (copy < XG_BATCH)
        return; /* another product's CTA copies it */
    const lines of = is_a ? part_of(operand_of(p.a, p.a_batch_stride), p.a_stride_m, p.a_stride_k,
                                    p.m, p.k, mn0, k0)
                          : part_of(operand_of(p.b, p.b_batch_stride), p.b_stride_n, p.b_stride_k,
                                    p.n, p.k, mn0, k0);
    if (k_major && (uintptr_t)of.from % 16 == 0 && of.stride % CHUNK == 0) {
        copy_aligned(&of, tile);
        return;
    }
    for (int i = (int)threadIdx.x; i < STAGED / 2; i += THREADS)
        ((unsigned *)(void *)staged)[i] = 0;
    __syncthreads();
    stage(&of, k_major ? XG_K_BLOCK : XG_ROW_BLOCK, pitch, staged);
    __syncthreads();
    for (int i = (int)threadIdx.x; i < XG_ROW_BLOCK * CHUNKS; i += THREADS) {
        const int row = i / CHUNKS, c = i % CHUNKS;
        if (k_major)
            store_chunk(tile, row, c, &staged[row * pitch + c * CHUNK], 1);
        else
            store_chunk(tile, row, c, &staged[c * CHUNK * pitch + row], pitch);
    }
}
