/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The simulator's side of families/common/ptx_sm90.h: what each instruction does to the
 * blocks that run together, and which uses of it are mistakes. Wrong uses fail
 * with a sentence; a launch in which every thread waits does, too.
 *
 * Addresses are those of dynamic shared memory (XG_DYNAMIC_SHARED) alone, and a
 * kernel with clusters has no other shared memory.
 *
 * Bulk copies and matrix products happen when they are issued ("early"), or as
 * late as the waits allow, where nothing else can go on ("late"): until then the
 * destination of a copy, or the accumulators of a product, hold NaN.
 */
#ifndef XGEMM_SIM_SM90_SHIM_H
#define XGEMM_SIM_SM90_SHIM_H

#include "cuda_shim.h"

#include <stdbool.h>

XG_SIM_API unsigned xg_sim_shared_address(const void *pointer, const xg_sim_location *here);
#define xg_shared_address(shared) xg_sim_shared_address(shared, XG_SIM_HERE)

/* mbarrier. */
XG_SIM_API void xg_sim_mbarrier_init(unsigned barrier, unsigned count, const xg_sim_location *here);
XG_SIM_API void xg_sim_mbarrier_init_fence(void);
XG_SIM_API void xg_sim_mbarrier_arrive(unsigned barrier, unsigned bytes,
                                       const xg_sim_location *here);
XG_SIM_API void xg_sim_mbarrier_arrive_at(unsigned barrier, unsigned rank,
                                          const xg_sim_location *here);
XG_SIM_API void xg_sim_mbarrier_wait(unsigned barrier, unsigned parity,
                                     const xg_sim_location *here);
XG_SIM_API int xg_sim_mbarrier_passed(unsigned barrier, unsigned parity,
                                      const xg_sim_location *here);
#define xg_mbarrier_init(barrier, count) xg_sim_mbarrier_init(barrier, count, XG_SIM_HERE)
#define xg_mbarrier_init_fence()         xg_sim_mbarrier_init_fence()
#define xg_mbarrier_arrive(barrier)      xg_sim_mbarrier_arrive(barrier, 0, XG_SIM_HERE)
#define xg_mbarrier_arrive_expect_tx(barrier, bytes)                                               \
    xg_sim_mbarrier_arrive(barrier, bytes, XG_SIM_HERE)
#define xg_mbarrier_arrive_at(barrier, rank)   xg_sim_mbarrier_arrive_at(barrier, rank, XG_SIM_HERE)
#define xg_mbarrier_wait(barrier, parity)      xg_sim_mbarrier_wait(barrier, parity, XG_SIM_HERE)
#define xg_mbarrier_test_wait(barrier, parity) xg_sim_mbarrier_passed(barrier, parity, XG_SIM_HERE)

/* TMA: bulk copies; with mask 0 to the running block. The trace sees what they read. */
XG_SIM_API void xg_sim_bulk_copy(unsigned to, const void *from, unsigned bytes, unsigned barrier,
                                 unsigned mask, const xg_sim_location *here);
#define XG_SIM_BULK_COPY(to, from, bytes, barrier, mask)                                           \
    __extension__({                                                                                \
        const void *const xg_from = (from);                                                        \
        const unsigned xg_bytes = (bytes);                                                         \
        XG_SIM_TRACE(xg_from, (int)xg_bytes, XG_SIM_BULK_READ);                                    \
        xg_sim_bulk_copy(to, xg_from, xg_bytes, barrier, mask, XG_SIM_HERE);                       \
    })
#define xg_bulk_copy(to, from, bytes, barrier) XG_SIM_BULK_COPY(to, from, bytes, barrier, 0)
#define xg_bulk_copy_multicast(to, from, bytes, barrier, mask)                                     \
    XG_SIM_BULK_COPY(to, from, bytes, barrier, xg_sim_multicast_mask(mask, XG_SIM_HERE))
XG_SIM_API unsigned xg_sim_multicast_mask(unsigned mask, const xg_sim_location *here);

/*
 * TMA with a tensor map: tiles of A, B or C of the launch, row by row. The first says where a row
 * begins and how many bytes of it there are; TMA fills the rest with zeros, or does not store it.
 */
typedef enum { XG_SIM_MAP_a, XG_SIM_MAP_b, XG_SIM_MAP_c } xg_tensor_map_ref;
XG_SIM_API void *xg_sim_tile_row(xg_tensor_map_ref map, int x, int y, int z, unsigned *bytes);
XG_SIM_API int xg_sim_tile_rows(xg_tensor_map_ref map, int dimensions, const xg_sim_location *here);
XG_SIM_API void xg_sim_tile_copy(unsigned to, xg_tensor_map_ref map, int x, int y, int z,
                                 unsigned barrier, unsigned mask, const xg_sim_location *here);
#define xg_tensor_map_prefetch(map) ((void)(map)) /* only sooner there */
#define XG_SIM_TRACE_TILE(of, dimensions, x, y, z, kind)                                           \
    for (int xg_i = 0; xg_i < xg_sim_tile_rows(of, dimensions, XG_SIM_HERE); xg_i++) {             \
        unsigned xg_bytes;                                                                         \
        const void *const xg_row = xg_sim_tile_row(of, x, (y) + xg_i, z, &xg_bytes);               \
        if (xg_bytes > 0)                                                                          \
            XG_SIM_TRACE(xg_row, (int)xg_bytes, kind);                                             \
    }
#define XG_SIM_TILE_COPY(to, map, dimensions, x, y, z, barrier, mask)                              \
    __extension__({                                                                                \
        const xg_tensor_map_ref xg_of = (map);                                                     \
        const int xg_x = (x), xg_y = (y), xg_z = (z);                                              \
        XG_SIM_TRACE_TILE(xg_of, dimensions, xg_x, xg_y, xg_z, XG_SIM_BULK_READ)                   \
        xg_sim_tile_copy(to, xg_of, xg_x, xg_y, xg_z, barrier, mask, XG_SIM_HERE);                 \
    })
#define xg_tma_load(to, map, x, y, barrier)       XG_SIM_TILE_COPY(to, map, 2, x, y, 0, barrier, 0)
#define xg_tma_load_3d(to, map, x, y, z, barrier) XG_SIM_TILE_COPY(to, map, 3, x, y, z, barrier, 0)
#define xg_tma_load_3d_multicast(to, map, x, y, z, barrier, mask)                                  \
    XG_SIM_TILE_COPY(to, map, 3, x, y, z, barrier, xg_sim_multicast_mask(mask, XG_SIM_HERE))
XG_SIM_API void xg_sim_tile_store(unsigned from, xg_tensor_map_ref map, int x, int y, int z,
                                  const xg_sim_location *here);
XG_SIM_API void xg_sim_bulk_commit(void), xg_sim_bulk_wait_read(int groups_left);
#define xg_tma_store_3d(map, x, y, z, from)                                                        \
    __extension__({                                                                                \
        const xg_tensor_map_ref xg_of = (map);                                                     \
        const int xg_x = (x), xg_y = (y), xg_z = (z);                                              \
        XG_SIM_TRACE_TILE(xg_of, 3, xg_x, xg_y, xg_z, XG_SIM_BULK_WRITE)                           \
        xg_sim_tile_store(from, xg_of, xg_x, xg_y, xg_z, XG_SIM_HERE);                             \
    })
#define xg_bulk_commit()               xg_sim_bulk_commit()
#define xg_bulk_wait_read(groups_left) xg_sim_bulk_wait_read(groups_left)
#define xg_elect_one()                 (XG_SIM_LANE == 0)

/* stmatrix: the memory of the row that a thread stores; then all rows of the warp. */
XG_SIM_API void *xg_sim_stmatrix_row(unsigned to, const xg_sim_location *here);
XG_SIM_API void xg_sim_stmatrix(void *to, const uint32_t *from, const xg_sim_location *here);
#define xg_stmatrix_x4(to, from)                                                                   \
    __extension__({                                                                                \
        void *const xg_row = xg_sim_stmatrix_row(to, XG_SIM_HERE);                                 \
        XG_SIM_TRACE(xg_row, 16, XG_SIM_WRITE);                                                    \
        xg_sim_stmatrix(xg_row, from, XG_SIM_HERE);                                                \
    })
#define xg_mbarrier_arrive_at_if(barrier, rank, holds)                                             \
    ((holds) ? xg_sim_mbarrier_arrive_at(barrier, rank, XG_SIM_HERE) : (void)0)
#define xg_mbarrier_arrive_if(barrier, holds)                                                      \
    ((holds) ? xg_sim_mbarrier_arrive(barrier, 0, XG_SIM_HERE) : (void)0)

XG_SIM_API void xg_sim_fence_async(void);
#define xg_fence_proxy_async()        xg_sim_fence_async()
#define xg_fence_proxy_async_shared() xg_sim_fence_async()
#define xg_fence_proxy_async_global() ((void)0) /* kernels of a stream have ended by then */

#define xg_store_relaxed(to, value)  ((void)atomicExch(to, value))
#define xg_store_relaxed8(to, value) ((void)atomicExch(to, value))
#define xg_load_relaxed(from)        atomicAdd((unsigned *)(uintptr_t)(from), 0u)

/* Counters by which threads wait for others, of their cluster or one that has run before it. */
XG_SIM_API void xg_sim_count_wait(const unsigned *count, unsigned least,
                                  const xg_sim_location *here);
XG_SIM_API void xg_sim_count_up(const unsigned *count);
#define xg_counter_add_release(count) (xg_sim_count_up(count), (void)atomicAdd(count, 1u))
#define xg_counter_wait(count, least)                                                              \
    ((void)atomicAdd(count, 0u), xg_sim_count_wait(count, least, XG_SIM_HERE))

#define xg_counter_load_acquire(count) xg_load_relaxed(count)
/* No other cluster runs meanwhile. */
#define xg_counter_wait_bounded(count, least, looks)                                               \
    ((void)(looks), xg_sim_count_is_reached(count, least) && (xg_counter_wait(count, least), 1))
XG_SIM_API bool xg_sim_count_is_reached(const unsigned *count, unsigned least);

/* Clusters. */
XG_SIM_API unsigned xg_sim_cluster_rank(void), xg_sim_cluster_size(void);
XG_SIM_API void xg_sim_cluster_arrive(bool orders, const xg_sim_location *here);
XG_SIM_API void xg_sim_cluster_wait(const xg_sim_location *here);
XG_SIM_API unsigned xg_sim_cluster_read(unsigned address, unsigned rank,
                                        const xg_sim_location *here);
XG_SIM_API float4 xg_sim_cluster_read4(unsigned address, unsigned rank,
                                       const xg_sim_location *here);
XG_SIM_API void xg_sim_cluster_store2(unsigned address, unsigned rank, float2 value,
                                      const xg_sim_location *here);
XG_SIM_API void xg_sim_cluster_store(unsigned address, unsigned rank, unsigned value,
                                     unsigned barrier, const xg_sim_location *here);
#define xg_cluster_ctas()                   xg_sim_cluster_size()
#define xg_cluster_rank()                   xg_sim_cluster_rank()
#define xg_cluster_arrive()                 xg_sim_cluster_arrive(true, XG_SIM_HERE)
#define xg_cluster_arrive_relaxed()         xg_sim_cluster_arrive(false, XG_SIM_HERE)
#define xg_cluster_wait()                   xg_sim_cluster_wait(XG_SIM_HERE)
#define xg_cluster_load(address, rank)      xg_sim_cluster_read(address, rank, XG_SIM_HERE)
#define xg_cluster_load_vec4(address, rank) xg_sim_cluster_read4(address, rank, XG_SIM_HERE)
#define xg_cluster_store_vec2(address, rank, value)                                                \
    xg_sim_cluster_store2(address, rank, value, XG_SIM_HERE)
#define xg_cluster_store(address, rank, value, barrier)                                            \
    xg_sim_cluster_store(address, rank, value, barrier, XG_SIM_HERE)

/* Named barriers: sync, and arrive, which does not wait. */
XG_SIM_API void xg_sim_named_barrier_sync(unsigned number, unsigned threads,
                                          const xg_sim_location *here);
XG_SIM_API void xg_sim_named_barrier_arrive(unsigned number, unsigned threads,
                                            const xg_sim_location *here);
#define xg_named_barrier_sync(number, threads)                                                     \
    xg_sim_named_barrier_sync(number, threads, XG_SIM_HERE)
#define xg_named_barrier_sync_at(number, threads)                                                  \
    xg_sim_named_barrier_sync(number, threads, XG_SIM_HERE)
#define xg_named_barrier_arrive_at(number, threads)                                                \
    xg_sim_named_barrier_arrive(number, threads, XG_SIM_HERE)

#define xg_spin(cycles) ((void)(cycles)) /* no clock here */

/* Registers are as many as the compiler likes. */
XG_SIM_API void xg_sim_registers(int count, const xg_sim_location *here);
#define xg_setmaxnreg_inc(n) xg_sim_registers(n, XG_SIM_HERE)
#define xg_setmaxnreg_dec(n) xg_sim_registers(n, XG_SIM_HERE)

/* Matrix products of a warpgroup: of FP16, unless the kind says BF16 or bytes, and K-major
 * operands. */
enum { XG_SIM_BF16 = 1, XG_SIM_A_MN_MAJOR = 2, XG_SIM_B_MN_MAJOR = 4, XG_SIM_S8 = 8 };
XG_SIM_API void xg_sim_wgmma_fence(const xg_sim_location *here);
XG_SIM_API void xg_sim_wgmma(void *registers, uint64_t a, uint64_t b, int add, int columns,
                             unsigned kind, const xg_sim_location *here);
/* A in registers: four of each thread. */
XG_SIM_API void xg_sim_wgmma_ra(float *registers, const unsigned *a, uint64_t b, int add,
                                int columns, const xg_sim_location *here);
XG_SIM_API void xg_sim_wgmma_commit(const xg_sim_location *here);
XG_SIM_API void xg_sim_wgmma_wait(int groups_left, const xg_sim_location *here);
#define xg_wgmma_fence()                 xg_sim_wgmma_fence(XG_SIM_HERE)
#define xg_wgmma_64x64x16(d, a, b, add)  xg_sim_wgmma(d, a, b, add, 64, 0, XG_SIM_HERE)
#define xg_wgmma_64x128x16(d, a, b, add) xg_sim_wgmma(d, a, b, add, 128, 0, XG_SIM_HERE)
#define xg_wgmma_64x256x16(d, a, b, add) xg_sim_wgmma(d, a, b, add, 256, 0, XG_SIM_HERE)
#define xg_wgmma_bf16_64x128x16(d, a, b, add)                                                      \
    xg_sim_wgmma(d, a, b, add, 128, XG_SIM_BF16, XG_SIM_HERE)
#define xg_wgmma_s8_64x256x32(d, a, b, add) xg_sim_wgmma(d, a, b, add, 256, XG_SIM_S8, XG_SIM_HERE)
#define xg_wgmma_bf16_64x64x16(d, a, b, add)                                                       \
    xg_sim_wgmma(d, a, b, add, 64, XG_SIM_BF16, XG_SIM_HERE)
/* The same with a type, "f16" or "bf16", and majors as the instruction has them: "0, 1". */
#define XG_SIM_WGMMA(type, majors, d, a, b, add, columns)                                          \
    xg_sim_wgmma(d, a, b, add, columns,                                                            \
                 ((type)[0] == 'b' ? XG_SIM_BF16 : 0u) |                                           \
                     ((majors)[0] == '1' ? XG_SIM_A_MN_MAJOR : 0u) |                               \
                     ((majors)[3] == '1' ? XG_SIM_B_MN_MAJOR : 0u),                                \
                 XG_SIM_HERE)
#define XG_WGMMA_64x64x16(type, majors, d, a, b, add)  XG_SIM_WGMMA(type, majors, d, a, b, add, 64)
#define XG_WGMMA_64x128x16(type, majors, d, a, b, add) XG_SIM_WGMMA(type, majors, d, a, b, add, 128)
#define XG_WGMMA_64x256x16(type, majors, d, a, b, add) XG_SIM_WGMMA(type, majors, d, a, b, add, 256)
#define xg_wgmma_ra_64x64x16(d, a, b, add)             xg_sim_wgmma_ra(d, a, b, add, 64, XG_SIM_HERE)
#define xg_wgmma_commit()                              xg_sim_wgmma_commit(XG_SIM_HERE)
#define xg_wgmma_wait(n)                               xg_sim_wgmma_wait(n, XG_SIM_HERE)
#define xg_wgmma_undefined(d, count)                                                               \
    do {                                                                                           \
        for (int xg_i = 0; xg_i < (count); xg_i++)                                                 \
            (d)[xg_i] = __builtin_nanf("");                                                        \
    } while (0)
#define xg_wgmma_pin(d, count) ((void)(d), (void)(count))
#define xg_wgmma_undefined_s32(d, count)                                                           \
    do {                                                                                           \
        for (int xg_i = 0; xg_i < (count); xg_i++)                                                 \
            (d)[xg_i] = INT32_MIN;                                                                 \
    } while (0)
#define xg_wgmma_pin_s32(d, count) ((void)(d), (void)(count))

#endif
