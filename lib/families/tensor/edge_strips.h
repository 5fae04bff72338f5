/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Edge strips in the product kernel: a few rows of C below the tiles, over all columns of C, and a
 * few columns beside the tiles, in FP32 from A and B themselves. An idle warp of each CTA computes
 * strip tiles meanwhile, and all warps do once they have no tile left. Where the split kernel has
 * computed the strips (split_slice_strip.h), C's corner remains.
 *
 * A strip is a vector y (a row of A, a column of B) times all rows of an operand X (B or A). A
 * strip tile is eight of its elements, by a warp. K-major: a thread has every 32nd k of all eight
 * rows. MN-major: a thread has one row and every fourth k. Either way "depth" k are in flight at
 * once, as many as registers hold, and XG_STRIP_AHEAD k further are prefetched into L2, since DRAM
 * is too far away for so few loads.
 *
 * To save registers "below" is a constant wherever it is passed, so that strides are read from the
 * arguments within each instruction, in 32 bits; and a strip's last tile begins earlier instead of
 * being smaller.
 */
#ifndef XGEMM_KERNELS_EDGE_STRIPS_H
#define XGEMM_KERNELS_EDGE_STRIPS_H

#include "families/common/epilogue.h"
#include "fp16_layout.h"
#include "operand_row.h"
#include "families/common/ptx.h"

enum {
    XG_STRIP_DEPTH_MOST = 256, /* k between two waits */
    XG_STRIP_AHEAD = 512       /* k */
};

/* The depth of kernels with tiles of so many columns. With 64, strips take as long as the tiles
   unless many loads are in flight. */
#define XG_STRIP_DEPTH(tile_n) ((tile_n) == 64 ? XG_STRIP_DEPTH_MOST : 64)

/* X: its major, and its rows. */
XG_DEVICE int xg_strip_is_k_major(const xg_tensor_args *p, int below)
{
    return (below ? p->b_stride_k : p->a_stride_k) == 1;
}

XG_DEVICE int xg_strip_rows(const xg_tensor_args *p, int below)
{
    return (int)(below ? xg_rematerialize(p->n) + p->columns_beside : p->m);
}

/* Tiles of a strip. */
XG_DEVICE int xg_strip_tiles(const xg_tensor_args *p, int below)
{
    return (xg_strip_rows(p, below) + XG_STRIP_TILE - 1) / XG_STRIP_TILE;
}

/* Strides, of at most 2^28: of the rows of X, and of k in X and y. */
XG_DEVICE int xg_strip_x_stride(const xg_tensor_args *p, int below)
{
    return (int)xg_select_bits(below, (unsigned)p->b_stride_n, (unsigned)p->a_stride_m);
}

XG_DEVICE int xg_strip_x_k_stride(const xg_tensor_args *p, int below)
{
    return (int)xg_select_bits(below, (unsigned)p->b_stride_k, (unsigned)p->a_stride_k);
}

XG_DEVICE int xg_strip_y_k_stride(const xg_tensor_args *p, int below)
{
    return (int)xg_select_bits(below, (unsigned)p->a_stride_k, (unsigned)p->b_stride_k);
}

/* A tile's first row, and how many of its rows belong to an earlier tile. */
typedef struct {
    int row, skipped;
} xg_strip_range;

XG_DEVICE xg_strip_range xg_strip_range_of(const xg_tensor_args *p, int below, int size, int tile)
{
    const int first = tile % xg_strip_tiles(p, below) * size;
    const int row = XG_MIN(first, xg_strip_rows(p, below) - size);
    const xg_strip_range range = {row, first - row};
    return range;
}

/* The strip's row or column of C. */
XG_DEVICE int64_t xg_strip_index(const xg_tensor_args *p, int below, int tile)
{
    return (below ? p->m : p->n) + tile / xg_strip_tiles(p, below);
}

XG_DEVICE const float *xg_strip_x(const xg_tensor_args *p, int below, int size, int tile)
{
    const int64_t row = xg_strip_range_of(p, below, size, tile).row;
    return below ? p->b + row * p->b_stride_n : p->a + row * p->a_stride_m;
}

XG_DEVICE const float *xg_strip_y(const xg_tensor_args *p, int below, int tile)
{
    const int64_t index = xg_strip_index(p, below, tile);
    return below ? p->a + index * p->a_stride_m : p->b + index * p->b_stride_n;
}

/* One thread for each row of the tile. */
XG_DEVICE void xg_strip_store(const xg_tensor_args *p, int below, int size, int tile, int row,
                              float sum)
{
    const xg_strip_range range = xg_strip_range_of(p, below, size, tile);
    const int64_t index = xg_strip_index(p, below, tile), at = range.row + row;
    float *const c = p->c + (below ? index * p->c_stride_m + at : at * p->c_stride_m + index);
    if (row >= range.skipped)
        *c = xg_epilogue(p->alpha, sum, p->beta, c);
}

/* The warp's tile, read from shared memory, which saves a register. */
XG_DEVICE int xg_strip_tile_of_warp(const volatile int *tasks)
{
    return tasks[xg_reread_thread() / 32] / 2;
}

/* A tile of a K-major X; there are zeros beyond the end of k. */
XG_DEVICE void xg_strip_tile_k_major(const xg_tensor_args *p, int below, int depth,
                                     const volatile int *tasks)
{
    enum { ROWS = XG_STRIP_TILE, VALUES_MOST = XG_STRIP_DEPTH_MOST / 32 };
    const int lane = (int)xg_lane();
    const float *x = xg_strip_x(p, below, ROWS, xg_strip_tile_of_warp(tasks)) + lane;
    const float *y = xg_offset_strided(xg_strip_y(p, below, xg_strip_tile_of_warp(tasks)),
                                       xg_strip_y_k_stride(p, below), lane);
    float sum[ROWS];
    XG_UNROLL
    for (int i = 0; i < ROWS; i++)
        sum[i] = 0.0f;
    XG_UNROLL_BY(1)
    for (int k = (int)p->k; k > 0; k -= depth) {
        const int remaining = k - (int)xg_lane();
        float x_values[ROWS][VALUES_MOST], y_values[VALUES_MOST];
        const float *row = x;
        if (k > XG_STRIP_AHEAD + depth) {
            const int to = (int)xg_lane();
            XG_UNROLL
            for (int i = 0; i < depth; i += 64)
                xg_prefetch(xg_offset_strided(x + (XG_STRIP_AHEAD + i - to + to % 2 * 32),
                                              xg_strip_x_stride(p, below), to / 2 % ROWS));
        }
        XG_UNROLL
        for (int i = 0; i < ROWS; i++) {
            XG_UNROLL
            for (int j = 0; j < depth / 32; j++)
                x_values[i][j] = remaining > 32 * j ? row[32 * j] : 0.0f;
            row = xg_offset_strided(row, xg_strip_x_stride(p, below), 1);
        }
        XG_UNROLL
        for (int j = 0; j < depth / 32; j++)
            y_values[j] = remaining > 32 * j
                              ? *xg_offset_strided(y, xg_strip_y_k_stride(p, below), 32 * j)
                              : 0.0f;
        XG_UNROLL
        for (int i = 0; i < ROWS; i++)
            XG_UNROLL
        for (int j = 0; j < depth / 32; j++)
            sum[i] += x_values[i][j] * y_values[j];
        x += depth;
        y = xg_offset_strided(y, xg_strip_y_k_stride(p, below), depth);
    }
    XG_UNROLL
    for (int i = 0; i < ROWS; i++) {
        const float total = xg_sum_lanes(sum[i], 16, 1);
        sum[0] = (int)xg_lane() == i ? total : sum[0];
    }
    if ((int)xg_lane() < ROWS)
        xg_strip_store(p, below, ROWS, xg_strip_tile_of_warp(tasks), (int)xg_lane(), sum[0]);
}

/* A tile of an MN-major X: eight lanes have every fourth k. */
XG_DEVICE void xg_strip_tile_mn_major(const xg_tensor_args *p, int below, int depth,
                                      const volatile int *tasks)
{
    enum { ROWS = XG_STRIP_TILE, PHASES = 32 / ROWS, VALUES_MOST = XG_STRIP_DEPTH_MOST / 32 };
    const int lane = (int)xg_lane(), phase = lane / ROWS;
    const float *x =
        xg_offset_strided(xg_strip_x(p, below, ROWS, xg_strip_tile_of_warp(tasks)) + lane % ROWS,
                          xg_strip_x_k_stride(p, below), phase);
    const float *y = xg_offset_strided(xg_strip_y(p, below, xg_strip_tile_of_warp(tasks)),
                                       xg_strip_y_k_stride(p, below), lane);
    float sum[2] = {0.0f, 0.0f};
    XG_UNROLL_BY(1)
    for (int k = (int)p->k; k > 0; k -= depth) {
        const int remaining = k - phase;
        float x_values[XG_STRIP_DEPTH_MOST / PHASES], y_values[VALUES_MOST];
        if (k > XG_STRIP_AHEAD + depth) {
            const int ahead = XG_STRIP_AHEAD - phase + (int)xg_lane();
            XG_UNROLL
            for (int i = 0; i < depth; i += 32)
                xg_prefetch(xg_offset_strided(x, xg_strip_x_k_stride(p, below), ahead + i));
        }
        XG_UNROLL
        for (int j = 0; j < depth / 32; j++)
            y_values[j] = k > lane + 32 * j
                              ? *xg_offset_strided(y, xg_strip_y_k_stride(p, below), 32 * j)
                              : 0.0f;
        XG_UNROLL
        for (int i = 0; i < depth / PHASES; i++) {
            x_values[i] = remaining > PHASES * i ? *x : 0.0f;
            x = xg_offset_strided(x, xg_strip_x_k_stride(p, below), PHASES);
        }
        XG_UNROLL
        for (int i = 0; i < depth / PHASES; i++)
            sum[i % 2] += x_values[i] * __shfl_sync(0xffffffffu, y_values[PHASES * i / 32],
                                                    PHASES * i % 32 + phase);
        y = xg_offset_strided(y, xg_strip_y_k_stride(p, below), depth);
    }
    const float total = xg_sum_lanes(sum[0] + sum[1], 16, ROWS);
    if (phase == 0)
        xg_strip_store(p, below, ROWS, xg_strip_tile_of_warp(tasks), lane, total);
}

XG_DEVICE void xg_strip_tile(const xg_tensor_args *p, int below, int depth,
                             const volatile int *tasks)
{
    if (xg_strip_is_k_major(p, below))
        xg_strip_tile_k_major(p, below, depth, tasks);
    else
        xg_strip_tile_mn_major(p, below, depth, tasks);
}

/* The first tiles of each strip, which the split kernel has computed. */
XG_DEVICE int xg_strip_tiles_of_split(const xg_tensor_args *p, int below)
{
    if (!(xg_rematerialize(p->strips_in_split)))
        return 0;
    return ((int)xg_rematerialize(below ? p->n : p->m) + XG_STRIP_TILE - 1) / XG_STRIP_TILE;
}

/*
 * One thread: takes the next tile; returns twice its number, plus 1 for a strip below. -1: none is
 * left.
 */
XG_DEVICE int xg_strip_take(const xg_tensor_args *p, xg_recompute *list)
{
    int tile = (int)atomicAdd(&list->strips, 1u);
    XG_UNROLL_BY(1)
    for (int below = 1; below >= 0; below--) {
        const int skips = xg_strip_tiles_of_split(p, below),
                  remaining = xg_strip_tiles(p, below) - skips;
        const int strips = below ? p->rows_below : p->columns_beside;
        if (tile < strips * remaining)
            return 2 * (tile + (tile / remaining + 1) * skips) + below;
        tile -= strips * remaining;
    }
    return -1;
}

#endif
