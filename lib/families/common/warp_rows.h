/* SPDX-License-Identifier: BSD-3-Clause */
/* Eight rows' sums of each thread, over the threads of a warp. */
#ifndef XGEMM_KERNELS_WARP_ROWS_H
#define XGEMM_KERNELS_WARP_ROWS_H

#include "dialect.h"

/*
 * A step of the reduction: a thread gives half of its accumulators to its partner and adds the
 * other half of the partner's. Returns the first row of those that it has now.
 */
XG_DEVICE int xg_warp_rows_halve(float acc[8], int half, int bits)
{
    const int upper = (threadIdx.x & bits) != 0;
    XG_UNROLL
    for (int i = 0; i < half; i++) {
        const float given = xg_select(upper, acc[i], acc[i + half]);
        acc[i] =
            xg_select(upper, acc[i + half], acc[i]) + __shfl_xor_sync(0xffffffffu, given, bits);
    }
    return upper ? half : 0;
}

/* Reduces over the warp, to total[row]. */
XG_DEVICE void xg_warp_rows_total(float acc[8], float *total)
{
    int row = xg_warp_rows_halve(acc, 4, 16);
    row += xg_warp_rows_halve(acc, 2, 8);
    row += xg_warp_rows_halve(acc, 1, 4);
    acc[0] += __shfl_xor_sync(0xffffffffu, acc[0], 2);
    acc[0] += __shfl_xor_sync(0xffffffffu, acc[0], 1);
    if (threadIdx.x % 4 == 0) /* the others have the same */
        total[row] = acc[0];
}

#endif
