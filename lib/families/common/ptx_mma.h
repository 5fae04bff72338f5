/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products of FP16 and BF16 on a warp's tensor cores, and the loads of their fragments: for any GPU
 * from compute capability 8.0 on. The simulator's models of them: backend/sim/mma.c.
 */
#ifndef XGEMM_KERNELS_PTX_MMA_H
#define XGEMM_KERNELS_PTX_MMA_H

#include "ptx.h"

#ifdef __CUDACC__
/*
 * ldmatrix: four matrices of 8 x 8 elements of 16 bits, from shared memory. Lane i gives the
 * address of row i % 8 of matrix i / 8: 16 bytes, aligned to that. With g = lane / 4 and t = lane %
 * 4 a thread receives of each matrix the elements (g, 2t) and (g, 2t + 1); transposed, those of
 * (2t, g) and (2t + 1, g).
 */
XG_DEVICE void xg_ldmatrix_x4(unsigned to[4], const void *from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(xg_shared_address(from)));
}

XG_DEVICE void xg_ldmatrix_x4_trans(unsigned to[4], const void *from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(xg_shared_address(from)));
}

/* A fragment of 16 rows, or columns, by 16 k of an operand of either major; for which a lane gives
   an address by XG_LANE_BIT_3 and _4. */
XG_DEVICE void xg_ldmatrix_x4_of(unsigned to[4], int k_major, const void *from)
{
    if (k_major)
        xg_ldmatrix_x4(to, from);
    else
        xg_ldmatrix_x4_trans(to, from);
}

/*
 * mma.m16n8k16: d += A * B, A 16 x 16 and B 16 x 8 of a type, "f16" or "bf16", d in FP32; fragments
 * as those of xg_mma_bf16().
 */
#define XG_MMA_16x8x16(type, d, a, b)                                                              \
    asm("mma.sync.aligned.m16n8k16.row.col.f32." type "." type ".f32 {%0, %1, %2, %3}, "           \
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                                            \
        : "+f"((d)[0]), "+f"((d)[1]), "+f"((d)[2]), "+f"((d)[3])                                   \
        : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"((b)[0]), "r"((b)[1]))
#else
/* Of the trace each lane's row is an access of 16 bytes; eight are served at once, as on the card.
 */
#define XG_SIM_LDMATRIX(to, from, transposed)                                                      \
    __extension__({                                                                                \
        const void *const xg_from = (from);                                                        \
        XG_SIM_TRACE(xg_from, 16, XG_SIM_READ);                                                    \
        xg_sim_ldmatrix(to, xg_from, transposed, XG_SIM_HERE);                                     \
    })
#define xg_ldmatrix_x4(to, from)             XG_SIM_LDMATRIX(to, from, 0)
#define xg_ldmatrix_x4_trans(to, from)       XG_SIM_LDMATRIX(to, from, 1)
#define xg_ldmatrix_x4_of(to, k_major, from) XG_SIM_LDMATRIX(to, from, !(k_major))
#define XG_MMA_16x8x16(type, d, a, b)        xg_sim_mma_half(d, a, b, (type)[0] == 'b', XG_SIM_HERE)
#endif

/* Bits 3 and 4 of a lane's number. */
#define XG_LANE_BIT_3 ((int)threadIdx.x / 8 & 1)
#define XG_LANE_BIT_4 ((int)threadIdx.x / 16 & 1)

#endif
