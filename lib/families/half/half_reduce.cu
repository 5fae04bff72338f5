/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * half_reduce: tiles of C whose k was split (args.h): their sums, added up in order, and the
 * epilogue. A CTA has some rows of a tile, and a thread four neighbours; the grid's x is the tile
 * and the rows, and z the product of a batch.
 */
#include "args.h"
#include "families/common/epilogue_typed.h"
#include "families/common/raster.h"

#define THREADS 256

/* Stores four neighbours, of which some may be outside. */
XG_DEVICE void store_four(const xg_half_reduce_args *p, const xg_scalars_f32 *by, char *c,
                          int64_t row, int64_t column, float4 sum)
{
    const float sums[4] = {sum.x, sum.y, sum.z, sum.w};
    XG_UNROLL
    for (int i = 0; i < 4; i++)
        if (column + i < p->n)
            xg_store_real_f32(&p->epilogue, by, c, row * p->c_stride_m + column + i, row,
                              column + i, sums[i]);
}

XG_KERNEL(__launch_bounds__(THREADS), half_reduce, xg_half_reduce_args)
{
    const unsigned in_row = p.tile_n / 4, rows = THREADS / in_row;
    const unsigned slabs = (p.tile_rows + rows - 1) / rows;
    const unsigned tile = blockIdx.x / slabs;
    const unsigned row_in_tile = (blockIdx.x - tile * slabs) * rows + threadIdx.x / in_row;
    const unsigned column_in_tile = threadIdx.x % in_row * 4;
    const unsigned group = 2048 / p.tile_m;
    const xg_raster_tile at = xg_raster_tile_of(p.whole + tile, p.rows, group * p.columns, group);
    const int64_t row = (int64_t)at.m * p.tile_m + row_in_tile;
    const int64_t column = (int64_t)at.n * p.tile_n + column_in_tile;
    const int64_t tile_floats = (int64_t)p.tile_rows * p.tile_n;
    const int bytes = p.epilogue.type_c == XG_TYPE_F32 ? 4 : 2;

    xg_pdl_wait();
    xg_pdl_trigger();
    if (row >= p.m || column >= p.n || row_in_tile >= p.tile_rows)
        return;
    const xg_scalars_f32 by = xg_scalars_of_f32(&p.epilogue);
    char *const c = p.c_batch_stride == XG_POINTER_ARRAYS
                        ? ((char *const *)p.c)[XG_BATCH]
                        : (char *)p.c + XG_BATCH * p.c_batch_stride * bytes;
    const float *const from = p.sums + (XG_BATCH * p.splits * p.tails + tile) * tile_floats +
                              row_in_tile * p.tile_n + column_in_tile;
    float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
    XG_UNROLL_BY(4)
    for (unsigned i = 0; i < p.splits; i++) {
        const float4 part = *(const float4 *)(const void *)(from + i * p.tails * tile_floats);
        sum.x += part.x, sum.y += part.y, sum.z += part.z, sum.w += part.w;
    }
    store_four(&p, &by, c, row, column, sum);
}
