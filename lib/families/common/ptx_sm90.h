/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What compute capability 9.0 has for a block of specialised warps: barriers in
 * shared memory, bulk copies, clusters, and the warpgroups' matrix products. As
 * in ptx.h each stands here as PTX, and beside it what the simulator does.
 *
 * Shared memory goes by its 32-bit address (xg_shared_address), that of another
 * block of the cluster by the same address and the block's rank.
 */
#ifndef XGEMM_KERNELS_PTX_SM90_H
#define XGEMM_KERNELS_PTX_SM90_H

#include "ptx.h"

#ifdef __CUDACC__
/*
 * Barriers that are counted: a phase ends when "count" arrivals have come and all
 * bytes that were announced have been copied. wait() returns once the phase of
 * that parity has ended; the first phase has parity 0, and before it "1" has.
 */
XG_DEVICE void xg_barrier_init(unsigned barrier, unsigned count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

/* After the init: makes it seen by the cluster and by copies; a barrier of all threads follows. */
XG_DEVICE void xg_barrier_init_fence(void)
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

XG_DEVICE void xg_barrier_arrive(unsigned barrier)
{
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/* The threads for which it holds: no branch, as one in a loop parts what nvcc puts in order. */
XG_DEVICE void xg_barrier_arrive_if(unsigned barrier, int holds)
{
    asm volatile("{ .reg .pred holds; setp.ne.b32 holds, %1, 0;"
                 " @holds mbarrier.arrive.release.cta.shared::cta.b64 _, [%0]; }" ::"r"(barrier),
                 "r"(holds)
                 : "memory");
}

/* Arrives, and announces bytes that bulk copies are to bring. */
XG_DEVICE void xg_barrier_expect(unsigned barrier, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}

/*
 * Arrives at a barrier of the cluster's block of that rank. Relaxed, since a reader releases
 * nothing that it wrote: with .release the consumer would wait for all of its memory traffic.
 */
XG_DEVICE void xg_barrier_arrive_at(unsigned barrier, unsigned rank)
{
    asm volatile(
        "{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1;"
        " mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [there]; }" ::"r"(barrier),
        "r"(rank)
        : "memory");
}

XG_DEVICE void xg_barrier_wait(unsigned barrier, unsigned parity)
{
    asm volatile("{ .reg .pred done;\n"
                 "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra AGAIN; }" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

/* Whether that phase has ended: then there is nothing to wait for. */
XG_DEVICE int xg_barrier_passed(unsigned barrier, unsigned parity)
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
 * Copies of a multiple of 16 bytes, both ends aligned to that, by the copy engine; the barrier is
 * told the bytes as they come. The second: to the same address in each block of the cluster whose
 * bit is in the mask, and each one's barrier is told.
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
 * A tile by the copy engine (TMA), from the map's matrix: the x and the line of its first element,
 * 0 or more; the map knows its size. What is past the matrix' edges becomes zero, and its bytes are
 * told, too. "to" is a multiple of 128, and x of 4: what begins between 16 bytes is an illegal
 * instruction on an H200.
 */
XG_DEVICE void xg_tile_copy(unsigned to, xg_map map, int x, int line, unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                 "l"(map), "r"(x), "r"(line), "r"(barrier)
                 : "memory");
}

/* Has the copy engine fetch a map that it is going to need. */
XG_DEVICE void xg_map_prefetch(xg_map map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/* One thread of the warp, all of which call it. */
XG_DEVICE int xg_elected(void)
{
    int elected;
    asm volatile("{ .reg .pred elected; elect.sync _|elected, 0xffffffff;"
                 " selp.b32 %0, 1, 0, elected; }"
                 : "=r"(elected));
    return elected;
}

/* Between plain stores and the copy engine or the tensor cores that read them, or the reverse. */
XG_DEVICE void xg_fence_async(void)
{
    asm volatile("fence.proxy.async;" ::: "memory");
}

/* The same for the block's shared memory alone. */
XG_DEVICE void xg_fence_async_shared(void)
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* For what is in global memory, and for the copy engine. */
XG_DEVICE void xg_fence_async_global(void)
{
    asm volatile("fence.proxy.async.global;" ::: "memory");
}

/* Stores what other blocks read by atomics or relaxed loads: 4 bytes, and 8. */
XG_DEVICE void xg_store_relaxed(unsigned *to, unsigned value)
{
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}

XG_DEVICE void xg_store_relaxed8(unsigned long long *to, unsigned long long value)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}

/* Loads what other blocks change by atomics. */
XG_DEVICE unsigned xg_load_relaxed(const unsigned *from)
{
    unsigned value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    return value;
}

/*
 * A count in global memory, by which a block waits for another one: what a warp wrote before its
 * last barrier is seen by who has waited until it counted, and by others after their next barrier.
 * Only for blocks of lower numbers, which have begun: whatever else runs, they will go on. Others
 * are waited for so many looks at most.
 */
XG_DEVICE void xg_count_up(unsigned *count)
{
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(count) : "memory");
}

XG_DEVICE void xg_count_wait(const unsigned *count, unsigned least)
{
    asm volatile("{ .reg .pred less; .reg .u32 value;\n"
                 "AGAIN: ld.acquire.gpu.global.u32 value, [%0];\n"
                 "setp.lt.u32 less, value, %1;\n"
                 "@less bra AGAIN; }" ::"l"(count),
                 "r"(least)
                 : "memory");
}

XG_DEVICE unsigned xg_count_read(const unsigned *count)
{
    unsigned value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(count) : "memory");
    return value;
}

XG_DEVICE int xg_count_wait_briefly(const unsigned *count, unsigned least, int looks)
{
    unsigned value = 0;
    for (int i = 0; i < looks && value < least; i++)
        value = xg_count_read(count);
    return value >= least;
}

/* The blocks of the cluster, 1 in a launch without clusters; and which of them this one is. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
XG_DEVICE unsigned xg_cluster_blocks(void)
{
    unsigned blocks;
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
    return blocks;
}

XG_DEVICE unsigned xg_cluster_rank(void)
{
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
#else
#define xg_cluster_blocks() (1u)
#define xg_cluster_rank()   (0u)
#endif

/* A barrier of all threads of the cluster, which orders their memory accesses; and its halves. */
XG_DEVICE void xg_cluster_arrive(void)
{
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
}

/* Arrives without ordering memory accesses: for blocks that only must have begun. */
XG_DEVICE void xg_cluster_arrive_relaxed(void)
{
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
}

XG_DEVICE void xg_cluster_wait(void)
{
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

/*
 * A barrier of so many threads of the block, whole warps, which orders their memory accesses. It
 * goes by a number from 1 to 15: 0 is __syncthreads(). Both are constants: with a number from a
 * register the block is given all barriers.
 */
#define xg_group_sync(number, threads)                                                             \
    asm volatile("bar.sync %0, %1;" ::"n"(number), "n"(threads) : "memory")

/*
 * The same with a number from a register, for a kernel of one block a multiprocessor; and arrivals
 * there that wait for nobody.
 */
XG_DEVICE void xg_group_sync_at(unsigned number, unsigned threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

XG_DEVICE void xg_group_arrive_at(unsigned number, unsigned threads)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

/* A word of the shared memory of the cluster's block of that rank. */
XG_DEVICE unsigned xg_cluster_read(unsigned address, unsigned rank)
{
    unsigned value;
    asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %1, %2;"
                 " ld.shared::cluster.u32 %0, [there]; }"
                 : "=r"(value)
                 : "r"(address), "r"(rank)
                 : "memory");
    return value;
}

/* 16 bytes of it, from a multiple of 16 on. */
XG_DEVICE float4 xg_cluster_read4(unsigned address, unsigned rank)
{
    float4 value;
    asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %4, %5;"
                 " ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [there]; }"
                 : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
                 : "r"(address), "r"(rank)
                 : "memory");
    return value;
}

/* Stores a word there, asynchronously: its bytes come to the counted barrier of that block. Only in
 * a launch with clusters, of two blocks at least: else it is an illegal instruction. */
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

/* Passes so many clock cycles. */
XG_DEVICE void xg_spin(int cycles)
{
    const long long begun = clock64();
    while (clock64() - begun < cycles)
        ;
}

/* The registers of a warpgroup's threads from here on; a kernel has its bounds set for it. */
#define xg_registers_to_more(n) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(n))
#define xg_registers_to_less(n) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(n))

/*
 * Products of a warpgroup. fence() goes before the first one that uses registers that other
 * instructions wrote, commit() after the last of a group, and wait(n) until at most n groups are
 * on their way. Then pin() ties the sums to that point: their uses would move before it.
 */
XG_DEVICE void xg_wgmma_fence(void)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

XG_DEVICE void xg_wgmma_commit(void)
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

#define xg_wgmma_wait(n) asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(n) : "memory")
#define xg_wgmma_pin(sum, count)                                                                   \
    do {                                                                                           \
        _Pragma("unroll") for (int xg_i = 0; xg_i < (count);                                       \
                               xg_i++) asm volatile("" : "+f"((sum)[xg_i])::"memory");             \
    } while (0)

#define XG_SUMS4(sum, i)                                                                           \
    "+f"((sum)[i]), "+f"((sum)[(i) + 1]), "+f"((sum)[(i) + 2]), "+f"((sum)[(i) + 3])
#define XG_SUMS16(sum, i)                                                                          \
    XG_SUMS4(sum, i), XG_SUMS4(sum, (i) + 4), XG_SUMS4(sum, (i) + 8), XG_SUMS4(sum, (i) + 12)
#define XG_SUMS64(sum, i)                                                                          \
    XG_SUMS16(sum, i), XG_SUMS16(sum, (i) + 16), XG_SUMS16(sum, (i) + 32), XG_SUMS16(sum, (i) + 48)

/* The instruction, of FP16 or BF16: see the functions. */
#define XG_WGMMA_64x128x16(type, sum, a, b, add)                                                   \
    asm volatile(                                                                                  \
        "{ .reg .pred add; setp.ne.b32 add, %66, 0;\n"                                             \
        "wgmma.mma_async.sync.aligned.m64n128k16.f32." type "." type " {"                          \
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "\
        "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, "\
        "%38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, "\
        "%56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, add, 1, 1, 0, 0; }"                    \
        : XG_SUMS64(sum, 0)                                                                        \
        : "l"(a), "l"(b), "r"(add))

/*
 * sum (+)= A * B: A 64 × 16 and B 16 × 128 of FP16, both contiguous along k in shared memory, as
 * xg_wgmma_operand() says; sums in FP32. Thread t of the warpgroup has 64 of them: sum[4 * j + 2 *
 * e + c] is that of row t / 32 * 16 + t % 32 / 4 + 8 * e, column 8 * j + t % 4 * 2 + c.
 */
XG_DEVICE void xg_wgmma_64x128x16(float *sum, uint64_t a, uint64_t b, int add)
{
    XG_WGMMA_64x128x16("f16", sum, a, b, add);
}

/* The same of BF16. */
XG_DEVICE void xg_wgmma_bf16_64x128x16(float *sum, uint64_t a, uint64_t b, int add)
{
    XG_WGMMA_64x128x16("bf16", sum, a, b, add);
}

/* The instruction, of FP16 or BF16: see the functions. */
#define XG_WGMMA_64x64x16(type, sum, a, b, add)                                                    \
    asm volatile(                                                                                  \
        "{ .reg .pred add; setp.ne.b32 add, %34, 0;\n"                                             \
        "wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type " {"                           \
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "    \
        "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, add, 1, 1, 0, "\
        "0; }"                                                                                     \
        : XG_SUMS16(sum, 0), XG_SUMS16(sum, 16)                                                    \
        : "l"(a), "l"(b), "r"(add))

/* The same with a B of 16 × 64 and 32 sums. */
XG_DEVICE void xg_wgmma_64x64x16(float *sum, uint64_t a, uint64_t b, int add)
{
    XG_WGMMA_64x64x16("f16", sum, a, b, add);
}

/* The same of BF16. */
XG_DEVICE void xg_wgmma_bf16_64x64x16(float *sum, uint64_t a, uint64_t b, int add)
{
    XG_WGMMA_64x64x16("bf16", sum, a, b, add);
}

/* The same with a B of 16 × 256 and 128 sums: columns 128 and on are sum[64] and on. */
XG_DEVICE void xg_wgmma_64x256x16(float *sum, uint64_t a, uint64_t b, int add)
{
    asm volatile(
        "{ .reg .pred add; setp.ne.b32 add, %130, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "
        "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, "
        "%36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, "
        "%53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, "
        "%70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, "
        "%87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, "
        "%104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, "
        "%118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
        "%128, %129, add, 1, 1, 0, 0; }"
        : XG_SUMS64(sum, 0), XG_SUMS64(sum, 64)
        : "l"(a), "l"(b), "r"(add));
}

/*
 * Two floats, rounded to the nearest FP16 (ties to even): the first in the low half. Past FP16's
 * largest they become infinite.
 */
XG_DEVICE unsigned xg_half2(float low, float high)
{
    unsigned both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}

XG_DEVICE float xg_half2_low(unsigned both)
{
    float value;
    asm("{ .reg .b16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, low; }"
        : "=f"(value)
        : "r"(both));
    return value;
}

XG_DEVICE float xg_half2_high(unsigned both)
{
    float value;
    asm("{ .reg .b16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, high; }"
        : "=f"(value)
        : "r"(both));
    return value;
}
#else
#include "backend/sim/sm90_shim.h"
#endif

/*
 * Where the matrix products find an operand: rows of 64 FP16 (128 bytes), of which the 16-byte
 * chunk c of row r lies at chunk c ^ r % 8 of the row ("128-byte swizzle"); groups of eight rows
 * are 1024 bytes apart, and the first begins at a multiple of that. 16 further along k: + 2.
 */
XG_DEVICE uint64_t xg_wgmma_operand(unsigned address)
{
    const uint64_t swizzle_128 = 1, group_bytes = 1024, unused = 1;
    return swizzle_128 << 62 | group_bytes / 16 << 32 | unused << 16 | (address & 0x3ffff) >> 4;
}

/* The same operand so many times 16 further along k. */
XG_DEVICE uint64_t xg_wgmma_further(uint64_t operand, int steps)
{
    return (operand & ~(uint64_t)0xffffffff) | (uint32_t)((uint32_t)operand + 2u * (unsigned)steps);
}

#endif
