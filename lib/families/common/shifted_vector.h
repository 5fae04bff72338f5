/* SPDX-License-Identifier: BSD-3-Clause */
/* A vector of eight 16-bit elements out of two neighbouring ones, which are aligned to 16 bytes. */
#ifndef XGEMM_KERNELS_SHIFTED_VECTOR_H
#define XGEMM_KERNELS_SHIFTED_VECTOR_H

#include "dialect.h"

/* Elements number "shift", 0 to 7, and the seven that follow it. */
XG_DEVICE uint4 xg_shifted_vector(uint4 low, uint4 high, int shift)
{
    const unsigned words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    unsigned by_two[7], by_four[5], x[4];
    XG_UNROLL
    for (int i = 0; i < 7; i++)
        by_two[i] = xg_select_bits(shift & 2, words[i + 1], words[i]);
    XG_UNROLL
    for (int i = 0; i < 5; i++)
        by_four[i] = xg_select_bits(shift & 4, by_two[i + 2], by_two[i]);
    XG_UNROLL
    for (int i = 0; i < 4; i++)
        x[i] = shift & 1 ? by_four[i] >> 16 | by_four[i + 1] << 16 : by_four[i];
    const uint4 four = {x[0], x[1], x[2], x[3]};
    return four;
}

#endif
