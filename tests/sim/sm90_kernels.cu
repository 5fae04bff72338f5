/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One kernel with all that lib/families/common/ptx_sm90.h has, and twins of it that each
 * make one mistake, for the simulator to find.
 *
 * C = A * B by tiles of 128 x 128: A and B are packed in units of 128 rows
 * (columns) by 64 k, as wgmma wants them in shared memory; k counts units. The two blocks of a
 * cluster have different rows of A and the same columns of B, of which each loads one half for
 * both. In a block one thread loads and two warpgroups multiply: a pipeline of STAGES.
 */
#include "args.h"
#include "families/common/dialect.h"
#include "families/common/ptx_wgmma.h"

#include "sm90_kernels.h"

/* The stage that is next, and the parity of its barriers' phase. */
typedef struct {
    unsigned stage, parity;
} xg_pipeline_state;

XG_DEVICE void xg_next_stage(xg_pipeline_state *state)
{
    if (++state->stage == STAGES) {
        state->stage = 0;
        state->parity ^= 1;
    }
}

/* Where things are in shared memory; all are addresses. */
typedef struct {
    unsigned stages, full, empty;
} xg_ring;

XG_DEVICE void xg_init_ring(const xg_ring ring, int mistake)
{
    for (unsigned i = 0; i < STAGES; i++) {
        xg_mbarrier_init(ring.full + 8 * i, 1);
        xg_mbarrier_init(ring.empty + 8 * i, mistake == FEW_ARRIVALS ? 3 : 4);
    }
    if (mistake != NO_INIT_FENCE)
        xg_mbarrier_init_fence();
}

/* One unit of A, and this block's half of one of B for both blocks. */
XG_DEVICE void xg_load_stage(const xg_ring ring, unsigned stage, const char *a, const char *b,
                             unsigned rank, int mistake)
{
    const unsigned to = ring.stages + stage * STAGE_BYTES, full = ring.full + 8 * stage;
    const unsigned half = rank * (UNIT_BYTES / 2);
    if (mistake == NO_EXPECT)
        xg_mbarrier_arrive(full);
    else
        xg_mbarrier_arrive_expect_tx(full, mistake == WRONG_BYTES ? UNIT_BYTES : STAGE_BYTES);
    xg_bulk_copy(to, a, UNIT_BYTES, full);
    xg_bulk_copy_multicast(to + UNIT_BYTES + half, b + half,
                           mistake == ODD_BYTES ? 24 : UNIT_BYTES / 2, full,
                           mistake == WRONG_MASK ? 7 : 3);
}

XG_DEVICE void xg_produce(const xg_test_args p, const xg_ring ring, unsigned rank, int mistake)
{
    const char *a = (const char *)p.a + XG_BLOCK_X * p.k * UNIT_BYTES;
    const char *b = (const char *)p.b + (int64_t)blockIdx.y * p.k * UNIT_BYTES;
    xg_pipeline_state state = {0, mistake == WRONG_EMPTY_PARITY ? 0 : 1};
    for (int64_t unit = 0; unit < p.k; unit++) {
        if (mistake != NO_EMPTY_WAIT)
            xg_mbarrier_wait(ring.empty + 8 * state.stage, state.parity);
        xg_load_stage(ring, state.stage, a + unit * UNIT_BYTES, b + unit * UNIT_BYTES, rank,
                      mistake);
        xg_next_stage(&state);
    }
}

/* Both blocks may fill a stage when all four warpgroups have done with it. */
XG_DEVICE void xg_release_stage(const xg_ring ring, unsigned stage, int t, int mistake)
{
    if (mistake == NO_RELEASE)
        return;
    if (t < 2)
        xg_mbarrier_arrive_at(ring.empty + 8 * stage, (unsigned)t);
}

XG_DEVICE void xg_multiply_stage(const xg_ring ring, unsigned stage, int group, float *acc,
                                 int mistake)
{
    const unsigned at = ring.stages + stage * STAGE_BYTES;
    const unsigned skew = mistake == MISALIGNED ? 16 : 0;
    const uint64_t a = xg_wgmma_descriptor(at + (unsigned)group * (UNIT_BYTES / 2) + skew);
    const uint64_t b = xg_wgmma_descriptor(at + UNIT_BYTES);
    if (mistake != NO_PRODUCT_FENCE)
        xg_wgmma_fence();
    for (int l = 0; l < 4; l++)
        xg_wgmma_64x128x16(
            acc, a + 2 * (uint64_t)l,
            b + (mistake == DIFFERENT_OPERANDS ? threadIdx.x % 2 * 2 : 0) + 2 * (uint64_t)l, l > 0);
    xg_wgmma_commit();
}

XG_DEVICE void xg_consume(const xg_test_args p, const xg_ring ring, int group, int t, int mistake)
{
    float acc[64], total[64];
    xg_pipeline_state state = {0, mistake == WRONG_FULL_PARITY ? 1 : 0};
    for (int i = 0; i < 64; i++)
        total[i] = 0.0f;
    for (int64_t unit = 0; unit < p.k - (mistake == LEFT_OVER); unit++) {
        if (mistake == LEAVING_THREAD && t == 5 && unit == 1)
            break;
        if (mistake != NO_FULL_WAIT)
            xg_mbarrier_wait(ring.full + 8 * state.stage, state.parity);
        if (mistake == EARLY_RELEASE)
            xg_release_stage(ring, state.stage, t, mistake);
        if (mistake != ABSENT_THREAD || t != 5 || unit != 1)
            xg_multiply_stage(ring, state.stage, group, acc, mistake);
        if (mistake != NO_PRODUCT_WAIT)
            xg_wgmma_wait(0);
        xg_wgmma_pin(acc, 64);
        if (mistake != EARLY_RELEASE)
            xg_release_stage(ring, state.stage, t, mistake);
        for (int i = 0; i < 64; i++)
            total[i] += acc[i];
        xg_next_stage(&state);
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

XG_DEVICE void xg_multiply(const xg_test_args p, int mistake)
{
    XG_DYNAMIC_SHARED(unsigned char, memory);
    const unsigned base = xg_shared_address(memory);
    const xg_ring ring = {base, base + STAGES * STAGE_BYTES, base + STAGES * (STAGE_BYTES + 8)};
    const int group = (int)threadIdx.x / 128, t = (int)threadIdx.x % 128;

    if (threadIdx.x == 0)
        xg_init_ring(ring, mistake);
    __syncthreads();
    if (mistake != NO_FIRST_JOIN)
        xg_join_cluster();
    xg_pdl_wait();
    if (group == 0) {
        xg_setmaxnreg_dec(40);
        if (t == 0)
            xg_produce(p, ring, xg_cluster_rank(), mistake);
        __syncwarp();
    } else {
        xg_setmaxnreg_inc(232);
        xg_consume(p, ring, group - 1, t, mistake);
    }
    xg_pdl_trigger();
    if (mistake != NO_LAST_JOIN)
        xg_join_cluster();
}

#define XG_SM90_KERNEL(name, mistake)                                                              \
    XG_KERNEL(, name, xg_test_args)                                                                \
    {                                                                                              \
        xg_multiply(p, mistake);                                                                   \
    }
XG_SM90_KERNELS(XG_SM90_KERNEL)
