/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrappers of wgmma, the matrix products of a warpgroup (compute capability 9.0), and the
 * descriptors of its operands in shared memory. The simulator's models of them are in
 * backend/sim/sm90_shim.h.
 */
#ifndef XGEMM_KERNELS_PTX_WGMMA_H
#define XGEMM_KERNELS_PTX_WGMMA_H

#include "ptx_sm90.h"

#ifdef __CUDACC__
/*
 * wgmma. fence() is needed before the first one that reads registers that other instructions have
 * written; commit() ends a group; wait(n) waits until at most n groups are in flight. pin() after
 * it keeps the compiler from moving uses of the accumulators before the wait.
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
#define xg_wgmma_pin(acc, count)                                                                   \
    do {                                                                                           \
        _Pragma("unroll") for (int xg_i = 0; xg_i < (count);                                       \
                               xg_i++) asm volatile("" : "+f"((acc)[xg_i])::"memory");             \
    } while (0)

/* Accumulators whose values do not matter, as the first product does not add to them. */
#define xg_wgmma_undefined(acc, count)                                                             \
    do {                                                                                           \
        _Pragma("unroll") for (int xg_i = 0; xg_i < (count);                                       \
                               xg_i++) asm volatile("" : "=f"((acc)[xg_i]));                       \
    } while (0)

/* So many accumulators as operands of the instruction: floats, "+f", or 32-bit integers, "+r". */
#define XG_OPERANDS4(kind, acc, i)                                                                 \
    kind((acc)[i]), kind((acc)[(i) + 1]), kind((acc)[(i) + 2]), kind((acc)[(i) + 3])
#define XG_OPERANDS16(kind, acc, i)                                                                \
    XG_OPERANDS4(kind, acc, i), XG_OPERANDS4(kind, acc, (i) + 4),                                  \
        XG_OPERANDS4(kind, acc, (i) + 8), XG_OPERANDS4(kind, acc, (i) + 12)
#define XG_OPERANDS64(kind, acc, i)                                                                \
    XG_OPERANDS16(kind, acc, i), XG_OPERANDS16(kind, acc, (i) + 16),                               \
        XG_OPERANDS16(kind, acc, (i) + 32), XG_OPERANDS16(kind, acc, (i) + 48)
#define XG_ACCUMULATORS16(acc, i) XG_OPERANDS16("+f", acc, i)
#define XG_ACCUMULATORS64(acc, i) XG_OPERANDS64("+f", acc, i)

/* The instruction for FP16 or BF16, see the functions; majors: "0, 0", or 1 for an operand that is
 * MN-major (xg_wgmma_descriptor_mn_major()). */
#define XG_WGMMA_64x128x16(type, majors, acc, a, b, add)                                           \
    asm volatile("{ .reg .pred add; setp.ne.b32 add, %66, 0;\n"                                    \
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32." type "." type " {"                 \
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, "     \
                 "%17, %18, %19, "                                                                 \
                 "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, "     \
                 "%35, %36, %37, "                                                                 \
                 "%38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, "     \
                 "%53, %54, %55, "                                                                 \
                 "%56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, add, 1, 1, " majors "; }"     \
                 : XG_ACCUMULATORS64(acc, 0)                                                       \
                 : "l"(a), "l"(b), "r"(add))

/*
 * acc = A * B, plus acc where "add" is 1: A 64 x 16 and B 16 x 128 in FP16, both K-major in shared
 * memory (xg_wgmma_descriptor()), accumulators in FP32. Thread t of the warpgroup has 64 of them:
 * acc[4 * j + 2 * e + c] is that of row t / 32 * 16 + t % 32 / 4 + 8 * e, column 8 * j + t % 4 * 2
 * + c.
 */
XG_DEVICE void xg_wgmma_64x128x16(float *acc, uint64_t a, uint64_t b, int add)
{
    XG_WGMMA_64x128x16("f16", "0, 0", acc, a, b, add);
}

/* The same in BF16. */
XG_DEVICE void xg_wgmma_bf16_64x128x16(float *acc, uint64_t a, uint64_t b, int add)
{
    XG_WGMMA_64x128x16("bf16", "0, 0", acc, a, b, add);
}

/* The instruction for FP16 or BF16, see the functions. */
#define XG_WGMMA_64x64x16(type, majors, acc, a, b, add)                                            \
    asm volatile(                                                                                  \
        "{ .reg .pred add; setp.ne.b32 add, %34, 0;\n"                                             \
        "wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type " {"                           \
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "    \
        "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, add, 1, "     \
        "1, " majors "; }"                                                                         \
        : XG_ACCUMULATORS16(acc, 0), XG_ACCUMULATORS16(acc, 16)                                    \
        : "l"(a), "l"(b), "r"(add))

/* The same with a B of 16 x 64 and 32 accumulators. */
XG_DEVICE void xg_wgmma_64x64x16(float *acc, uint64_t a, uint64_t b, int add)
{
    XG_WGMMA_64x64x16("f16", "0, 0", acc, a, b, add);
}

/* The same in BF16. */
XG_DEVICE void xg_wgmma_bf16_64x64x16(float *acc, uint64_t a, uint64_t b, int add)
{
    XG_WGMMA_64x64x16("bf16", "0, 0", acc, a, b, add);
}

/* The names of 128 accumulators in PTX. */
#define XG_WGMMA_REGISTERS_128                                                                     \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "   \
    "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, "   \
    "%38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, "   \
    "%56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, "   \
    "%74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, "   \
    "%92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, "     \
    "%108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, "   \
    "%123, %124, %125, %126, %127"

/* The instruction for FP16 or BF16, see the functions. */
#define XG_WGMMA_64x256x16(type, majors, acc, a, b, add)                                           \
    asm volatile("{ .reg .pred add; setp.ne.b32 add, %130, 0;\n"                                   \
                 "wgmma.mma_async.sync.aligned.m64n256k16.f32." type "." type                      \
                 " {" XG_WGMMA_REGISTERS_128 "}, %128, %129, add, 1, 1, " majors "; }"             \
                 : XG_ACCUMULATORS64(acc, 0), XG_ACCUMULATORS64(acc, 64)                           \
                 : "l"(a), "l"(b), "r"(add))

/* The same with a B of 16 x 256 and 128 accumulators; columns from 128 on are in acc[64] and on. */
XG_DEVICE void xg_wgmma_64x256x16(float *acc, uint64_t a, uint64_t b, int add)
{
    XG_WGMMA_64x256x16("f16", "0, 0", acc, a, b, add);
}

/*
 * The same of bytes, signed: A 64 x 32, B 32 x 256, both K-major as only FP16 and BF16 need not be;
 * accumulators are 32-bit integers, which wrap around.
 */
XG_DEVICE void xg_wgmma_s8_64x256x32(int *acc, uint64_t a, uint64_t b, int add)
{
    asm volatile("{ .reg .pred add; setp.ne.b32 add, %130, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8"
                 " {" XG_WGMMA_REGISTERS_128 "}, %128, %129, add; }"
                 : XG_OPERANDS64("+r", acc, 0), XG_OPERANDS64("+r", acc, 64)
                 : "l"(a), "l"(b), "r"(add));
}

/* Those of integers. */
#define xg_wgmma_pin_s32(acc, count)                                                               \
    do {                                                                                           \
        _Pragma("unroll") for (int xg_i = 0; xg_i < (count);                                       \
                               xg_i++) asm volatile("" : "+r"((acc)[xg_i])::"memory");             \
    } while (0)
#define xg_wgmma_undefined_s32(acc, count)                                                         \
    do {                                                                                           \
        _Pragma("unroll") for (int xg_i = 0; xg_i < (count);                                       \
                               xg_i++) asm volatile("" : "=r"((acc)[xg_i]));                       \
    } while (0)
#endif

/*
 * The wgmma descriptor of a K-major operand with 128-byte swizzle: rows of 64 FP16 (128 bytes), of
 * which 16-byte chunk c of row r is stored at chunk c ^ r % 8; groups of eight rows are 1024 bytes
 * apart, and the first begins at a multiple of that.
 */
XG_DEVICE uint64_t xg_wgmma_descriptor(unsigned address)
{
    const uint64_t swizzle_128 = 1, group_bytes = 1024, unused = 1;
    return swizzle_128 << 62 | group_bytes / 16 << 32 | unused << 16 | (address & 0x3ffff) >> 4;
}

/*
 * That of an MN-major operand with the same swizzle: lines of 64 rows (128 bytes) at one k; 64
 * lines are 8192 bytes, and the next 64 rows follow. 16 of k further on it is 2048 bytes further.
 */
XG_DEVICE uint64_t xg_wgmma_descriptor_mn_major(unsigned address)
{
    const uint64_t swizzle_128 = 1, group_bytes = 1024, next_rows_bytes = 8192;
    return swizzle_128 << 62 | group_bytes / 16 << 32 | next_rows_bytes / 16 << 16 |
           (address & 0x3ffff) >> 4;
}

/* The descriptor "steps" times 16 of k further on, of bytes 32 of k: + 2 for each. */
XG_DEVICE uint64_t xg_wgmma_descriptor_advance(uint64_t descriptor, int steps)
{
    return (descriptor & ~(uint64_t)0xffffffff) |
           (uint32_t)((uint32_t)descriptor + 2u * (unsigned)steps);
}

#endif
