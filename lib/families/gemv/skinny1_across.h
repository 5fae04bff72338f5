/* SPDX-License-Identifier: BSD-3-Clause */
/* The geometry of skinny1_across.cu, which who launches it has to know. */
#ifndef XGEMM_KERNELS_SKINNY1_ACROSS_H
#define XGEMM_KERNELS_SKINNY1_ACROSS_H

#include <stdint.h>

enum {
    /* A block's: with more of them fewer blocks have sums to add up. */
    XG_ACROSS_WARPS_LEAST = 4,
    XG_ACROSS_WARPS_MOST = 16,
    XG_ACROSS_LINES = 32,
    /* Of a step: what a thread loads at once, four words each; with one more than 2^i a part of
     * 2^i + 1 elements takes no step more than one of 2^i. */
    XG_ACROSS_FOURS = 17,
    XG_ACROSS_STEP = 4 * XG_ACROSS_FOURS, /* a warp's k */
    XG_ACROSS_CLUSTER = 8                 /* the most blocks that add up their parts of k */
};

/* The block's dynamic shared memory. */
typedef struct {
    float y[XG_ACROSS_WARPS_MOST][XG_ACROSS_STEP];
    float total[XG_ACROSS_WARPS_MOST][XG_ACROSS_LINES];
    float inbox[XG_ACROSS_CLUSTER - 1][XG_ACROSS_LINES]; /* in the cluster's first block */
    uint64_t arrival;                                    /* a barrier: the inbox is full */
} xg_across_shared;

#endif
