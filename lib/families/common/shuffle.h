/* SPDX-License-Identifier: BSD-3-Clause */
/* Doubles that the lanes of a warp exchange. */
#ifndef XGEMM_KERNELS_SHUFFLE_H
#define XGEMM_KERNELS_SHUFFLE_H

#include "dialect.h"

/* As xg_select(). */
XG_DEVICE double xg_select_f64(int condition, double x, double y)
{
    return condition ? x : y;
}

/* The other lane's double, of all lanes of the warp: the one whose number differs in these bits. */
XG_DEVICE double xg_shuffle_xor_f64(double x, int bits)
{
    union {
        double whole;
        unsigned half[2];
    } of;
    of.whole = x;
    of.half[0] = __shfl_xor_sync(0xffffffffu, of.half[0], bits);
    of.half[1] = __shfl_xor_sync(0xffffffffu, of.half[1], bits);
    return of.whole;
}

#endif
