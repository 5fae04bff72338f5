/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrappers of the PTX instructions of compute capability 9.0: mbarriers, TMA, clusters, named
 * barriers. Those of wgmma are in ptx_wgmma.h. The simulator's models of them are in
 * backend/sim/sm90_shim.h.
 *
 * Shared memory is told by its 32-bit address (xg_shared_address()); that of another CTA of the
 * cluster by the same address and the CTA's rank.
 */
#ifndef XGEMM_KERNELS_PTX_SM90_H
#define XGEMM_KERNELS_PTX_SM90_H

#include "ptx.h"

#ifdef __CUDACC__
/*
 * mbarriers. A phase completes when "count" threads have arrived and all expected bytes have been
 * copied. wait() returns once the phase of that parity has completed; the first phase has parity 0,
 * and a wait for parity 1 before it returns at once.
 */
XG_DEVICE void xg_mbarrier_init(unsigned barrier, unsigned count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

/* Makes the init visible to the cluster and to bulk copies; __syncthreads() is to follow. */
XG_DEVICE void xg_mbarrier_init_fence(void)
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

XG_DEVICE void xg_mbarrier_arrive(unsigned barrier)
{
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/* Arrives where "holds", by a predicate: a branch would split the block that nvcc schedules. */
XG_DEVICE void xg_mbarrier_arrive_if(unsigned barrier, int holds)
{
    asm volatile("{ .reg .pred holds; setp.ne.b32 holds, %1, 0;"
                 " @holds mbarrier.arrive.release.cta.shared::cta.b64 _, [%0]; }" ::"r"(barrier),
                 "r"(holds)
                 : "memory");
}

/* Arrives, and expects that many bytes from bulk copies. */
XG_DEVICE void xg_mbarrier_arrive_expect_tx(unsigned barrier, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}

/*
 * Arrives at the mbarrier of the cluster's CTA of that rank. Relaxed, since a consumer has written
 * nothing that it must release: with .release it would wait for all of its memory traffic.
 */
XG_DEVICE void xg_mbarrier_arrive_at(unsigned barrier, unsigned rank)
{
    asm volatile(
        "{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1;"
        " mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [there]; }" ::"r"(barrier),
        "r"(rank)
        : "memory");
}

/* The same where "holds", by a predicate. */
XG_DEVICE void xg_mbarrier_arrive_at_if(unsigned barrier, unsigned rank, int holds)
{
    asm volatile(
        "{ .reg .pred holds; .reg .b32 there; setp.ne.b32 holds, %2, 0;"
        " mapa.shared::cluster.u32 there, %0, %1;"
        " @holds mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [there]; }" ::"r"(barrier),
        "r"(rank), "r"(holds)
        : "memory");
}

XG_DEVICE void xg_mbarrier_wait(unsigned barrier, unsigned parity)
{
    asm volatile("{ .reg .pred done;\n"
                 "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra AGAIN; }" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

/* Whether the phase of that parity has completed. */
XG_DEVICE int xg_mbarrier_test_wait(unsigned barrier, unsigned parity)
{
    int passed;
    asm volatile("{ .reg .pred passed;\n"
                 "mbarrier.test_wait.parity.shared::cta.b64 passed, [%1], %2;\n"
                 "selp.b32 %0, 1, 0, passed; }"
                 : "=r"(passed)
                 : "r"(barrier), "r"(parity)
                 : "memory");
    return passed;
}

/*
 * Bulk copies (TMA without a tensor map) of a multiple of 16 bytes, both addresses aligned to that,
 * which the mbarrier counts. Multicast: to the same address in each CTA of the cluster whose bit is
 * set in the mask, counted by the mbarrier of each.
 */
XG_DEVICE void xg_bulk_copy(unsigned to, const void *from, unsigned bytes, unsigned barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}

XG_DEVICE void xg_bulk_copy_multicast(unsigned to, const void *from, unsigned bytes,
                                      unsigned barrier, unsigned mask)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(barrier), "h"((unsigned short)mask)
                 : "memory");
}

/*
 * A TMA load of a tile: x and y are the coordinates of its first element in the tensor, 0 or more;
 * the tensor map has its size. TMA zero-fills elements outside the tensor, and the mbarrier counts
 * their bytes, too. "to" is a multiple of 128 bytes. x is a multiple of 4 (16 bytes): any other is
 * an illegal instruction on an H200.
 */
XG_DEVICE void xg_tma_load(unsigned to, xg_tensor_map_ref map, int x, int y, unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                 "l"(map), "r"(x), "r"(y), "r"(barrier)
                 : "memory");
}

/*
 * The same from matrix z of a batch, by a tensor map that has one. Multicast: to the same address
 * in each CTA of the cluster whose bit is set in the mask, counted by the mbarrier of each.
 */
XG_DEVICE void xg_tma_load_3d(unsigned to, xg_tensor_map_ref map, int x, int y, int z,
                              unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
                 "l"(map), "r"(x), "r"(y), "r"(z), "r"(barrier)
                 : "memory");
}

XG_DEVICE void xg_tma_load_3d_multicast(unsigned to, xg_tensor_map_ref map, int x, int y, int z,
                                        unsigned barrier, unsigned mask)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(to),
                 "l"(map), "r"(x), "r"(y), "r"(z), "r"(barrier), "h"((unsigned short)mask)
                 : "memory");
}

/*
 * A TMA store of a tile of shared memory to matrix z of a tensor map; what would be outside of the
 * matrix is not stored, but of a row that is no multiple of 16 bytes an H200 writes whole 16 bytes.
 * The thread's stores since its last commit are a group; wait_read(n) waits until shared memory has
 * been read by all of its groups but the last n.
 */
XG_DEVICE void xg_tma_store_3d(xg_tensor_map_ref map, int x, int y, int z, unsigned from)
{
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group"
                 " [%0, {%1, %2, %3}], [%4];" ::"l"(map),
                 "r"(x), "r"(y), "r"(z), "r"(from)
                 : "memory");
}

XG_DEVICE void xg_bulk_commit(void)
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

#define xg_bulk_wait_read(groups_left)                                                             \
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(groups_left) : "memory")

/*
 * stmatrix: stores four matrices of 8 x 8 elements of 16 bits. Lane i gives the address of row i %
 * 8 of matrix i / 8, at a multiple of 16 bytes; with g = lane / 4 and t = lane % 4 a thread has of
 * each matrix the elements (g, 2t) and (g, 2t + 1).
 */
XG_DEVICE void xg_stmatrix_x4(unsigned to, const unsigned from[4])
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to),
                 "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3])
                 : "memory");
}

/* Prefetches a tensor map (its descriptor, no elements). */
XG_DEVICE void xg_tensor_map_prefetch(xg_tensor_map_ref map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/* 1 in one thread of the warp; all of its threads call it. */
XG_DEVICE int xg_elect_one(void)
{
    int elected;
    asm volatile("{ .reg .pred elected; elect.sync _|elected, 0xffffffff;"
                 " selp.b32 %0, 1, 0, elected; }"
                 : "=r"(elected));
    return elected;
}

/* Orders plain accesses before those of the async proxy (TMA and wgmma), and the reverse. */
XG_DEVICE void xg_fence_proxy_async(void)
{
    asm volatile("fence.proxy.async;" ::: "memory");
}

/* The same for the CTA's shared memory alone. */
XG_DEVICE void xg_fence_proxy_async_shared(void)
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* The same for global memory alone. */
XG_DEVICE void xg_fence_proxy_async_global(void)
{
    asm volatile("fence.proxy.async.global;" ::: "memory");
}

/* Relaxed stores at GPU scope, for data that other CTAs read by atomics or relaxed loads. */
XG_DEVICE void xg_store_relaxed(unsigned *to, unsigned value)
{
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}

XG_DEVICE void xg_store_relaxed8(unsigned long long *to, unsigned long long value)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}

/* A relaxed load at GPU scope, of data that other CTAs change by atomics. */
XG_DEVICE unsigned xg_load_relaxed(const unsigned *from)
{
    unsigned value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    return value;
}

/*
 * Counters in global memory, by which a CTA waits for others: add is a release, wait and load are
 * acquires. What a warp wrote before its last barrier is visible to a thread that has waited for
 * its increment, and to that thread's CTA after the next barrier. wait() is only for CTAs of lower
 * index: these are resident already, so the wait ends. For others wait_bounded() gives up after so
 * many loads.
 */
XG_DEVICE void xg_counter_add_release(unsigned *count)
{
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(count) : "memory");
}

XG_DEVICE void xg_counter_wait(const unsigned *count, unsigned least)
{
    asm volatile("{ .reg .pred less; .reg .u32 value;\n"
                 "AGAIN: ld.acquire.gpu.global.u32 value, [%0];\n"
                 "setp.lt.u32 less, value, %1;\n"
                 "@less bra AGAIN; }" ::"l"(count),
                 "r"(least)
                 : "memory");
}

XG_DEVICE unsigned xg_counter_load_acquire(const unsigned *count)
{
    unsigned value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(count) : "memory");
    return value;
}

XG_DEVICE int xg_counter_wait_bounded(const unsigned *count, unsigned least, int loads)
{
    unsigned value = 0;
    for (int i = 0; i < loads && value < least; i++)
        value = xg_counter_load_acquire(count);
    return value >= least;
}

/* The number of CTAs in the cluster, 1 without clusters; and the CTA's rank. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
XG_DEVICE unsigned xg_cluster_ctas(void)
{
    unsigned ctas;
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(ctas));
    return ctas;
}

XG_DEVICE unsigned xg_cluster_rank(void)
{
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
#else
#define xg_cluster_ctas() (1u)
#define xg_cluster_rank() (0u)
#endif

/* The cluster's barrier: arrive is a release and wait an acquire. */
XG_DEVICE void xg_cluster_arrive(void)
{
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
}

/* Arrives without ordering memory accesses, to tell other CTAs no more than that this one runs. */
XG_DEVICE void xg_cluster_arrive_relaxed(void)
{
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
}

XG_DEVICE void xg_cluster_wait(void)
{
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

/*
 * A named barrier (1 to 15; 0 is that of __syncthreads()) of that many threads, whole warps. Both
 * are constants: with a number from a register the CTA allocates all 16 barriers.
 */
#define xg_named_barrier_sync(number, threads)                                                     \
    asm volatile("bar.sync %0, %1;" ::"n"(number), "n"(threads) : "memory")

/*
 * The same with a number from a register, for kernels of one CTA a multiprocessor; and arrivals
 * that do not wait.
 */
XG_DEVICE void xg_named_barrier_sync_at(unsigned number, unsigned threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

XG_DEVICE void xg_named_barrier_arrive_at(unsigned number, unsigned threads)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

/* Loads from the shared memory of the cluster's CTA of that rank: 4 bytes, */
XG_DEVICE unsigned xg_cluster_load(unsigned address, unsigned rank)
{
    unsigned value;
    asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %1, %2;"
                 " ld.shared::cluster.u32 %0, [there]; }"
                 : "=r"(value)
                 : "r"(address), "r"(rank)
                 : "memory");
    return value;
}

/* and 16, at a multiple of 16. */
XG_DEVICE float4 xg_cluster_load_vec4(unsigned address, unsigned rank)
{
    float4 value;
    asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %4, %5;"
                 " ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [there]; }"
                 : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
                 : "r"(address), "r"(rank)
                 : "memory");
    return value;
}

/* Stores 8 bytes there, at a multiple of 8; the cluster's barrier makes them visible. */
XG_DEVICE void xg_cluster_store_vec2(unsigned address, unsigned rank, float2 value)
{
    asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1;"
                 " st.shared::cluster.v2.f32 [there], {%2, %3}; }"
                 :
                 : "r"(address), "r"(rank), "f"(value.x), "f"(value.y)
                 : "memory");
}

/*
 * st.async: stores 4 bytes there asynchronously; that CTA's mbarrier counts them. An illegal
 * instruction without clusters of two CTAs at least.
 */
XG_DEVICE void xg_cluster_store(unsigned address, unsigned rank, unsigned value, unsigned barrier)
{
    asm volatile("{ .reg .b32 there, counted; mapa.shared::cluster.u32 there, %0, %1;"
                 " mapa.shared::cluster.u32 counted, %3, %1;"
                 " st.async.shared::cluster.mbarrier::complete_tx::bytes.u32"
                 " [there], %2, [counted]; }"
                 :
                 : "r"(address), "r"(rank), "r"(value), "r"(barrier)
                 : "memory");
}

/* Waits for that many clock cycles. */
XG_DEVICE void xg_spin(int cycles)
{
    const long long begun = clock64();
    while (clock64() - begun < cycles)
        ;
}

/* setmaxnreg: the registers a thread of the warpgroup has from here on. */
#define xg_setmaxnreg_inc(n) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(n))
#define xg_setmaxnreg_dec(n) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(n))
#endif

#endif
