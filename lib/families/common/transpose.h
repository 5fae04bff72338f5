/* SPDX-License-Identifier: BSD-3-Clause */
/* The transpose of a 4 x 4 matrix in registers. */
#ifndef XGEMM_KERNELS_TRANSPOSE_H
#define XGEMM_KERNELS_TRANSPOSE_H

#include "dialect.h"

/* Row number "row" of the transpose; a constant after unrolling, so that nothing is moved. */
XG_DEVICE float4 xg_transpose4x4_row(const float4 *x, int row)
{
    const float4 rows[4] = {{x[0].x, x[1].x, x[2].x, x[3].x},
                            {x[0].y, x[1].y, x[2].y, x[3].y},
                            {x[0].z, x[1].z, x[2].z, x[3].z},
                            {x[0].w, x[1].w, x[2].w, x[3].w}};
    return rows[row];
}

#endif
