/* SPDX-License-Identifier: BSD-3-Clause */
/* Products by wgmma, each with a mistake or without: C of one block. */
#include "args.h"
#include "families/common/dialect.h"
#include "families/common/ptx_wgmma.h"

#include "sm90_kernels.h"

/* One product of 64 x 256 for each 16 k; a unit of A, then two of B. */
XG_DEVICE void xg_multiply_wide(const xg_test_args p, int mistake)
{
    XG_DYNAMIC_SHARED(unsigned char, memory);
    const unsigned base = xg_shared_address(memory), barrier = base + 3 * UNIT_BYTES;
    const int t = (int)threadIdx.x;
    const uint64_t a = xg_wgmma_descriptor(base), b = xg_wgmma_descriptor(base + UNIT_BYTES);
    const uint64_t mode = mistake == WRONG_SWIZZLE ? 3ull << 62 : 0;
    float acc[128];

    for (int i = 0; i < 128; i++)
        acc[i] = 1.0f;
    if (t == 0) {
        xg_mbarrier_init(barrier, 1);
        xg_mbarrier_init_fence();
        xg_mbarrier_arrive_expect_tx(barrier, 3 * UNIT_BYTES);
        xg_bulk_copy(base, p.a, UNIT_BYTES, barrier);
        xg_bulk_copy(base + UNIT_BYTES, p.b, 2 * UNIT_BYTES, barrier);
    }
    __syncthreads();
    xg_mbarrier_wait(barrier, 0);
    xg_wgmma_fence();
    for (int l = 0; l < 8; l += 2)
        xg_wgmma_64x256x16(acc, (a + (uint64_t)l) ^ mode, b + (uint64_t)l, 1);
    xg_wgmma_commit();
    if (mistake == ACCUMULATORS_TOO_EARLY)
        acc[3] += 1.0f;
    xg_wgmma_wait(0);
    xg_wgmma_pin(acc, 128);
    float *c = p.c + (t / 32 * 16 + t % 32 / 4) * p.c_stride_m + t % 4 * 2;
    for (int i = 0; i < 128; i++)
        c[i / 2 % 2 * 8 * p.c_stride_m + i / 4 * 8 + i % 2] = acc[i];
}

/* 64 rows by a unit of B, into accumulators that other instructions used before. */
XG_DEVICE void xg_begin_rows(unsigned a, unsigned b, float *acc)
{
    xg_wgmma_fence();
    for (int l = 0; l < 4; l++)
        xg_wgmma_64x128x16(acc, xg_wgmma_descriptor(a) + 2 * (uint64_t)l,
                           xg_wgmma_descriptor(b) + 2 * (uint64_t)l, l > 0);
    xg_wgmma_commit();
}

XG_DEVICE void xg_end_rows(float *acc, float *total, int mistake)
{
    if (mistake == NO_PRODUCT_WAIT)
        xg_wgmma_wait(2);
    else
        xg_wgmma_wait(1);
    xg_wgmma_pin(acc, 64);
    for (int i = 0; i < 64; i++)
        total[i] += acc[i];
}

/*
 * 128 rows by one warpgroup, half of them multiplied while the other half's
 * accumulators are added up; p.k units of A, and as many of B, all in shared memory.
 */
XG_DEVICE void xg_multiply_in_turns(const xg_test_args p, int mistake)
{
    XG_DYNAMIC_SHARED(unsigned char, memory);
    const unsigned base = xg_shared_address(memory), bytes = (unsigned)p.k * UNIT_BYTES;
    const unsigned barrier = base + 2 * bytes, half = UNIT_BYTES / 2;
    const int t = (int)threadIdx.x;
    float even[64], odd[64], totals[2][64];

    for (int i = 0; i < 64; i++)
        odd[i] = totals[0][i] = totals[1][i] = 0.0f;
    if (t == 0) {
        xg_mbarrier_init(barrier, 1);
        xg_mbarrier_init_fence();
        xg_mbarrier_arrive_expect_tx(barrier, 2 * bytes);
        xg_bulk_copy(base, p.a, bytes, barrier);
        xg_bulk_copy(base + bytes, p.b, bytes, barrier);
    }
    __syncthreads();
    xg_mbarrier_wait(barrier, 0);
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
XG_DEVICE void xg_multiply_stored(const xg_test_args p, int mistake)
{
    XG_DYNAMIC_SHARED(unsigned, words);
    const unsigned base = xg_shared_address(words);
    const int t = (int)threadIdx.x;
    float acc[64];

    for (int i = t; i < UNIT_BYTES / 4; i += 128) {
        const unsigned row = (unsigned)i / 32, chunk = (unsigned)i % 32 / 4;
        words[row * 32 + (chunk ^ row % 8) * 4 + (unsigned)i % 4] =
            mistake == BF16 ? xg_bf16x2(p.a[2 * i], p.a[2 * i + 1])
                            : xg_half2(p.a[2 * i], p.a[2 * i + 1]);
    }
    if (mistake != NO_ASYNC_FENCE)
        xg_fence_proxy_async();
    if (mistake != NO_STORE_BARRIER)
        __syncthreads();
    xg_wgmma_fence();
    for (int l = 0; l < 4; l++) {
        const uint64_t operand = xg_wgmma_descriptor(base) + 2 * (uint64_t)l;
        if (mistake == BF16 || (mistake == DIFFERENT_TYPES && t == 77))
            xg_wgmma_bf16_64x128x16(acc, operand, operand, l > 0);
        else
            xg_wgmma_64x128x16(acc, operand, operand, l > 0);
    }
    xg_wgmma_commit();
    xg_wgmma_wait(0);
    xg_wgmma_pin(acc, 64);
    float *c = p.c + (t / 32 * 16 + t % 32 / 4) * p.c_stride_m + t % 4 * 2;
    for (int i = 0; i < 64; i++)
        c[i / 2 % 2 * 8 * p.c_stride_m + i / 4 * 8 + i % 2] = acc[i];
}
