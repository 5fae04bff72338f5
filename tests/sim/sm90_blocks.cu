/* SPDX-License-Identifier: BSD-3-Clause */
/* What threads and blocks pass to one another: by barriers, clusters, counters and tiles by TMA. */
#include "args.h"
#include "families/common/dialect.h"
#include "families/common/ptx_sm90.h"

#include "sm90_kernels.h"

/* One warp hands rows to another, mirrored, by plain stores and loads and two stages. */
XG_DEVICE void xg_hand_over(const xg_test_args p, int mistake)
{
    XG_DYNAMIC_SHARED(float, rows);
    const unsigned full = xg_shared_address(rows + 64), empty = full + 16;
    const int t = (int)threadIdx.x, lane = t % 32;

    if (t == 0)
        for (unsigned i = 0; i < 2; i++) {
            xg_mbarrier_init(full + 8 * i, 32);
            xg_mbarrier_init(empty + 8 * i, 32);
        }
    __syncthreads();
    for (int row = 0; row < p.m; row++) {
        const unsigned stage = (unsigned)row % 2, parity = (unsigned)row / 2 % 2;
        float *there = rows + stage * 32;
        if (t < 32) {
            if (mistake != NO_EMPTY_WAIT)
                xg_mbarrier_wait(empty + 8 * stage, parity ^ 1);
            if (mistake == EARLY_RELEASE)
                xg_mbarrier_arrive(full + 8 * stage);
            there[lane] = p.a[row * p.a_stride_m + lane];
            if (mistake != EARLY_RELEASE)
                xg_mbarrier_arrive(full + 8 * stage);
        } else {
            if (mistake != NO_FULL_WAIT)
                xg_mbarrier_wait(full + 8 * stage, parity);
            p.c[row * p.c_stride_m + lane] = there[31 - lane];
            xg_mbarrier_arrive(empty + 8 * stage);
        }
    }
}

/* A barrier for each of two warps. */
XG_DEVICE void xg_sync_own(int warp)
{
    if (warp == 0)
        xg_named_barrier_sync(1, 32);
    else
        xg_named_barrier_sync(2, 32);
}

/* Each of two warps mirrors its own elements, row after row. */
XG_DEVICE void xg_mirror_rows(const xg_test_args p, int mistake)
{
    XG_DYNAMIC_SHARED(float, numbers);
    const int t = (int)threadIdx.x, group = t / 32;

    for (int row = 0; row < p.m; row++) {
        numbers[t] = p.a[row * p.a_stride_m + t];
        if (mistake != NO_FULL_WAIT)
            xg_sync_own(group);
        p.c[row * p.c_stride_m + t] = numbers[group * 32 + 31 - t % 32];
        if (mistake != NO_EMPTY_WAIT)
            xg_sync_own(group);
    }
}

/* Each thread reads what the same thread of the next block of its cluster has. */
XG_DEVICE void xg_read_neighbour(const xg_test_args p, int mistake)
{
    XG_DYNAMIC_SHARED(unsigned, words);
    const unsigned rank = xg_cluster_rank(), blocks = (unsigned)p.m;
    const unsigned t = threadIdx.x;

    words[t] = xg_half2(p.a[XG_BLOCK_X * blockDim.x + t], 0.0f);
    if (mistake != NO_FIRST_JOIN)
        xg_cluster_arrive();
    const unsigned neighbour = (rank + (unsigned)p.k) % blocks;
    if (mistake != NO_FIRST_JOIN)
        xg_cluster_wait();
    const unsigned word = xg_cluster_load(xg_shared_address(&words[t]), neighbour);
    p.c[XG_BLOCK_X * blockDim.x + t] = xg_half2_low(word);
    if (mistake != NO_LAST_JOIN)
        xg_join_cluster();
}

/*
 * Counts in C: each warp of a block counts its block's up, once the block before has, or with a
 * mistake the block after it, which need not have begun.
 */
XG_DEVICE void xg_wait_in_turn(const xg_test_args p, int mistake)
{
    unsigned *const counts = (unsigned *)(void *)p.c;
    const unsigned other = mistake == RIGHT ? blockIdx.x - 1 : blockIdx.x + 1;

    if (threadIdx.x == 0 && other < gridDim.x)
        xg_counter_wait(counts + other, blockDim.x / 32);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        xg_counter_add_release(counts + blockIdx.x);
}

/* Tiles of A and B at a block's columns and a step's rows. */
XG_DEVICE void xg_load_tiles(unsigned ring, unsigned step, int mistake)
{
    const unsigned stage = step % SUM_STAGES, to = ring + stage * 2 * SUM_BYTES;
    const unsigned full = ring + SUM_STAGES * 2 * SUM_BYTES + stage * 8,
                   empty = full + SUM_STAGES * 8;
    const int x = (int)blockIdx.x * SUM_WIDTH, y = (int)step * SUM_ROWS;

    if (step >= SUM_STAGES && mistake != NO_EMPTY_WAIT)
        xg_mbarrier_wait(empty, step / SUM_STAGES % 2 ^ 1);
    xg_mbarrier_arrive_expect_tx(full, mistake == WRONG_BYTES ? SUM_BYTES : 2 * SUM_BYTES);
    xg_tma_load(to + (mistake == MISALIGNED ? 64 : 0), XG_TENSOR_MAP(a), x, y, full);
    xg_tma_load(to + SUM_BYTES, XG_TENSOR_MAP(b), x + (mistake == BETWEEN), y, full);
}

/* C = A + B: the rows of p.k steps, prefetched one step ahead. */
XG_DEVICE void xg_add_tiles(const xg_test_args p, int mistake)
{
    XG_DYNAMIC_SHARED(float, tiles);
    const unsigned ring = xg_shared_address(tiles), t = threadIdx.x, lane = t % 32;
    const unsigned full = ring + SUM_STAGES * 2 * SUM_BYTES, empty = full + SUM_STAGES * 8;

    for (unsigned stage = 0; t == 0 && stage < SUM_STAGES; stage++) {
        xg_mbarrier_init(full + stage * 8, 1);
        xg_mbarrier_init(empty + stage * 8, SUM_THREADS / 32);
    }
    xg_mbarrier_init_fence();
    __syncthreads();
    if (t < 32 && xg_elect_one())
        xg_load_tiles(ring, 0, mistake);
    for (unsigned step = 0; step < p.k; step++) {
        const unsigned stage = step % SUM_STAGES;
        const float *const a = tiles + stage * 2 * (SUM_BYTES / 4), *const b = a + SUM_BYTES / 4;
        if (t < 32 && step + 1 < p.k && xg_elect_one())
            xg_load_tiles(ring, step + 1, mistake);
        if (mistake != NO_FULL_WAIT && !xg_mbarrier_test_wait(full + stage * 8, step / SUM_STAGES % 2))
            xg_mbarrier_wait(full + stage * 8, step / SUM_STAGES % 2);
        for (unsigned i = t; i < SUM_BYTES / 4; i += SUM_THREADS)
            p.c[(step * SUM_ROWS + i / SUM_WIDTH) * p.c_stride_m + blockIdx.x * SUM_WIDTH +
                i % SUM_WIDTH] = a[i] + b[i];
        __syncwarp();
        xg_mbarrier_arrive_if(empty + stage * 8, lane == 0);
    }
}

/* Static shared memory, which a cluster's blocks may not have here. */
XG_DEVICE void xg_use_static(const xg_test_args p, int mistake)
{
    __shared__ float kept[1024];

    if (mistake)
        kept[threadIdx.x] = p.a[threadIdx.x];
    xg_join_cluster();
    p.c[XG_BLOCK_X * blockDim.x + threadIdx.x] = mistake ? kept[threadIdx.x] : p.a[threadIdx.x];
}
