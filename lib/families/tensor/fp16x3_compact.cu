/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The products of the fp16x3 kernels (product.inc), with the same bits, in little code: the driver
 * translates its PTX in a thirtieth of the time. It runs the first products of a process, until the
 * kernel that it stands for has been translated.
 *
 * A CTA is a warpgroup and computes 64 x 64 elements of C. It finds the kernel's tile that they are
 * in, and with it in which parts the kernel adds up k (stream_k.inc), and when it promotes
 * (mainloop.inc). Each part is one after the other here.
 *
 * Nothing is recomputed: the elements that would be are counted in xg_recompute, and the host,
 * which reads the count, has the product computed again by the kernel itself. So C must not be
 * read: beta is 0. Edge strips (edge_strips.h) are computed by warps that have stored their
 * elements.
 */
#include "accumulators.h"
#include "edge_strips.h"
#include "full_range.h"
#include "guard.h"
#include "families/common/ptx_wgmma.h"
#include "families/common/ptx_sm90.h"

enum { BLOCK = 64, ACCUMULATORS = 32, HALF_BYTES = XG_TERM_BYTES / 2, STEPS = XG_K_BLOCK / 16 };

/* Shared memory: 64 rows of A and 64 columns of B in one k-block, high terms and low ones; then an
   mbarrier. */
enum { A_HIGH, A_LOW, B_HIGH, B_LOW, STAGE_PARTS };

/* The CTA's block of C, in the tiles of the kernel that it stands for. */
typedef struct {
    int row, column;           /* its first ones */
    int tile_row, tile_column; /* those of the tile of one of that kernel's CTAs */
    int tile;                  /* that kernel's number of the cluster tile */
} block_of_c;

XG_DEVICE block_of_c block_at(const xg_tensor_compact_args *p)
{
    block_of_c at;
    const int columns = xg_blocks_of(p->product.n, BLOCK);
    const int tiles_down = xg_blocks_of(p->product.m, p->tile_rows),
              tiles_along = xg_blocks_of(p->product.n, p->tile_columns);
    const int group_rows = XG_RASTER_ROWS / p->tile_rows;
    at.row = (int)(blockIdx.x / (unsigned)columns) * BLOCK;
    at.column = (int)(blockIdx.x % (unsigned)columns) * BLOCK;
    at.tile_row = at.row / XG_ROW_BLOCK * XG_ROW_BLOCK;
    at.tile_column = at.column / p->tile_columns * p->tile_columns;
    const int row = at.row / p->tile_rows, first = row / group_rows * group_rows;
    const int height = XG_MIN(group_rows, tiles_down - first);
    at.tile = first * tiles_along + at.column / p->tile_columns * height + row - first;
    return at;
}

/* The end of the part of k, in k-blocks, that begins at "from". */
XG_DEVICE int part_end(const xg_tensor_compact_args *p, int tile, int from, int k_blocks)
{
    const int of_stream_k = tile - (int)p->product.product.whole_tiles;
    const int share = (int)p->product.product.stream_k_iterations;
    if (of_stream_k < 0)
        return k_blocks;
    const int before = of_stream_k * k_blocks;
    return XG_MIN(((before + from) / share + 1) * share - before, k_blocks);
}

/* What copies of a k-block begin at, for one thread: its rows of A and its columns of B. */
typedef struct {
    const char *a, *b;
} operand_tiles;

XG_DEVICE operand_tiles operands_of(const xg_tensor_args *p, const xg_fp16_layout *layout,
                                    const block_of_c *at)
{
    const char *const terms = (const char *)p->workspace;
    const int64_t row_block = layout->k_blocks * layout->tile_bytes;
    operand_tiles from;
    from.a = terms + at->row / XG_ROW_BLOCK * row_block + at->row % XG_ROW_BLOCK * 128;
    from.b = terms + layout->b_terms + at->column / XG_ROW_BLOCK * row_block +
             at->column % XG_ROW_BLOCK * 128;
    return from;
}

XG_DEVICE void copy_k_block(unsigned shared, unsigned barrier, const operand_tiles *from,
                            int64_t offset)
{
    xg_mbarrier_arrive_expect_tx(barrier, STAGE_PARTS * HALF_BYTES);
    xg_bulk_copy(shared + A_HIGH * HALF_BYTES, from->a + offset, HALF_BYTES, barrier);
    xg_bulk_copy(shared + A_LOW * HALF_BYTES, from->a + offset + XG_TERM_BYTES, HALF_BYTES,
                 barrier);
    xg_bulk_copy(shared + B_HIGH * HALF_BYTES, from->b + offset, HALF_BYTES, barrier);
    xg_bulk_copy(shared + B_LOW * HALF_BYTES, from->b + offset + XG_TERM_BYTES, HALF_BYTES,
                 barrier);
}

/* mma (+)= a * b for some steps of 16 k. */
XG_DEVICE void multiply(float mma[ACCUMULATORS], unsigned a, unsigned b, int first, int steps,
                        int add)
{
    XG_UNROLL_BY(1)
    for (int k = first; k < first + steps; k++) {
        xg_wgmma_64x64x16(mma, xg_wgmma_descriptor_advance(xg_wgmma_descriptor(a), k),
                          xg_wgmma_descriptor_advance(xg_wgmma_descriptor(b), k), add);
        add = 1;
    }
}

XG_DEVICE void promote(float acc[ACCUMULATORS], float mma[ACCUMULATORS], float scale)
{
    xg_wgmma_pin(mma, ACCUMULATORS);
    XG_UNROLL
    for (int i = 0; i < ACCUMULATORS; i++)
        acc[i] += mma[i] * scale;
}

XG_DEVICE void clear(float acc[ACCUMULATORS])
{
    XG_UNROLL
    for (int i = 0; i < ACCUMULATORS; i++)
        acc[i] = 0.0f;
}

/* The products of the k-block in shared memory, high ones promoted "promotions" times. */
XG_DEVICE void multiply_k_block(float acc[ACCUMULATORS], float cross[ACCUMULATORS], unsigned shared,
                                int promotions, int promotes_cross)
{
    const unsigned a = shared + A_HIGH * HALF_BYTES, a_low = shared + A_LOW * HALF_BYTES,
                   b = shared + B_HIGH * HALF_BYTES, b_low = shared + B_LOW * HALF_BYTES;
    float high[ACCUMULATORS];
    xg_wgmma_fence();
    XG_UNROLL_BY(1)
    for (int i = 0; i < 2; i++)
        multiply(cross, i ? a : a_low, i ? b_low : b, 0, STEPS, i || !promotes_cross);
    xg_wgmma_commit();
    xg_wgmma_wait(0);
    xg_wgmma_pin(cross, ACCUMULATORS);
    if (promotes_cross)
        promote(acc, cross, 0x1p-11f);
    XG_UNROLL_BY(1)
    for (int i = 0; i < promotions; i++) {
        xg_wgmma_fence();
        multiply(high, a, b, i * STEPS / promotions, STEPS / promotions, 0);
        xg_wgmma_commit();
        xg_wgmma_wait(0);
        promote(acc, high, 1.0f);
    }
}

/* Where the loads of k-blocks and the phase of their mbarrier are. */
typedef struct {
    unsigned shared, barrier, parity;
    operand_tiles from;
} loads;

/*
 * The sums over a part of k. Cross products that are not promoted with each k-block are after
 * "flush" k-blocks, and then after XG_CROSS_BLOCKS each.
 */
XG_DEVICE void multiply_part(float acc[ACCUMULATORS], const xg_tensor_compact_args *p,
                             const xg_fp16_layout *layout, loads *in, int from, int to, int flush)
{
    const int promotions = xg_promotions(p->product.m, p->product.n, layout->k_blocks);
    float cross[ACCUMULATORS];
    clear(acc);
    clear(cross);
    XG_UNROLL_BY(1)
    for (int i = from; i < to; i++) {
        if (threadIdx.x == 0)
            copy_k_block(in->shared, in->barrier, &in->from, i * layout->tile_bytes);
        xg_mbarrier_wait(in->barrier, in->parity);
        in->parity ^= 1;
        multiply_k_block(acc, cross, in->shared, promotions, (int)p->promotes_cross);
        __syncthreads(); /* all have read the k-block */
        if (!p->promotes_cross && (--flush == 0 || i + 1 == to)) {
            promote(acc, cross, 0x1p-11f);
            clear(cross);
            flush = XG_CROSS_BLOCKS;
        }
    }
}

/* The sums over k, part after part. */
XG_DEVICE void multiply_parts(float sums[ACCUMULATORS], const xg_tensor_compact_args *p,
                              const xg_fp16_layout *layout, loads *in, int tile)
{
    const int flush = tile < (int)p->broken_tiles ? XG_CANCEL_BLOCKS : XG_CROSS_BLOCKS;
    int from = 0;
    XG_UNROLL_BY(1)
    while (from < layout->k_blocks) {
        float acc[ACCUMULATORS];
        const int to = part_end(p, tile, from, layout->k_blocks);
        multiply_part(acc, p, layout, in, from, to, flush);
        XG_UNROLL
        for (int i = 0; i < ACCUMULATORS; i++)
            sums[i] = from > 0 ? sums[i] + acc[i] : acc[i];
        from = to;
    }
}

/* A warp: the disposition of the tile of the kernel that this one stands for. */
XG_DEVICE unsigned disposition_of(const xg_tensor_compact_args *p, const xg_fp16_layout *layout,
                                  const block_of_c *at)
{
    const xg_row_stats *const stats =
        (const xg_row_stats *)(const void *)((const char *)p->product.workspace + layout->stats);
    const xg_tile_stats rows = {stats + at->tile_row,
                                stats + layout->a_blocks * XG_ROW_BLOCK + at->tile_column,
                                XG_ROW_BLOCK, p->tile_columns};
    return xg_disposition_of(&rows, 1);
}

/* Floats of A's rows, then of B's columns, from the CTA's first ones on. */
typedef struct {
    const float *a, *b;
} line_floats;

XG_DEVICE line_floats lines_at(const xg_tensor_args *p, int64_t there, const xg_fp16_layout *layout,
                               const block_of_c *at)
{
    const float *const all = (const float *)(const void *)((const char *)p->workspace + there);
    const line_floats lines = {all + at->row, all + layout->a_blocks * XG_ROW_BLOCK + at->column};
    return lines;
}

/* An element of C, in the block's row and column, from its sum. */
XG_DEVICE void store(const xg_tensor_args *p, const block_of_c *at, const line_floats *scales,
                     int row, int column, float sum)
{
    const int64_t m = at->row + row, n = at->column + column;
    float x = sum * scales->a[row] * scales->b[column];
    if (m >= p->m || n >= p->n)
        return;
    if (xg_has_last_k(p->k, p->k_blocks))
        x = xg_full_with_last_k(x, p->a[m * p->a_stride_m + (p->k - 1) * p->a_stride_k],
                                p->b[n * p->b_stride_n + (p->k - 1) * p->b_stride_k]);
    p->c[m * p->c_stride_m + n] = p->alpha * x;
}

/* Stores the block, by way of shared memory, and returns how many of the thread's elements are
   suspect. */
XG_DEVICE unsigned store_block(const xg_tensor_compact_args *p, const xg_fp16_layout *layout,
                               const block_of_c *at, unsigned disposition,
                               const float sums[ACCUMULATORS], float *block)
{
    const line_floats bounds = lines_at(&p->product, layout->bounds, layout, at),
                      scales = lines_at(&p->product, layout->a_scales, layout, at);
    const int checked = (disposition & XG_TILE_PATH) == XG_TILE_CHECKED;
    const int lane = (int)xg_lane(), first_row = (int)threadIdx.x / 32 * 16;
    unsigned suspects = 0;
    XG_UNROLL
    for (int i = 0; i < ACCUMULATORS; i++)
        block[(first_row + element_row(lane, i)) * BLOCK + element_column(lane, i)] = sums[i];
    __syncthreads();
    XG_UNROLL_BY(1)
    for (int i = (int)threadIdx.x; i < BLOCK * BLOCK; i += (int)blockDim.x) {
        const int row = i / BLOCK, column = i % BLOCK;
        const float sum = block[i];
        if (checked && !(fabsf(sum) >= xg_guard_threshold(bounds.a[row], bounds.b[column])))
            suspects++;
        store(&p->product, at, &scales, row, column, sum);
    }
    return suspects;
}

/* A product of elements of an edge strip's X and y; 0 beyond the end of k. */
XG_DEVICE float strip_product(const xg_tensor_args *p, int below, const float *x, const float *y,
                              int k, float sum)
{
    const float x_value = k < p->k ? x[(int64_t)k * xg_strip_x_k_stride(p, below)] : 0.0f;
    const float y_value = k < p->k ? y[(int64_t)k * xg_strip_y_k_stride(p, below)] : 0.0f;
    return sum + x_value * y_value;
}

/*
 * A warp: an edge strip tile, with the sums of edge_strips.h. "k" is rounded up to the depth there.
 * An X that is K-major has every 32nd k of a row in a lane; else a lane has every fourth k of its
 * row, by turns in two sums.
 */
XG_DEVICE void compute_strip(const xg_tensor_args *p, int below, int tile, int k)
{
    enum { ROWS = XG_STRIP_TILE, PHASES = 32 / ROWS };
    const int lane = (int)xg_lane(), phase = lane / ROWS;
    const int64_t stride = xg_strip_x_stride(p, below);
    const float *const x = xg_strip_x(p, below, ROWS, tile), *const y = xg_strip_y(p, below, tile);
    if (xg_strip_is_k_major(p, below)) {
        XG_UNROLL_BY(1)
        for (int row = 0; row < ROWS; row++) {
            float sum = 0.0f;
            for (int l = lane; l < k; l += 32)
                sum = strip_product(p, below, x + row * stride, y, l, sum);
            sum = xg_sum_lanes(sum, 16, 1);
            if (lane == 0)
                xg_strip_store(p, below, ROWS, tile, row, sum);
        }
        return;
    }
    float first = 0.0f, second = 0.0f;
    for (int l = phase; l < k; l += 2 * PHASES) {
        first = strip_product(p, below, x + lane % ROWS * stride, y, l, first);
        second = strip_product(p, below, x + lane % ROWS * stride, y, l + PHASES, second);
    }
    const float total = xg_sum_lanes(first + second, 16, ROWS);
    if (phase == 0)
        xg_strip_store(p, below, ROWS, tile, lane, total);
}

/* A warp: edge strip tiles, as long as there are any. */
XG_DEVICE void compute_strips(const xg_tensor_compact_args *p, xg_recompute *counts)
{
    const int depth = XG_STRIP_DEPTH(p->tile_columns);
    const int k = xg_blocks_of(p->product.k, depth) * depth;
    for (;;) {
        int task = xg_lane() == 0 ? xg_strip_take(&p->product, counts) : 0;
        task = __shfl_sync(0xffffffffu, task, 0);
        if (task < 0)
            break;
        compute_strip(&p->product, task % 2, task / 2, k);
    }
}

XG_KERNEL(__launch_bounds__(128), fp16x3_compact, xg_tensor_compact_args)
{
    XG_DYNAMIC_SHARED(char, memory);
    const xg_tensor_args *const of = &p.product;
    const xg_fp16_layout layout =
        xg_fp16_layout_in(xg_row_blocks(of->m), xg_row_blocks(of->n), (int)of->k_blocks, 2);
    const block_of_c at = block_at(&p);
    const unsigned disposition = disposition_of(&p, &layout, &at);
    const int computed =
        !(xg_is_recomputed(disposition) || disposition & (XG_TILE_NOT_FINITE | XG_TILE_FAR_SCALES));
    unsigned not_computed = threadIdx.x == 0;
    if (computed) {
        float sums[ACCUMULATORS];
        const unsigned shared = xg_shared_address(memory);
        loads in = {shared, shared + STAGE_PARTS * HALF_BYTES, 0, operands_of(of, &layout, &at)};
        if (threadIdx.x == 0) {
            xg_mbarrier_init(in.barrier, 1);
            xg_mbarrier_init_fence();
            xg_fence_proxy_async_global(); /* the split kernel wrote by the generic proxy */
        }
        __syncthreads();
        multiply_parts(sums, &p, &layout, &in, at.tile);
        not_computed = store_block(&p, &layout, &at, disposition, sums, (float *)(void *)memory);
    }
    xg_recompute *const counts = (xg_recompute *)(void *)((char *)of->workspace + layout.recompute);
    if (not_computed > 0)
        atomicAdd(&counts->recomputed, (unsigned long long)not_computed);
    if ((of->rows_below | of->columns_beside) != 0)
        compute_strips(&p, counts);
}
