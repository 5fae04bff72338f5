/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles of lib/kernels/full_range.h by themselves: "list" has the rows' scales, then the columns'.
 */
#include "kernels/dialect.h"
#include "kernels/full_range.h"

XG_KERNEL
void __launch_bounds__(384, 1) xg_full_range(const xg_args p)
{
    XG_DYNAMIC_SHARED(char, memory);
    if (threadIdx.x < 128) {
        xg_registers_to_less(40);
    } else {
        xg_registers_to_more(216);
        const int64_t all_rows = (p.m + XG_FULL_RANGE_TILE - 1) / XG_FULL_RANGE_TILE;
        const int64_t all_columns = (p.n + XG_FULL_RANGE_TILE - 1) / XG_FULL_RANGE_TILE;
        const float *const scales = (const float *)p.list;
        for (int64_t tile = blockIdx.x; tile < all_rows * all_columns; tile += gridDim.x) {
            const int row = (int)(tile % all_rows) * XG_FULL_RANGE_TILE;
            const int column = (int)(tile / all_rows) * XG_FULL_RANGE_TILE;
            const xg_full_place_of_c to = {row, column, XG_FULL_RANGE_TILE, 0xff};
            xg_full_range_tile(&p, &to, memory, (float *)(void *)(memory + XG_FULL_RANGE_BYTES),
                               scales + row, scales + all_rows * XG_FULL_RANGE_TILE + column);
        }
    }
}
