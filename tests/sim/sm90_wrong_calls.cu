/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that are mistakes by themselves. */
#include "args.h"
#include "families/common/dialect.h"
#include "families/common/ptx_sm90.h"

#include "sm90_kernels.h"

/* Wrong calls: "which" chooses one. */
XG_DEVICE void xg_use_barrier_wrongly(int64_t which, unsigned barrier)
{
    if (which == 0)
        xg_mbarrier_wait(barrier + 8, 0);
    if (which == 1)
        xg_mbarrier_init(barrier, 1);
    if (which == 2)
        xg_mbarrier_init(barrier + 8, 0);
    if (which == 3)
        xg_mbarrier_arrive(barrier + 4);
    if (which == 4)
        xg_mbarrier_arrive_at(barrier, 1);
    if (which == 5)
        xg_mbarrier_arrive_expect_tx(barrier, 1 << 20);
    if (which == 6)
        xg_mbarrier_wait(barrier, 2);
    if (which == 7)
        xg_mbarrier_arrive(barrier + 1024);
    if (which == 8)
        xg_cluster_wait();
    for (int i = 0; which == 9 && i < 2; i++)
        xg_cluster_arrive();
}

XG_DEVICE void xg_copy_wrongly(int64_t which, const char *from, unsigned to, unsigned barrier)
{
    if (which == 10)
        xg_bulk_copy(to + 2032, from, 32, barrier);
    if (which == 11)
        xg_bulk_copy(to, from + 4, 32, barrier);
    if (which == 12)
        xg_mbarrier_arrive_expect_tx(barrier, 32);
    if (which == 13)
        xg_mbarrier_arrive(barrier);
    if (which == 12 || which == 13)
        xg_bulk_copy(to, from, 16, barrier);
    if (which == 14)
        (void)xg_cluster_load(to + 2, 0);
    if (which == 21)
        xg_cluster_store(to, 0, 1, barrier);
    if (which == 26)
        xg_tma_load(to, XG_TENSOR_MAP(a), 0, 0, barrier);
}

XG_DEVICE void xg_synchronise_wrongly(int64_t which)
{
    if (which == 22)
        xg_named_barrier_sync(0, 128);
    if (which == 23)
        xg_named_barrier_sync(1, 48);
    if (which == 24 && threadIdx.x < 32)
        xg_named_barrier_sync(1, 96);
    else if (which == 24)
        xg_named_barrier_sync(1, 128);
    if (which == 25 && threadIdx.x < 96)
        xg_named_barrier_sync(1, 128);
}

XG_DEVICE void xg_multiply_wrongly(int64_t which, unsigned at)
{
    float sum[64];
    if (which == 15)
        xg_setmaxnreg_dec(20);
    if (which == 16 && threadIdx.x % 2)
        xg_setmaxnreg_inc(240);
    if (which == 17)
        (void)xg_shared_address(&sum[0]);
    if (which == 18 || which == 19) {
        xg_wgmma_fence();
        xg_wgmma_64x128x16(sum, xg_wgmma_descriptor(at), xg_wgmma_descriptor(at), 0);
        xg_wgmma_commit();
    }
    if (which == 19)
        xg_wgmma_wait(0);
}

/* One wrong call, which p.k chooses; all before it is right. */
XG_DEVICE void xg_call_wrongly(const xg_test_args p, int mistake)
{
    XG_DYNAMIC_SHARED(unsigned char, memory);
    const unsigned base = xg_shared_address(memory), barrier = base + 1024;

    (void)mistake;
    if (threadIdx.x == 0) {
        xg_mbarrier_init(barrier, 1);
        xg_mbarrier_init_fence();
    }
    __syncthreads();
    xg_use_barrier_wrongly(p.k, barrier);
    if (threadIdx.x == 0)
        xg_copy_wrongly(p.k, (const char *)p.a, base, barrier);
    xg_synchronise_wrongly(p.k);
    xg_multiply_wrongly(p.k, base);
    if (p.k == 20) {
        memory[1024 + threadIdx.x % 8] = 0;
        xg_mbarrier_arrive(barrier);
    }
}
