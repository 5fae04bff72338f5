/* SPDX-License-Identifier: BSD-3-Clause */
/* A matrix of 4 by 4 that a thread holds in registers. */
#ifndef XGEMM_KERNELS_TRANSPOSE_H
#define XGEMM_KERNELS_TRANSPOSE_H

#include "dialect.h"

/* A row of its transpose. The number is to be a constant after unrolling. */
XG_DEVICE float4 xg_transposed(const float4 *x, int row)
{
    const float4 rows[4] = {{x[0].x, x[1].x, x[2].x, x[3].x},
                            {x[0].y, x[1].y, x[2].y, x[3].y},
                            {x[0].z, x[1].z, x[2].z, x[3].z},
                            {x[0].w, x[1].w, x[2].w, x[3].w}};
    return rows[row];
}

#endif
