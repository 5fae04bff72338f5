/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles of lib/families/tensor/full_range.h by themselves: the workspace has the rows' scales,
 * then the columns'.
 */
#include "args.h"
#include "families/common/dialect.h"
#include "families/tensor/full_range.h"

XG_DEVICE void split_tile(const xg_full_range_args *args, const xg_full_target *to,
                          xg_full_shape shape, int classes, char *shared, float *factors)
{
    const xg_tensor_args *const p = &args->product;
    const float *const scales = (const float *)p->workspace;
    const int64_t rows = (p->m + XG_FULL_RANGE_ROWS - 1) / XG_FULL_RANGE_ROWS * XG_FULL_RANGE_ROWS;
    xg_full_split_tile(p, to, shape, !args->special, classes, shared, factors, scales + to->row,
                       scales + rows + to->column);
}

XG_DEVICE void multiply_tile(const xg_tensor_args *p, const xg_full_target *to, xg_full_shape shape,
                             int classes, const char *shared, const float *factors)
{
    float sum[64];
    XG_WRITTEN_FIRST xg_full_sums sums;
    if (classes) {
        xg_full_store_classes(p, to, shape, 0, shared);
        return;
    }
    xg_full_multiply_tile(p, shape, shared, sum);
    xg_full_keep(sum, shape.columns, &sums);
    for (int n = 0; n < shape.columns / 8; n++)
        xg_full_store(p, sums.vec4[n], n, to, shape.columns, factors);
}

XG_KERNEL(__launch_bounds__(512, 1), full_range, xg_full_range_args)
{
    XG_DYNAMIC_SHARED(char, memory);
    enum { ROWS = XG_FULL_RANGE_ROWS };
    float *const factors = (float *)(void *)(memory + XG_FULL_RANGE_BYTES);
    const int columns = p.columns == 64 ? 64 : 128; /* of a tile */
    const xg_full_shape narrow = {64, 256}, wide = {128, 256};
    const int64_t all_rows = (p.product.m + ROWS - 1) / ROWS,
                  all_columns = (p.product.n + columns - 1) / columns;
    const int64_t passes = p.special ? 2 : 1; /* over a tile; where it is not finite two */
    for (int64_t i = blockIdx.x * passes; i < all_rows * all_columns * passes;
         i += i % passes < passes - 1 ? 1 : gridDim.x * passes - (passes - 1)) {
        const int64_t tile = i / passes;
        const int row = (int)(tile % all_rows) * ROWS, column = (int)(tile / all_rows) * columns;
        const xg_full_target to = {row, column, columns, 0xff};
        const int classes = (int)(i % passes);
        xg_named_barrier_sync(1, 512);
        if (threadIdx.x / 128 % 3 == 0 && columns == 64)
            split_tile(&p, &to, narrow, classes, memory, factors);
        else if (threadIdx.x / 128 % 3 == 0)
            split_tile(&p, &to, wide, classes, memory, factors);
        else if (columns == 64)
            multiply_tile(&p.product, &to, narrow, classes, memory, factors);
        else
            multiply_tile(&p.product, &to, wide, classes, memory, factors);
    }
}
