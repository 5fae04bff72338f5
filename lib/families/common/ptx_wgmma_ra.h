/* SPDX-License-Identifier: BSD-3-Clause */
/* wgmma with A in registers. The simulator's model is in backend/sim/wgmma.c. */
#ifndef XGEMM_KERNELS_PTX_WGMMA_RA_H
#define XGEMM_KERNELS_PTX_WGMMA_RA_H

#include "ptx_wgmma.h"

#ifdef __CUDACC__
/*
 * acc = A * B, plus acc where "add" is 1, as xg_wgmma_64x64x16() has it, but for A: 64 x 16 in
 * FP16, two to a register. With g = lane / 4 and t = lane % 4 a thread of warp w holds
 *
 *     a[0] = A(16 w + g, 2t) and A(16 w + g, 2t + 1)
 *     a[1] the same 8 rows below; a[2] and a[3] those of k + 8
 *
 * The registers are read until the product has been waited for; a fence is to come between their
 * last write and the product.
 */
XG_DEVICE void xg_wgmma_ra_64x64x16(float *acc, const unsigned *a, uint64_t b, int add)
{
    asm volatile(
        "{ .reg .pred add; setp.ne.b32 add, %37, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "
        "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
        "{%32, %33, %34, %35}, %36, add, 1, 1, 0; }"
        : XG_ACCUMULATORS16(acc, 0), XG_ACCUMULATORS16(acc, 16)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add));
}
#endif

#endif
