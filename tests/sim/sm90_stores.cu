/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles that a warp writes to shared memory by stmatrix, and TMA from there to C. */
#include "args.h"
#include "families/common/dialect.h"
#include "families/common/ptx_sm90.h"

#include "sm90_kernels.h"

/* Copies tile after tile of A, elements of 16 bits, to C: rows of p.k steps, by two boxes. */
XG_DEVICE void xg_store_tiles(const xg_test_args p, int mistake)
{
    XG_DYNAMIC_SHARED(unsigned char, boxes);
    const unsigned lane = threadIdx.x % 32, x = blockIdx.x * BOX_WIDTH;
    const unsigned row = lane % 16, chunk = lane / 16 ^ lane % 8;

    for (unsigned step = 0; step < p.k; step++) {
        const unsigned box = xg_shared_address(boxes) + step % 2 * BOX_BYTES;
        const int y = (int)step * BOX_ROWS;
        if (mistake != NO_EMPTY_WAIT)
            xg_bulk_wait_read(1);
        __syncwarp();
        for (unsigned i = 0; i < BOX_WIDTH / 16; i++) {
            unsigned words[4];
            for (unsigned j = 0; j < 4; j++) {
                const int64_t at = XG_MIN(y + (int)(lane / 4 + j % 2 * 8), (int)p.m - 1);
                const int64_t word = XG_MIN(x / 2 + 8 * i + j / 2 * 4 + lane % 4, p.n / 2 - 1);
                words[j] = xg_bits_of(p.a[at * p.a_stride_m + word]);
            }
            xg_stmatrix_x4(box + row * 128 + (chunk ^ 2 * i) * 16 + (mistake == MISALIGNED ? 8 : 0),
                           words);
        }
        if (mistake != NO_ASYNC_FENCE)
            xg_fence_proxy_async_shared();
        if (mistake != NO_STORE_BARRIER)
            __syncwarp();
        if (xg_elect_one()) {
            xg_tma_store_3d(XG_TENSOR_MAP(c), (int)x, y, 0, box);
            xg_bulk_commit();
        }
    }
    if (mistake != NO_LAST_JOIN)
        xg_bulk_wait_read(0);
}
