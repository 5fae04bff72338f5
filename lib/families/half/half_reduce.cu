/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * half_reduce: tiles of C whose k was split (args.h): their sums, added up in the same order each
 * time, and the epilogue. A CTA has some rows of a tile, and a thread four neighbours; or "ways"
 * threads have these, and thread i of them adds up splits i, i + ways and so on. The grid's x is
 * the tile and the rows, and z the product of a batch.
 */
#include "args.h"
#include "families/common/batch.h"
#include "families/common/raster.h"
#include "store_four.h"

#define THREADS 256

XG_KERNEL(__launch_bounds__(THREADS), half_reduce, xg_half_reduce_args)
{
    __shared__ float4 subtotals[THREADS];
    const unsigned threads = THREADS / p.ways; /* of a way */
    const unsigned way = threadIdx.x / threads, thread = threadIdx.x % threads;
    const unsigned in_row = p.tile_n / 4, rows = threads / in_row;
    const unsigned slabs = (p.tile_rows + rows - 1) / rows, tile = blockIdx.x / slabs;
    const unsigned row_in_tile = (blockIdx.x - tile * slabs) * rows + thread / in_row;
    const unsigned column_in_tile = thread % in_row * 4, group = XG_RASTER_ROWS / p.tile_m;
    const xg_raster_tile at = xg_raster_tile_of(p.whole + tile, p.rows, group * p.columns, group);
    const int64_t row = (int64_t)at.m * p.tile_m + row_in_tile;
    const int64_t column = (int64_t)at.n * p.tile_n + column_in_tile;
    const int64_t tile_floats = (int64_t)p.tile_rows * p.tile_n;
    const int inside = row < p.m && column < p.n && row_in_tile < p.tile_rows;
    float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};

    xg_pdl_wait();
    xg_pdl_trigger();
    if (inside) {
        const float *const from = p.sums +
                                  (XG_BATCH * p.splits * p.split_tiles + tile) * tile_floats +
                                  row_in_tile * p.tile_n + column_in_tile;
        XG_UNROLL_BY(8)
        for (unsigned i = way; i < p.splits; i += p.ways)
            xg_add_four(&sum, *(const float4 *)(const void *)(from + i * p.split_tiles *
                                                                         tile_floats));
    }
    if (p.ways > 1) {
        subtotals[threadIdx.x] = sum;
        __syncthreads();
        for (unsigned other = 1; way == 0 && other < p.ways; other++)
            xg_add_four(&sum, subtotals[other * threads + thread]);
    }
    if (inside && way == 0) {
        const int bytes = p.epilogue.type_c == XG_TYPE_F32 ? 4 : 2;
        const xg_stored to = {(char *)xg_matrix_of_batch(p.c, p.c_batch_stride, bytes), p.m, p.n,
                              p.c_stride_m, (int)p.by_four};
        xg_store_four(&p.epilogue, &to, row, column, sum);
    }
}
