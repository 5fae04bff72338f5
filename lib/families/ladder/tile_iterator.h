/* SPDX-License-Identifier: BSD-3-Clause */
/* What a thread of the register-tiled kernels loads of an operand's tile. */
#ifndef XGEMM_KERNELS_TILE_ITERATOR_H
#define XGEMM_KERNELS_TILE_ITERATOR_H

#include "families/common/dialect.h"

/*
 * The thread's first load is at (mn, k) of the tile, mn being A's row or B's column; each further
 * load is (delta_mn, delta_k) after the one before, and "stride" elements in memory.
 */
typedef struct {
    const float *from;
    int64_t stride;
    int mn, k, delta_mn, delta_k, k_major;
} xg_tile_iterator;

/* Consecutive threads load consecutive addresses, "vector" elements each. */
XG_DEVICE xg_tile_iterator xg_tile_iterator_of(const float *matrix, int64_t stride_mn,
                                               int64_t stride_k, int tile, int depth, int threads,
                                               int vector)
{
    const int t = (int)threadIdx.x;
    xg_tile_iterator of;
    of.k_major = stride_k == 1;
    of.mn = of.k_major ? t / (depth / vector) : t % (tile / vector) * vector;
    of.k = of.k_major ? t % (depth / vector) * vector : t / (tile / vector);
    of.delta_mn = of.k_major ? threads / (depth / vector) : 0;
    of.delta_k = of.k_major ? 0 : threads / (tile / vector);
    of.from = matrix + of.mn * stride_mn + of.k * stride_k;
    of.stride = of.delta_mn * stride_mn + of.delta_k * stride_k;
    return of;
}

#endif
