/* SPDX-License-Identifier: BSD-3-Clause */
/* The epilogue of half_reduce.cu, where a thread has four neighbours' sums. */
#ifndef XGEMM_HALF_STORE_FOUR_H
#define XGEMM_HALF_STORE_FOUR_H

#include "families/common/epilogue_typed.h"

/* Where C is, and how it is stored. */
typedef struct {
    char *c;
    int64_t m, n, stride_m;
    int by_four; /* the epilogue is a product by alpha, and rows are aligned to 16 bytes */
} xg_stored;

XG_DEVICE void xg_add_four(float4 *sum, float4 part)
{
    sum->x += part.x, sum->y += part.y, sum->z += part.z, sum->w += part.w;
}

/* Stores four neighbours of a row, of which some may be outside; "column" is a multiple of 4. */
XG_DEVICE void xg_store_four(const xg_epilogue_args *p, const xg_stored *to, int64_t row,
                             int64_t column, float4 sum)
{
    const xg_scalars_f32 by = xg_scalars_of_f32(p);
    const float sums[4] = {sum.x, sum.y, sum.z, sum.w};
    const int64_t at = row * to->stride_m + column;
    if (to->by_four) {
        const float alpha = by.alpha[0];
        if (p->type_c == XG_TYPE_F32) {
            const float4 four = {sum.x * alpha, sum.y * alpha, sum.z * alpha, sum.w * alpha};
            *(float4 *)(void *)(to->c + 4 * at) = four;
        } else {
            uint16_t bits[4];
            XG_UNROLL
            for (int i = 0; i < 4; i++)
                xg_store_f32_as(bits, i, p->type_c, sums[i] * alpha);
            const uint2 two = {bits[0] | (unsigned)bits[1] << 16,
                               bits[2] | (unsigned)bits[3] << 16};
            *(uint2 *)(void *)(to->c + 2 * at) = two;
        }
        return;
    }
    XG_UNROLL
    for (int i = 0; i < 4; i++)
        if (column + i < to->n)
            xg_store_real_f32(p, &by, to->c, at + i, row, column + i, sums[i]);
}

#endif
