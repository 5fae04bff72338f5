/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles of lib/kernels/full_range.h by themselves: "list" has the rows' scales, then the columns'.
 */
#include "kernels/dialect.h"
#include "kernels/full_range.h"

XG_DEVICE void multiply(const xg_args *p, const xg_full_place_of_c *to, xg_full_shape shape,
                               const char *shared, const float *factors)
{
    float sum[64];
    xg_full_multiply_tile(p, shape, shared, sum);
    xg_full_store(p, sum, to, shape.columns, factors);
}

XG_KERNEL
void __launch_bounds__(512, 1) xg_full_range(const xg_args p)
{
    XG_DYNAMIC_SHARED(char, memory);
    enum { ROWS = XG_FULL_RANGE_ROWS };
    float *const factors = (float *)(void *)(memory + XG_FULL_RANGE_BYTES);
    const float *const scales = (const float *)p.list;
    const int columns = p.k_part == 64 ? 64 : 128, finite = p.b_batch == 0; /* of a tile */
    const xg_full_shape narrow = {64, 256}, wide = {128, 256};
    const int64_t all_rows = (p.m + ROWS - 1) / ROWS, all_columns = (p.n + columns - 1) / columns;
    for (int64_t tile = blockIdx.x; tile < all_rows * all_columns; tile += gridDim.x) {
        const int row = (int)(tile % all_rows) * ROWS, column = (int)(tile / all_rows) * columns;
        const xg_full_place_of_c to = {row, column, columns, 0xff};
        const float *const row_scales = scales + row;
        const float *const column_scales = scales + all_rows * ROWS + column;
        xg_group_sync(1, 512);
        if (threadIdx.x / 128 % 3 == 0 && columns == 64)
            xg_full_split_tile(&p, &to, narrow, finite, memory, factors, row_scales, column_scales);
        else if (threadIdx.x / 128 % 3 == 0)
            xg_full_split_tile(&p, &to, wide, finite, memory, factors, row_scales, column_scales);
        else
            multiply(&p, &to, columns == 64 ? narrow : wide, memory, factors);
    }
}
