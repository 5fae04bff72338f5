/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrappers of PTX instructions that CUDA C does not offer. Beside each stands what the simulator
 * does in its place.
 */
#ifndef XGEMM_KERNELS_PTX_H
#define XGEMM_KERNELS_PTX_H

#include "dialect.h"

/*
 * Programmatic dependent launch. A kernel launched so may begin before the previous kernel of the
 * stream has ended: xg_pdl_wait() waits for that kernel's end and for its writes, and
 * xg_pdl_trigger() lets the next kernel begin. Before compute capability 9.0 both do nothing.
 */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
XG_DEVICE void xg_pdl_wait(void)
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

XG_DEVICE void xg_pdl_trigger(void)
{
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
#else
#define xg_pdl_wait()    ((void)0)
#define xg_pdl_trigger() ((void)0)
#endif

/*
 * cp.async: asynchronous copies of 4, 8 or 16 bytes from global to shared memory, both addresses
 * aligned to the size. "bytes" are read and the rest is filled with zeros; with 0 nothing is read,
 * and "from" may be any address. xg_cp_async_wait(n) waits until at most n of the thread's own
 * committed groups are in flight; other threads' copies are visible after a barrier that follows
 * their wait.
 */
#ifdef __CUDACC__
XG_DEVICE unsigned xg_shared_address(const void *shared)
{
    return (unsigned)__cvta_generic_to_shared(shared);
}

/*
 * Values that the compiler may not keep, or may not delay. Each costs an instruction or none, and
 * saves registers in a main loop where nvcc's own choice would spill.
 *
 * threadIdx.x, read anew: what is computed from it need not live in registers until here.
 */
XG_DEVICE unsigned xg_reread_thread(void)
{
    unsigned x;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(x));
    return x;
}

/* blockIdx.x, likewise. */
XG_DEVICE unsigned xg_reread_block(void)
{
    unsigned x;
    asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(x));
    return x;
}

/* x, opaque to the compiler: what is computed from it is computed after this point. */
XG_DEVICE int64_t xg_rematerialize(int64_t x)
{
    asm volatile("" : "+l"(x));
    return x;
}

/* x, computed before this point: the compiler would compute it at its first use. */
XG_DEVICE unsigned xg_materialize(unsigned x)
{
    asm volatile("" : "+r"(x));
    return x;
}

/* A shared-memory address in a register: the compiler would compute it for each use. */
XG_DEVICE float *xg_materialize_shared(float *shared)
{
    unsigned address = xg_shared_address(shared);
    asm volatile("" : "+r"(address));
    return (float *)__cvta_shared_to_generic(address);
}

/* The thread's lane, from %laneid. */
XG_DEVICE unsigned xg_lane(void)
{
    unsigned x;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(x));
    return x;
}

/* The number of bits that are 1. */
#define xg_popcount(x) __popc(x)
/* The index of the lowest bit that is 1; x is not 0. */
#define xg_lowest_set_bit(x) (__ffs((int)(x)) - 1)

/* 2^x and 1 / x by the special function unit: wrong by at most 2^-22 of them; subnormal ones are 0.
 */
XG_DEVICE float xg_exp2_approx(float x)
{
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
}

XG_DEVICE float xg_reciprocal_approx(float x)
{
    float inverse;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
    return inverse;
}

/* Prefetches the 128-byte line of a global address into L2. */
XG_DEVICE void xg_prefetch(const void *address)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
}

XG_DEVICE void xg_cp_async4(void *to, const void *from, int bytes)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                 :
                 : "r"(xg_shared_address(to)), "l"(from), "r"(bytes)
                 : "memory");
}

XG_DEVICE void xg_cp_async16(void *to, const void *from, int bytes)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(xg_shared_address(to)), "l"(from), "r"(bytes)
                 : "memory");
}

/* All of 4, 8 or 16 bytes where "inside", else zeros without reading. */
#define XG_CP_ASYNC_IF(bytes, cache)                                                               \
    XG_DEVICE void xg_cp_async##bytes##_if(void *to, const void *from, int inside)                 \
    {                                                                                              \
        asm volatile("{ .reg .pred outside; setp.eq.b32 outside, %2, 0; cp.async." cache           \
                     ".shared.global [%0], [%1], " #bytes ", outside; }"                           \
                     :                                                                             \
                     : "r"(xg_shared_address(to)), "l"(from), "r"(inside)                          \
                     : "memory");                                                                  \
    }
XG_CP_ASYNC_IF(4, "ca")
XG_CP_ASYNC_IF(8, "ca")
XG_CP_ASYNC_IF(16, "cg")

/*
 * 16 bytes from base + index * stride, a stride in bytes. The address is computed inside the asm,
 * so that it lives for one instruction; the compiler would carry one address for each copy of a
 * loop.
 */
XG_DEVICE void xg_cp_async16_at(void *to, const void *base, unsigned index, unsigned stride,
                                int bytes)
{
    asm volatile("{ .reg .b64 from; mad.wide.u32 from, %1, %2, %3;"
                 " cp.async.cg.shared.global [%0], [from], 16, %4; }"
                 :
                 : "r"(xg_shared_address(to)), "r"(index), "r"(stride), "l"(base), "r"(bytes)
                 : "memory");
}

/*
 * Copies and loads of 16 bytes that also fetch their 128-byte line into L2 (L2::128B), of which
 * other CTAs are about to read the rest.
 */
XG_DEVICE void xg_cp_async16_l2_128b(void *to, const void *from, int bytes)
{
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;"
                 :
                 : "r"(xg_shared_address(to)), "l"(from), "r"(bytes)
                 : "memory");
}

XG_DEVICE void xg_cp_async16_l2_128b_at(void *to, const void *base, unsigned index, unsigned stride)
{
    asm volatile("{ .reg .b64 from; mad.wide.u32 from, %1, %2, %3;"
                 " cp.async.cg.shared.global.L2::128B [%0], [from], 16; }"
                 :
                 : "r"(xg_shared_address(to)), "r"(index), "r"(stride), "l"(base)
                 : "memory");
}

XG_DEVICE float4 xg_load_vec4_l2_128b(const float *from)
{
    float4 x;
    asm volatile("ld.global.L2::128B.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
                 : "l"(from)
                 : "memory");
    return x;
}

/* from + bytes, computed at this point: the compiler would carry the address along a loop. */
XG_DEVICE const float *xg_offset_bytes(const float *from, int64_t bytes)
{
    const float *result;
    asm volatile("add.s64 %0, %1, %2;" : "=l"(result) : "l"(from), "l"(bytes));
    return result;
}

/* from + index * stride floats, likewise. */
XG_DEVICE const float *xg_offset_strided(const float *from, int stride, int index)
{
    const float *result;
    asm volatile("mad.wide.s32 %0, %1, %2, %3;"
                 : "=l"(result)
                 : "r"(stride), "r"(4 * index), "l"(from));
    return result;
}

/* cp.async from *from, which then advances by "stride" bytes: consecutive copies share a pointer.
 */
XG_DEVICE void xg_cp_async4_advance(void *to, const float **from, int64_t stride, int bytes)
{
    asm volatile("cp.async.ca.shared.global [%1], [%0], 4, %2; add.s64 %0, %0, %3;"
                 : "+l"(*from)
                 : "r"(xg_shared_address(to)), "r"(bytes), "l"(stride)
                 : "memory");
}

XG_DEVICE void xg_cp_async16_advance(void *to, const float **from, int64_t stride, int bytes)
{
    asm volatile("cp.async.cg.shared.global [%1], [%0], 16, %2; add.s64 %0, %0, %3;"
                 : "+l"(*from)
                 : "r"(xg_shared_address(to)), "r"(bytes), "l"(stride)
                 : "memory");
}

XG_DEVICE void xg_cp_async_commit(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

#define xg_cp_async_wait(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")

/* Stores 8 bytes to global memory, at a multiple of 8. */
XG_DEVICE void xg_store_u32x2(void *to, unsigned first, unsigned second)
{
    asm volatile("st.global.v2.b32 [%0], {%1, %2};"
                 :
                 : "l"(to), "r"(first), "r"(second)
                 : "memory");
}

/* Stores four floats to global memory, at a multiple of 16; the compiler would split the store. */
XG_DEVICE void xg_store_vec4(float *to, float x, float y, float z, float w)
{
    asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(to), "f"(x), "f"(y), "f"(z), "f"(w)
                 : "memory");
}

/* A float's bits, and the float of bits. */
#define xg_bits_of(x)     __float_as_uint(x)
#define xg_float_of(bits) __uint_as_float(bits)

/* The same of a double; the bits are signed. */
#define xg_bits_of_double(x) __double_as_longlong(x)
#define xg_double_of(bits)   __longlong_as_double(bits)

/* sum, plus the products of the four bytes of "numbers", not signed, and of "factors", signed. */
XG_DEVICE int xg_dot_bytes(unsigned numbers, unsigned factors, int sum)
{
    int result;
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(numbers), "r"(factors), "r"(sum));
    return result;
}

/* Two floats rounded to BF16 (to nearest, ties to even); the first in the low half. */
XG_DEVICE unsigned xg_bf16x2(float low, float high)
{
    unsigned both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}

/*
 * Two floats rounded to FP16 (to nearest, ties to even), the first in the low half; beyond FP16's
 * largest finite number they become infinite.
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

/*
 * mma.m16n8k16: d = A * B + c on a warp's tensor cores, A 16 x 16 and B 16 x 8 in BF16, two to a
 * register. With g = lane / 4 and t = lane % 4 a thread holds
 *   a[0]  A(g, 2t) and A(g, 2t + 1); a[1] the same of row g + 8; a[2], a[3] the same at k + 8
 *   b[0]  B(2t, g) and B(2t + 1, g); b[1] the same at k + 8
 *   d, c  row g (0, 1) and row g + 8 (2, 3), columns 2t and 2t + 1.
 */
XG_DEVICE void xg_mma_bf16(float d[4], const unsigned a[4], const unsigned b[2], const float c[4])
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]),
          "f"(c[2]), "f"(c[3]));
}

/* The larger of two floats; NaN where one is. */
XG_DEVICE float xg_max_nan(float x, float y)
{
    float larger;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(x), "f"(y));
    return larger;
}

/*
 * mma.m16n8k4 and m16n8k8 in double precision: d += A * B, A 16 x 4 or 16 x 8, and B 4 x 8 or 8 x
 * 8, of a warp. With g = lane / 4 and t = lane % 4 a thread holds
 *
 *     a[0] = A(g, t), a[1] = A(g + 8, t); a[2] and a[3] the same at k + 4
 *     b[0] = B(t, g); b[1] the same at k + 4
 *     d[0] and d[1] = D(g, 2t) and D(g, 2t + 1); d[2] and d[3] the same in row g + 8
 *
 * Before compute capability 9.0 they are made of m8n8k4, whose fragments are parts of these.
 */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
XG_DEVICE void xg_mma_f64_k4(double d[4], const double a[2], const double b[1])
{
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
                 "{%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                 : "d"(a[0]), "d"(a[1]), "d"(b[0]));
}

XG_DEVICE void xg_mma_f64_k8(double d[4], const double a[4], const double b[2])
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                 : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}
#else
XG_DEVICE void xg_mma_f64_m8n8k4(double d[2], double a, double b)
{
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(d[0]), "+d"(d[1])
                 : "d"(a), "d"(b));
}

XG_DEVICE void xg_mma_f64_k4(double d[4], const double a[2], const double b[1])
{
    xg_mma_f64_m8n8k4(d, a[0], b[0]);
    xg_mma_f64_m8n8k4(d + 2, a[1], b[0]);
}

XG_DEVICE void xg_mma_f64_k8(double d[4], const double a[4], const double b[2])
{
    xg_mma_f64_k4(d, a, b);
    xg_mma_f64_k4(d, a + 2, b + 1);
}
#endif

/* x, or -x where "sign" is 2^31: by its bit, not by arithmetic. */
XG_DEVICE double xg_flip_sign(double x, unsigned sign)
{
    double y;
    asm("{ .reg .b32 low, high; mov.b64 {low, high}, %1; xor.b32 high, high, %2;"
        " mov.b64 %0, {low, high}; }"
        : "=d"(y)
        : "d"(x), "r"(sign));
    return y;
}

/* A streaming store, whose line is evicted first: for data that is not read again soon. */
#define xg_store_streaming(to, value) __stcs(to, value)

/*
 * Four floats at a multiple of 16 bytes, not kept in L1, for data that a multiprocessor reads once.
 * Volatile, so that the load stays behind xg_pdl_wait().
 */
XG_DEVICE float4 xg_load_vec4_no_l1(const float *from)
{
    float4 value;
    asm volatile("ld.global.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
                 : "l"(from));
    return value;
}

/* The same, or zeros without reading where "inside" is 0; for four floats and for one. */
XG_DEVICE float4 xg_load_vec4_no_l1_if(const float *from, int inside)
{
    float4 value = {0.0f, 0.0f, 0.0f, 0.0f};
    asm volatile("{ .reg .pred inside; setp.ne.b32 inside, %5, 0;"
                 " @inside ld.global.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4]; }"
                 : "+f"(value.x), "+f"(value.y), "+f"(value.z), "+f"(value.w)
                 : "l"(from), "r"(inside));
    return value;
}

XG_DEVICE float xg_load_scalar_no_l1_if(const float *from, int inside)
{
    float value = 0.0f;
    asm volatile("{ .reg .pred inside; setp.ne.b32 inside, %2, 0;"
                 " @inside ld.global.L1::no_allocate.f32 %0, [%1]; }"
                 : "+f"(value)
                 : "l"(from), "r"(inside));
    return value;
}
#else
#define xg_exp2_approx(x)        exp2f(x)
#define xg_reciprocal_approx(x)  (1.0f / (x))
XG_DEVICE float xg_max_nan(float x, float y)
{
    return x != x || x > y ? x : y;
}
#define xg_load_vec4_no_l1(from) (*(const float4 *)(from))
#define xg_load_vec4_no_l1_if(from, inside)                                                        \
    ((inside) ? xg_load_vec4_no_l1(from) : (float4){0.0f, 0.0f, 0.0f, 0.0f})
#define xg_load_scalar_no_l1_if(from, inside)  ((inside) ? *(from) : 0.0f)
#define xg_store_streaming(to, value)          (*(to) = (value))
#define xg_store_u32x2(to, first, second)      ((void)(*(uint2 *)(to) = (uint2){first, second}))
#define xg_flip_sign(x, sign)                  ((sign) ? -(x) : (x))
XG_DEVICE int xg_dot_bytes(unsigned numbers, unsigned factors, int sum)
{
    for (int i = 0; i < 32; i += 8)
        sum += (int)(numbers >> i & 0xff) * (int8_t)(factors >> i & 0xff);
    return sum;
}
#define xg_reread_thread()                     (threadIdx.x)
#define xg_reread_block()                      (blockIdx.x)
#define xg_rematerialize(x)                    (x)
#define xg_materialize(x)                      (x)
#define xg_materialize_shared(shared)          (shared)
#define xg_lane()                              ((unsigned)XG_SIM_LANE)
#define xg_prefetch(address)                   ((void)(address))
#define xg_cp_async4(to, from, bytes)          XG_SIM_COPY_ASYNC(to, from, 4, bytes)
#define xg_cp_async16(to, from, bytes)         XG_SIM_COPY_ASYNC(to, from, 16, bytes)
#define xg_cp_async4_if(to, from, inside)      XG_SIM_COPY_ASYNC(to, from, 4, (inside) ? 4 : 0)
#define xg_cp_async8_if(to, from, inside)      XG_SIM_COPY_ASYNC(to, from, 8, (inside) ? 8 : 0)
#define xg_cp_async16_if(to, from, inside)     XG_SIM_COPY_ASYNC(to, from, 16, (inside) ? 16 : 0)
#define xg_popcount(x)                         __builtin_popcount(x)
#define xg_lowest_set_bit(x)                   __builtin_ctz(x)
#define xg_load_vec4_l2_128b(from)             (*(const float4 *)(from))
#define xg_cp_async16_l2_128b(to, from, bytes) XG_SIM_COPY_ASYNC(to, from, 16, bytes)
#define xg_cp_async16_l2_128b_at(to, base, index, stride)                                          \
    XG_SIM_COPY_ASYNC(to, (const char *)(base) + (uint64_t)(index) * (stride), 16, 16)
#define xg_cp_async16_at(to, base, index, stride, bytes)                                           \
    XG_SIM_COPY_ASYNC(to, (const char *)(base) + (uint64_t)(index) * (stride), 16, bytes)
#define xg_offset_bytes(from, bytes)           ((const float *)((const char *)(from) + (bytes)))
#define xg_offset_strided(from, stride, index) ((from) + (int64_t)(stride) * (index))
#define xg_store_vec4(to, x, y, z, w)                                                              \
    __extension__({                                                                                \
        const float4 xg_four = {x, y, z, w}; /* whole: one access to the trace */                  \
        *(float4 *)(to) = xg_four;                                                                 \
    })
#define XG_SIM_COPY_STEP(to, from, whole, stride, bytes)                                           \
    __extension__({                                                                                \
        XG_SIM_COPY_ASYNC(to, *(from), whole, bytes);                                              \
        *(from) = (const float *)((uintptr_t) * (from) + (uintptr_t)(stride));                     \
    })
#define xg_cp_async4_advance(to, from, stride, bytes)  XG_SIM_COPY_STEP(to, from, 4, stride, bytes)
#define xg_cp_async16_advance(to, from, stride, bytes) XG_SIM_COPY_STEP(to, from, 16, stride, bytes)
#define xg_cp_async_commit()                           xg_sim_copy_commit()
#define xg_cp_async_wait(n)                            xg_sim_copy_wait(n)
#endif

#endif
