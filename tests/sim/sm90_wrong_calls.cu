/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls wrong in any kernel: call N must fail with wrong_calls[N] of sm90_wrong_calls.c. */
#include "args.h"
#include "families/common/dialect.h"
#include "families/common/ptx_wgmma.h"

#include "sm90_kernels.h"

/* Each makes the wrong call "which" if that is one of its own. */
XG_DEVICE void xg_use_barrier_wrongly(int64_t which, unsigned barrier)
{
    if (which == CALL_WAIT_UNINITIALIZED)
        xg_mbarrier_wait(barrier + 8, 0);
    if (which == CALL_INIT_TWICE)
        xg_mbarrier_init(barrier, 1);
    if (which == CALL_INIT_NO_ARRIVALS)
        xg_mbarrier_init(barrier + 8, 0);
    if (which == CALL_ARRIVE_MISALIGNED)
        xg_mbarrier_arrive(barrier + 4);
    if (which == CALL_ARRIVE_AT_ABSENT_RANK)
        xg_mbarrier_arrive_at(barrier, 1);
    if (which == CALL_EXPECT_TOO_MANY_BYTES)
        xg_mbarrier_arrive_expect_tx(barrier, 1 << 20);
    if (which == CALL_WAIT_PARITY_2)
        xg_mbarrier_wait(barrier, 2);
    if (which == CALL_ARRIVE_OUTSIDE_SHARED)
        xg_mbarrier_arrive(barrier + 1024);
    if (which == CALL_CLUSTER_WAIT_FIRST)
        xg_cluster_wait();
    for (int i = 0; which == CALL_CLUSTER_ARRIVE_TWICE && i < 2; i++)
        xg_cluster_arrive();
}

XG_DEVICE void xg_copy_wrongly(int64_t which, const char *from, unsigned to, unsigned barrier)
{
    if (which == CALL_COPY_PAST_SHARED)
        xg_bulk_copy(to + 2032, from, 32, barrier);
    if (which == CALL_COPY_MISALIGNED)
        xg_bulk_copy(to, from + 4, 32, barrier);
    if (which == CALL_COPY_FEWER_BYTES)
        xg_mbarrier_arrive_expect_tx(barrier, 32);
    if (which == CALL_COPY_UNEXPECTED)
        xg_mbarrier_arrive(barrier);
    if (which == CALL_COPY_FEWER_BYTES || which == CALL_COPY_UNEXPECTED)
        xg_bulk_copy(to, from, 16, barrier);
    if (which == CALL_CLUSTER_LOAD_MISALIGNED)
        (void)xg_cluster_load(to + 2, 0);
    if (which == CALL_CLUSTER_STORE_NO_CLUSTER)
        xg_cluster_store(to, 0, 1, barrier);
    if (which == CALL_TMA_NO_MAP)
        xg_tma_load(to, XG_TENSOR_MAP(a), 0, 0, barrier);
}

XG_DEVICE void xg_synchronise_wrongly(int64_t which)
{
    if (which == CALL_NAMED_BARRIER_0)
        xg_named_barrier_sync(0, 128);
    if (which == CALL_NAMED_BARRIER_PART_WARP)
        xg_named_barrier_sync(1, 48);
    if (which == CALL_NAMED_BARRIER_TWO_COUNTS && threadIdx.x < 32)
        xg_named_barrier_sync(1, 96);
    else if (which == CALL_NAMED_BARRIER_TWO_COUNTS)
        xg_named_barrier_sync(1, 128);
    if (which == CALL_NAMED_BARRIER_TOO_FEW && threadIdx.x < 96)
        xg_named_barrier_sync(1, 128);
}

XG_DEVICE void xg_use_warpgroup_wrongly(int64_t which, unsigned at)
{
    float acc[64];
    if (which == CALL_SETMAXNREG_TOO_FEW)
        xg_setmaxnreg_dec(20);
    if (which == CALL_SETMAXNREG_DIVERGENT && threadIdx.x % 2)
        xg_setmaxnreg_inc(240);
    if (which == CALL_SHARED_ADDRESS_OF_LOCAL)
        (void)xg_shared_address(&acc[0]);
    /* The operands are outside shared memory; without the wait, a thread leaves before a read. */
    if (which == CALL_WGMMA_NO_WAIT || which == CALL_WGMMA_OUTSIDE_SHARED) {
        xg_wgmma_fence();
        xg_wgmma_64x128x16(acc, xg_wgmma_descriptor(at), xg_wgmma_descriptor(at), 0);
        xg_wgmma_commit();
    }
    if (which == CALL_WGMMA_OUTSIDE_SHARED)
        xg_wgmma_wait(0);
}

/* Makes wrong call number p.k; what comes before it is right. */
XG_DEVICE void xg_call_wrongly(const xg_test_args p, int mistake)
{
    XG_DYNAMIC_SHARED(unsigned char, memory);
    const unsigned base = xg_shared_address(memory), barrier = base + 1024;

    (void)mistake; /* the parameters are those of every body in XG_SM90_OTHERS */
    if (threadIdx.x == 0) {
        xg_mbarrier_init(barrier, 1);
        xg_mbarrier_init_fence();
    }
    __syncthreads();
    xg_use_barrier_wrongly(p.k, barrier);
    if (threadIdx.x == 0)
        xg_copy_wrongly(p.k, (const char *)p.a, base, barrier);
    xg_synchronise_wrongly(p.k);
    xg_use_warpgroup_wrongly(p.k, base);
    if (p.k == CALL_OVERWRITE_BARRIER) {
        memory[1024 + threadIdx.x % 8] = 0;
        xg_mbarrier_arrive(barrier);
    }
}
