/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums over the CTAs of a cluster, one of each of a CTA's first threads: the others send theirs to
 * the shared memory of the first CTA, which adds them up in the order of ranks; they need not stay.
 */
#ifndef XGEMM_KERNELS_CLUSTER_SUM_H
#define XGEMM_KERNELS_CLUSTER_SUM_H

#include "ptx_sm90.h"

/* Initialises the first CTA's mbarrier. Nobody sends before xg_cluster_wait(), which is to follow.
 */
XG_DEVICE void xg_cluster_sum_begin(unsigned arrival)
{
    if (xg_cluster_rank() == 0 && threadIdx.x == 0) {
        xg_mbarrier_init(arrival, 1);
        xg_mbarrier_init_fence();
    }
    xg_cluster_arrive_relaxed();
}

/*
 * For each threadIdx.x below "count": the sum of "own" over the cluster's "ctas" CTAs, in the order
 * of ranks, in the first of them. "inbox" is its shared memory, for (most - 1) * count floats,
 * where a cluster has at most "most" CTAs.
 */
XG_DEVICE float xg_cluster_sum(float *inbox, unsigned count, unsigned most, unsigned arrival,
                               unsigned ctas, float own)
{
    const unsigned rank = xg_cluster_rank();
    if (rank > 0) {
        xg_cluster_store(xg_shared_address(&inbox[(rank - 1) * count + threadIdx.x]), 0,
                         xg_bits_of(own), arrival);
        return 0.0f;
    }
    if (threadIdx.x == 0) /* some may have arrived already */
        xg_mbarrier_arrive_expect_tx(arrival, (ctas - 1) * count * (unsigned)sizeof(float));
    xg_mbarrier_wait(arrival, 0);
    XG_UNROLL
    for (unsigned other = 1; other < most; other++)
        if (other < ctas)
            own += inbox[(other - 1) * count + threadIdx.x];
    return own;
}

#endif
