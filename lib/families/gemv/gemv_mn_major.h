/* SPDX-License-Identifier: BSD-3-Clause */
/* The geometry of gemv_mn_major.cu, which cost.c and build.c need, too. */
#ifndef XGEMM_KERNELS_GEMV_MN_MAJOR_H
#define XGEMM_KERNELS_GEMV_MN_MAJOR_H

#include <stdint.h>

enum {
    /* Warps of a CTA: the more there are, the fewer CTAs divide k among them. */
    XG_GEMV_MN_WARPS_LEAST = 4,
    XG_GEMV_MN_WARPS_MOST = 16,
    XG_GEMV_MN_ROWS = 32, /* elements of C that a CTA computes */
    /* Loads of a thread in an iteration, four floats each; one more than 16, so that a k that is a
     * little above a power of two takes no iteration more. */
    XG_GEMV_MN_LOADS = 17,
    XG_GEMV_MN_WARP_K = 4 * XG_GEMV_MN_LOADS, /* a warp's k of an iteration */
    XG_GEMV_MN_CLUSTER = 8                    /* the most CTAs that divide k among them */
};

/* The CTA's dynamic shared memory. */
typedef struct {
    float y[XG_GEMV_MN_WARPS_MOST][XG_GEMV_MN_WARP_K];
    float total[XG_GEMV_MN_WARPS_MOST][XG_GEMV_MN_ROWS];
    float inbox[XG_GEMV_MN_CLUSTER - 1][XG_GEMV_MN_ROWS]; /* of the cluster's first CTA */
    uint64_t arrival;                                     /* an mbarrier: the inbox is full */
} xg_gemv_mn_shared;

#endif
