/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One kernel with all that lib/families/common/ptx_sm90.h has, and twins of it that each
 * make one mistake, for the simulator to find.
 *
 * C = A * B by tiles of 128 x 128: A and B are packed in units of 128 rows
 * (columns) by 64 k, as the matrix products want them in shared memory; k counts
 * units. The two blocks of a cluster have different rows of A and the same
 * columns of B, of which each loads one half for both. In a block one thread
 * loads and two warpgroups multiply, by way of a ring of slots.
 */
#include "families/common/dialect.h"
#include "families/common/ptx_sm90.h"

#include "sm90_kernels.h"

/* The slot that is next in turn, and the parity of its barriers' phase. */
typedef struct {
    unsigned slot, parity;
} xg_turn;

XG_DEVICE void xg_next_turn(xg_turn *turn)
{
    if (++turn->slot == SLOTS) {
        turn->slot = 0;
        turn->parity ^= 1;
    }
}

/* Where things are in shared memory; all are addresses. */
typedef struct {
    unsigned slots, full, empty;
} xg_ring;

XG_DEVICE void xg_init_ring(const xg_ring ring, int mistake)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        xg_barrier_init(ring.full + 8 * i, 1);
        xg_barrier_init(ring.empty + 8 * i, mistake == FEW_ARRIVALS ? 3 : 4);
    }
    if (mistake != NO_INIT_FENCE)
        xg_barrier_init_fence();
}

/* One unit of A, and this block's half of one of B for both blocks. */
XG_DEVICE void xg_load_slot(const xg_ring ring, unsigned slot, const char *a, const char *b,
                            unsigned rank, int mistake)
{
    const unsigned to = ring.slots + slot * SLOT_BYTES, full = ring.full + 8 * slot;
    const unsigned half = rank * (UNIT_BYTES / 2);
    if (mistake == NO_EXPECT)
        xg_barrier_arrive(full);
    else
        xg_barrier_expect(full, mistake == WRONG_BYTES ? UNIT_BYTES : SLOT_BYTES);
    xg_bulk_copy(to, a, UNIT_BYTES, full);
    xg_bulk_copy_multicast(to + UNIT_BYTES + half, b + half,
                           mistake == ODD_BYTES ? 24 : UNIT_BYTES / 2, full,
                           mistake == WRONG_MASK ? 7 : 3);
}

XG_DEVICE void xg_produce(const xg_args p, const xg_ring ring, unsigned rank, int mistake)
{
    const char *a = (const char *)p.a + XG_BLOCK_X * p.k * UNIT_BYTES;
    const char *b = (const char *)p.b + (int64_t)blockIdx.y * p.k * UNIT_BYTES;
    xg_turn turn = {0, mistake == WRONG_EMPTY_PARITY ? 0 : 1};
    for (int64_t unit = 0; unit < p.k; unit++) {
        if (mistake != NO_EMPTY_WAIT)
            xg_barrier_wait(ring.empty + 8 * turn.slot, turn.parity);
        xg_load_slot(ring, turn.slot, a + unit * UNIT_BYTES, b + unit * UNIT_BYTES, rank, mistake);
        xg_next_turn(&turn);
    }
}

/* Both blocks may fill a slot when all four warpgroups have done with it. */
XG_DEVICE void xg_release_slot(const xg_ring ring, unsigned slot, int t, int mistake)
{
    if (mistake == NO_RELEASE)
        return;
    if (t < 2)
        xg_barrier_arrive_at(ring.empty + 8 * slot, (unsigned)t);
}

XG_DEVICE void xg_multiply_slot(const xg_ring ring, unsigned slot, int group, float *sum,
                                int mistake)
{
    const unsigned at = ring.slots + slot * SLOT_BYTES;
    const unsigned skew = mistake == MISALIGNED ? 16 : 0;
    const uint64_t a = xg_wgmma_operand(at + (unsigned)group * (UNIT_BYTES / 2) + skew);
    const uint64_t b = xg_wgmma_operand(at + UNIT_BYTES);
    if (mistake != NO_PRODUCT_FENCE)
        xg_wgmma_fence();
    for (int l = 0; l < 4; l++)
        xg_wgmma_64x128x16(
            sum, a + 2 * (uint64_t)l,
            b + (mistake == DIFFERENT_OPERANDS ? threadIdx.x % 2 * 2 : 0) + 2 * (uint64_t)l, l > 0);
    xg_wgmma_commit();
}

XG_DEVICE void xg_consume(const xg_args p, const xg_ring ring, int group, int t, int mistake)
{
    float sum[64], total[64];
    xg_turn turn = {0, mistake == WRONG_FULL_PARITY ? 1 : 0};
    for (int i = 0; i < 64; i++)
        total[i] = 0.0f;
    for (int64_t unit = 0; unit < p.k - (mistake == LEFT_OVER); unit++) {
        if (mistake == LEAVING_THREAD && t == 5 && unit == 1)
            break;
        if (mistake != NO_FULL_WAIT)
            xg_barrier_wait(ring.full + 8 * turn.slot, turn.parity);
        if (mistake == EARLY_RELEASE)
            xg_release_slot(ring, turn.slot, t, mistake);
        if (mistake != ABSENT_THREAD || t != 5 || unit != 1)
            xg_multiply_slot(ring, turn.slot, group, sum, mistake);
        if (mistake != NO_PRODUCT_WAIT)
            xg_wgmma_wait(0);
        xg_wgmma_pin(sum, 64);
        if (mistake != EARLY_RELEASE)
            xg_release_slot(ring, turn.slot, t, mistake);
        for (int i = 0; i < 64; i++)
            total[i] += sum[i];
        xg_next_turn(&turn);
    }
    if (mistake == NO_PRODUCT_WAIT)
        xg_wgmma_wait(0);
    const int64_t row = XG_BLOCK_X * TILE + group * 64 + t / 32 * 16 + t % 32 / 4;
    float *c = p.c + row * p.c_stride_m + (int64_t)blockIdx.y * TILE + t % 4 * 2;
    for (int i = 0; i < 64; i++)
        c[i / 2 % 2 * 8 * p.c_stride_m + i / 4 * 8 + i % 2] = total[i];
}

XG_DEVICE void xg_join_cluster(void)
{
    xg_cluster_arrive();
    xg_cluster_wait();
}

XG_DEVICE void xg_multiply(const xg_args p, int mistake)
{
    XG_DYNAMIC_SHARED(unsigned char, memory);
    const unsigned base = xg_shared_address(memory);
    const xg_ring ring = {base, base + SLOTS * SLOT_BYTES, base + SLOTS * (SLOT_BYTES + 8)};
    const int group = (int)threadIdx.x / 128, t = (int)threadIdx.x % 128;

    if (threadIdx.x == 0)
        xg_init_ring(ring, mistake);
    __syncthreads();
    if (mistake != NO_FIRST_JOIN)
        xg_join_cluster();
    xg_grid_wait();
    if (group == 0) {
        xg_registers_to_less(40);
        if (t == 0)
            xg_produce(p, ring, xg_cluster_rank(), mistake);
        __syncwarp();
    } else {
        xg_registers_to_more(232);
        xg_consume(p, ring, group - 1, t, mistake);
    }
    xg_grid_release();
    if (mistake != NO_LAST_JOIN)
        xg_join_cluster();
}

/* One product of 64 x 256 for each 16 k; a unit of A, then two of B. */
XG_DEVICE void xg_multiply_wide(const xg_args p, int mistake)
{
    XG_DYNAMIC_SHARED(unsigned char, memory);
    const unsigned base = xg_shared_address(memory), barrier = base + 3 * UNIT_BYTES;
    const int t = (int)threadIdx.x;
    const uint64_t a = xg_wgmma_operand(base), b = xg_wgmma_operand(base + UNIT_BYTES);
    const uint64_t mode = mistake == WRONG_SWIZZLE ? 3ull << 62 : 0;
    float sum[128];

    for (int i = 0; i < 128; i++)
        sum[i] = 1.0f;
    if (t == 0) {
        xg_barrier_init(barrier, 1);
        xg_barrier_init_fence();
        xg_barrier_expect(barrier, 3 * UNIT_BYTES);
        xg_bulk_copy(base, p.a, UNIT_BYTES, barrier);
        xg_bulk_copy(base + UNIT_BYTES, p.b, 2 * UNIT_BYTES, barrier);
    }
    __syncthreads();
    xg_barrier_wait(barrier, 0);
    xg_wgmma_fence();
    for (int l = 0; l < 8; l += 2)
        xg_wgmma_64x256x16(sum, (a + (uint64_t)l) ^ mode, b + (uint64_t)l, 1);
    xg_wgmma_commit();
    if (mistake == SUMS_TOO_EARLY)
        sum[3] += 1.0f;
    xg_wgmma_wait(0);
    xg_wgmma_pin(sum, 128);
    float *c = p.c + (t / 32 * 16 + t % 32 / 4) * p.c_stride_m + t % 4 * 2;
    for (int i = 0; i < 128; i++)
        c[i / 2 % 2 * 8 * p.c_stride_m + i / 4 * 8 + i % 2] = sum[i];
}

/* 64 rows by a unit of B, into sums that others used before. */
XG_DEVICE void xg_begin_rows(unsigned a, unsigned b, float *sum)
{
    xg_wgmma_fence();
    for (int l = 0; l < 4; l++)
        xg_wgmma_64x128x16(sum, xg_wgmma_operand(a) + 2 * (uint64_t)l,
                           xg_wgmma_operand(b) + 2 * (uint64_t)l, l > 0);
    xg_wgmma_commit();
}

XG_DEVICE void xg_end_rows(float *sum, float *total, int mistake)
{
    if (mistake == NO_PRODUCT_WAIT)
        xg_wgmma_wait(2);
    else
        xg_wgmma_wait(1);
    xg_wgmma_pin(sum, 64);
    for (int i = 0; i < 64; i++)
        total[i] += sum[i];
}

/*
 * 128 rows by one warpgroup, half of them multiplied while the other half's sums
 * are added up; p.k units of A, and as many of B, all in shared memory.
 */
XG_DEVICE void xg_multiply_in_turns(const xg_args p, int mistake)
{
    XG_DYNAMIC_SHARED(unsigned char, memory);
    const unsigned base = xg_shared_address(memory), bytes = (unsigned)p.k * UNIT_BYTES;
    const unsigned barrier = base + 2 * bytes, half = UNIT_BYTES / 2;
    const int t = (int)threadIdx.x;
    float even[64], odd[64], totals[2][64];

    for (int i = 0; i < 64; i++)
        odd[i] = totals[0][i] = totals[1][i] = 0.0f;
    if (t == 0) {
        xg_barrier_init(barrier, 1);
        xg_barrier_init_fence();
        xg_barrier_expect(barrier, 2 * bytes);
        xg_bulk_copy(base, p.a, bytes, barrier);
        xg_bulk_copy(base + bytes, p.b, bytes, barrier);
    }
    __syncthreads();
    xg_barrier_wait(barrier, 0);
    for (unsigned unit = 0; unit < (unsigned)p.k; unit++) {
        const unsigned a = base + unit * UNIT_BYTES, b = a + bytes;
        xg_begin_rows(a, b, even);
        xg_end_rows(odd, totals[1], mistake);
        xg_begin_rows(a + half, b, odd);
        xg_end_rows(even, totals[0], mistake);
    }
    xg_wgmma_wait(0);
    xg_end_rows(odd, totals[1], mistake);
    float *c = p.c + (t / 32 * 16 + t % 32 / 4) * p.c_stride_m + t % 4 * 2;
    for (int h = 0; h < 2; h++)
        for (int i = 0; i < 64; i++)
            c[(64 * h + i / 2 % 2 * 8) * p.c_stride_m + i / 4 * 8 + i % 2] = totals[h][i];
}

/* The product of 64 of the rows that threads stored with all 128, in FP16 or BF16. */
XG_DEVICE void xg_multiply_stored(const xg_args p, int mistake)
{
    XG_DYNAMIC_SHARED(unsigned, words);
    const unsigned base = xg_shared_address(words);
    const int t = (int)threadIdx.x;
    float sum[64];

    for (int i = t; i < UNIT_BYTES / 4; i += 128) {
        const unsigned row = (unsigned)i / 32, chunk = (unsigned)i % 32 / 4;
        words[row * 32 + (chunk ^ row % 8) * 4 + (unsigned)i % 4] =
            mistake == BF16 ? xg_bf16x2(p.a[2 * i], p.a[2 * i + 1])
                            : xg_half2(p.a[2 * i], p.a[2 * i + 1]);
    }
    if (mistake != NO_ASYNC_FENCE)
        xg_fence_async();
    if (mistake != NO_STORE_BARRIER)
        __syncthreads();
    xg_wgmma_fence();
    for (int l = 0; l < 4; l++) {
        const uint64_t operand = xg_wgmma_operand(base) + 2 * (uint64_t)l;
        if (mistake == BF16 || (mistake == DIFFERENT_TYPES && t == 77))
            xg_wgmma_bf16_64x128x16(sum, operand, operand, l > 0);
        else
            xg_wgmma_64x128x16(sum, operand, operand, l > 0);
    }
    xg_wgmma_commit();
    xg_wgmma_wait(0);
    xg_wgmma_pin(sum, 64);
    float *c = p.c + (t / 32 * 16 + t % 32 / 4) * p.c_stride_m + t % 4 * 2;
    for (int i = 0; i < 64; i++)
        c[i / 2 % 2 * 8 * p.c_stride_m + i / 4 * 8 + i % 2] = sum[i];
}

/* One warp hands rows to another, mirrored, by plain stores and loads and two slots. */
XG_DEVICE void xg_hand_over(const xg_args p, int mistake)
{
    XG_DYNAMIC_SHARED(float, rows);
    const unsigned full = xg_shared_address(rows + 64), empty = full + 16;
    const int t = (int)threadIdx.x, lane = t % 32;

    if (t == 0)
        for (unsigned i = 0; i < 2; i++) {
            xg_barrier_init(full + 8 * i, 32);
            xg_barrier_init(empty + 8 * i, 32);
        }
    __syncthreads();
    for (int row = 0; row < p.m; row++) {
        const unsigned slot = (unsigned)row % 2, parity = (unsigned)row / 2 % 2;
        float *there = rows + slot * 32;
        if (t < 32) {
            if (mistake != NO_EMPTY_WAIT)
                xg_barrier_wait(empty + 8 * slot, parity ^ 1);
            if (mistake == EARLY_RELEASE)
                xg_barrier_arrive(full + 8 * slot);
            there[lane] = p.a[row * p.a_stride_m + lane];
            if (mistake != EARLY_RELEASE)
                xg_barrier_arrive(full + 8 * slot);
        } else {
            if (mistake != NO_FULL_WAIT)
                xg_barrier_wait(full + 8 * slot, parity);
            p.c[row * p.c_stride_m + lane] = there[31 - lane];
            xg_barrier_arrive(empty + 8 * slot);
        }
    }
}

/* A barrier for each of two warps. */
XG_DEVICE void xg_sync_own(int warp)
{
    if (warp == 0)
        xg_group_sync(1, 32);
    else
        xg_group_sync(2, 32);
}

/* Each of two warps turns its own elements around, time after time. */
XG_DEVICE void xg_turn_groups(const xg_args p, int mistake)
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

/* Each thread takes what the same thread of the next block of its cluster has. */
XG_DEVICE void xg_read_neighbour(const xg_args p, int mistake)
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
    const unsigned word = xg_cluster_read(xg_shared_address(&words[t]), neighbour);
    p.c[XG_BLOCK_X * blockDim.x + t] = xg_half2_low(word);
    if (mistake != NO_LAST_JOIN)
        xg_join_cluster();
}

/* Wrong calls: "which" chooses one. */
XG_DEVICE void xg_use_barrier_wrongly(int64_t which, unsigned barrier)
{
    if (which == 0)
        xg_barrier_wait(barrier + 8, 0);
    if (which == 1)
        xg_barrier_init(barrier, 1);
    if (which == 2)
        xg_barrier_init(barrier + 8, 0);
    if (which == 3)
        xg_barrier_arrive(barrier + 4);
    if (which == 4)
        xg_barrier_arrive_at(barrier, 1);
    if (which == 5)
        xg_barrier_expect(barrier, 1 << 20);
    if (which == 6)
        xg_barrier_wait(barrier, 2);
    if (which == 7)
        xg_barrier_arrive(barrier + 1024);
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
        xg_barrier_expect(barrier, 32);
    if (which == 13)
        xg_barrier_arrive(barrier);
    if (which == 12 || which == 13)
        xg_bulk_copy(to, from, 16, barrier);
    if (which == 14)
        (void)xg_cluster_read(to + 2, 0);
    if (which == 21)
        xg_cluster_store(to, 0, 1, barrier);
    if (which == 26)
        xg_tile_copy(to, XG_MAP(a), 0, 0, barrier);
}

XG_DEVICE void xg_meet_wrongly(int64_t which)
{
    if (which == 22)
        xg_group_sync(0, 128);
    if (which == 23)
        xg_group_sync(1, 48);
    if (which == 24 && threadIdx.x < 32)
        xg_group_sync(1, 96);
    else if (which == 24)
        xg_group_sync(1, 128);
    if (which == 25 && threadIdx.x < 96)
        xg_group_sync(1, 128);
}

XG_DEVICE void xg_multiply_wrongly(int64_t which, unsigned at)
{
    float sum[64];
    if (which == 15)
        xg_registers_to_less(20);
    if (which == 16 && threadIdx.x % 2)
        xg_registers_to_more(240);
    if (which == 17)
        (void)xg_shared_address(&sum[0]);
    if (which == 18 || which == 19) {
        xg_wgmma_fence();
        xg_wgmma_64x128x16(sum, xg_wgmma_operand(at), xg_wgmma_operand(at), 0);
        xg_wgmma_commit();
    }
    if (which == 19)
        xg_wgmma_wait(0);
}

/* One wrong call, which p.k chooses; all before it is right. */
XG_DEVICE void xg_call_wrongly(const xg_args p, int mistake)
{
    XG_DYNAMIC_SHARED(unsigned char, memory);
    const unsigned base = xg_shared_address(memory), barrier = base + 1024;

    (void)mistake;
    if (threadIdx.x == 0) {
        xg_barrier_init(barrier, 1);
        xg_barrier_init_fence();
    }
    __syncthreads();
    xg_use_barrier_wrongly(p.k, barrier);
    if (threadIdx.x == 0)
        xg_copy_wrongly(p.k, (const char *)p.a, base, barrier);
    xg_meet_wrongly(p.k);
    xg_multiply_wrongly(p.k, base);
    if (p.k == 20) {
        memory[1024 + threadIdx.x % 8] = 0;
        xg_barrier_arrive(barrier);
    }
}

/*
 * Counts in C: each warp of a block counts its block's up, once the block before has, or with a
 * mistake the block after it, which need not have begun.
 */
XG_DEVICE void xg_wait_in_turn(const xg_args p, int mistake)
{
    unsigned *const counts = (unsigned *)(void *)p.c;
    const unsigned other = mistake == RIGHT ? blockIdx.x - 1 : blockIdx.x + 1;

    if (threadIdx.x == 0 && other < gridDim.x)
        xg_count_wait(counts + other, blockDim.x / 32);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        xg_count_up(counts + blockIdx.x);
}

/* Tiles of A and B at a block's columns and a stage's lines. */
XG_DEVICE void xg_send_tiles(unsigned ring, unsigned stage, int mistake)
{
    const unsigned slot = stage % SUM_SLOTS, to = ring + slot * 2 * SUM_BYTES;
    const unsigned full = ring + SUM_SLOTS * 2 * SUM_BYTES + slot * 8, empty = full + SUM_SLOTS * 8;
    const int x = (int)blockIdx.x * SUM_WIDTH, line = (int)stage * SUM_LINES;

    if (stage >= SUM_SLOTS && mistake != NO_EMPTY_WAIT)
        xg_barrier_wait(empty, stage / SUM_SLOTS % 2 ^ 1);
    xg_barrier_expect(full, mistake == WRONG_BYTES ? SUM_BYTES : 2 * SUM_BYTES);
    xg_tile_copy(to + (mistake == MISALIGNED ? 64 : 0), XG_MAP(a), x, line, full);
    xg_tile_copy(to + SUM_BYTES, XG_MAP(b), x + (mistake == BETWEEN), line, full);
}

/* C = A + B: the lines of p.k stages, a stage sent for ahead. */
XG_DEVICE void xg_add_tiles(const xg_args p, int mistake)
{
    XG_DYNAMIC_SHARED(float, tiles);
    const unsigned ring = xg_shared_address(tiles), t = threadIdx.x, lane = t % 32;
    const unsigned full = ring + SUM_SLOTS * 2 * SUM_BYTES, empty = full + SUM_SLOTS * 8;

    for (unsigned slot = 0; t == 0 && slot < SUM_SLOTS; slot++) {
        xg_barrier_init(full + slot * 8, 1);
        xg_barrier_init(empty + slot * 8, SUM_THREADS / 32);
    }
    xg_barrier_init_fence();
    __syncthreads();
    if (t < 32 && xg_elected())
        xg_send_tiles(ring, 0, mistake);
    for (unsigned stage = 0; stage < p.k; stage++) {
        const unsigned slot = stage % SUM_SLOTS;
        const float *const a = tiles + slot * 2 * (SUM_BYTES / 4), *const b = a + SUM_BYTES / 4;
        if (t < 32 && stage + 1 < p.k && xg_elected())
            xg_send_tiles(ring, stage + 1, mistake);
        if (mistake != NO_FULL_WAIT && !xg_barrier_passed(full + slot * 8, stage / SUM_SLOTS % 2))
            xg_barrier_wait(full + slot * 8, stage / SUM_SLOTS % 2);
        for (unsigned i = t; i < SUM_BYTES / 4; i += SUM_THREADS)
            p.c[(stage * SUM_LINES + i / SUM_WIDTH) * p.c_stride_m + blockIdx.x * SUM_WIDTH +
                i % SUM_WIDTH] = a[i] + b[i];
        __syncwarp();
        xg_barrier_arrive_if(empty + slot * 8, lane == 0);
    }
}

/* Static shared memory, which a cluster's blocks may not have here. */
XG_DEVICE void xg_use_static(const xg_args p, int mistake)
{
    __shared__ float kept[1024];

    if (mistake)
        kept[threadIdx.x] = p.a[threadIdx.x];
    xg_join_cluster();
    p.c[XG_BLOCK_X * blockDim.x + threadIdx.x] = mistake ? kept[threadIdx.x] : p.a[threadIdx.x];
}

#define XG_SM90_KERNEL(name, mistake)                                                              \
    XG_KERNEL                                                                                      \
    void xg_##name(const xg_args p)                                                                \
    {                                                                                              \
        xg_multiply(p, mistake);                                                                   \
    }
XG_SM90_KERNELS(XG_SM90_KERNEL)

#define XG_SM90_OTHER(name, body, mistake)                                                         \
    XG_KERNEL                                                                                      \
    void xg_##name(const xg_args p)                                                                \
    {                                                                                              \
        body(p, mistake);                                                                          \
    }
XG_SM90_OTHERS(XG_SM90_OTHER)
