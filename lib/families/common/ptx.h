/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Instructions that CUDA C has no words for: each as PTX for the GPU, and
 * beside it what the simulator does in its place.
 */
#ifndef XGEMM_KERNELS_PTX_H
#define XGEMM_KERNELS_PTX_H

#include "dialect.h"

/*
 * A launch that overlaps the one before it in the stream: it waits before it touches
 * memory that may be another's, and says from when on the next may begin, as far as
 * there is room. Before compute capability 9.0 launches do not overlap.
 */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
XG_DEVICE void xg_grid_wait(void)
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

XG_DEVICE void xg_grid_release(void)
{
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
#else
#define xg_grid_wait()    ((void)0)
#define xg_grid_release() ((void)0)
#endif

/*
 * Asynchronous copies from global to shared memory (cp.async), of 4 or 16 bytes,
 * both ends aligned to that: of "bytes" that are read, the rest zeros, so that
 * with 0 nothing is read and from may be any address. A thread waits for its own
 * until at most n of its latest committed groups are on their way; what other
 * threads copied is there after a barrier that follows their wait.
 */
#ifdef __CUDACC__
XG_DEVICE unsigned xg_shared_address(const void *shared)
{
    return (unsigned)__cvta_generic_to_shared(shared);
}

/* threadIdx.x read anew: what follows from it need not stay in registers until then. */
XG_DEVICE unsigned xg_thread_again(void)
{
    unsigned x;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(x));
    return x;
}

/* The same number, anew: what follows from it is computed there, not kept in registers. */
XG_DEVICE int64_t xg_again(int64_t x)
{
    asm volatile("" : "+l"(x));
    return x;
}

/* The same number, found by here: the compiler would find it where it is first used. */
XG_DEVICE unsigned xg_found(unsigned x)
{
    asm volatile("" : "+r"(x));
    return x;
}

/* The same place in shared memory, in a register: the compiler would find it anew for each use. */
XG_DEVICE float *xg_kept(float *shared)
{
    unsigned address = xg_shared_address(shared);
    asm volatile("" : "+r"(address));
    return (float *)__cvta_shared_to_generic(address);
}

/* The thread's number in its warp, from a register of its own. */
XG_DEVICE unsigned xg_lane(void)
{
    unsigned x;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(x));
    return x;
}

/* How many bits are 1. */
#define xg_bits_set(x) __popc(x)
/* The number of the lowest one; there is one. */
#define xg_first_bit(x) (__ffs((int)(x)) - 1)

/* Sends for the 128 bytes of global memory around an address, into L2 alone. */
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

/*
 * The same of 16 bytes from base + index * step bytes. With the product in here an address
 * lives for one instruction; the compiler would carry each of them along a loop.
 */
XG_DEVICE void xg_cp_async16_at(void *to, const void *base, unsigned index, unsigned step,
                                int bytes)
{
    asm volatile("{ .reg .b64 from; mad.wide.u32 from, %1, %2, %3;"
                 " cp.async.cg.shared.global [%0], [from], 16, %4; }"
                 :
                 : "r"(xg_shared_address(to)), "r"(index), "r"(step), "l"(base), "r"(bytes)
                 : "memory");
}

/*
 * The same of 16 bytes, and all 128 that they lie among come to L2: for where other blocks soon
 * copy the others.
 */
XG_DEVICE void xg_cp_async16_near(void *to, const void *from, int bytes)
{
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;"
                 :
                 : "r"(xg_shared_address(to)), "l"(from), "r"(bytes)
                 : "memory");
}

XG_DEVICE void xg_cp_async16_near_at(void *to, const void *base, unsigned index, unsigned step)
{
    asm volatile("{ .reg .b64 from; mad.wide.u32 from, %1, %2, %3;"
                 " cp.async.cg.shared.global.L2::128B [%0], [from], 16; }"
                 :
                 : "r"(xg_shared_address(to)), "r"(index), "r"(step), "l"(base)
                 : "memory");
}

XG_DEVICE float4 xg_load_near(const float *from)
{
    float4 x;
    asm volatile("ld.global.L2::128B.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
                 : "l"(from)
                 : "memory");
    return x;
}

/* from + so many bytes, computed where it stands: the compiler would carry it along a loop. */
XG_DEVICE const float *xg_beside(const float *from, int64_t bytes)
{
    const float *result;
    asm volatile("add.s64 %0, %1, %2;" : "=l"(result) : "l"(from), "l"(bytes));
    return result;
}

/* from + index * step floats, likewise. */
XG_DEVICE const float *xg_step_by(const float *from, int step, int index)
{
    const float *result;
    asm volatile("mad.wide.s32 %0, %1, %2, %3;"
                 : "=l"(result)
                 : "r"(step), "r"(4 * index), "l"(from));
    return result;
}

/*
 * Copies of 4 or 16 bytes from *from, which then goes on by so many bytes: copies
 * that follow one another need one pointer, and one step of any size.
 */
XG_DEVICE void xg_cp_async4_step(void *to, const float **from, int64_t step, int bytes)
{
    asm volatile("cp.async.ca.shared.global [%1], [%0], 4, %2; add.s64 %0, %0, %3;"
                 : "+l"(*from)
                 : "r"(xg_shared_address(to)), "r"(bytes), "l"(step)
                 : "memory");
}

XG_DEVICE void xg_cp_async16_step(void *to, const float **from, int64_t step, int bytes)
{
    asm volatile("cp.async.cg.shared.global [%1], [%0], 16, %2; add.s64 %0, %0, %3;"
                 : "+l"(*from)
                 : "r"(xg_shared_address(to)), "r"(bytes), "l"(step)
                 : "memory");
}

XG_DEVICE void xg_cp_async_commit(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

#define xg_cp_async_wait(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")

/* Two words to global memory, to a multiple of 8. */
XG_DEVICE void xg_store_words(void *to, unsigned first, unsigned second)
{
    asm volatile("st.global.v2.b32 [%0], {%1, %2};"
                 :
                 : "l"(to), "r"(first), "r"(second)
                 : "memory");
}

/* Four floats to global memory, to a multiple of 16: left to the compiler it was four stores. */
XG_DEVICE void xg_store_four(float *to, float x, float y, float z, float w)
{
    asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(to), "f"(x), "f"(y), "f"(z), "f"(w)
                 : "memory");
}

/* A float's bits, and back. */
#define xg_bits_of(x)     __float_as_uint(x)
#define xg_float_of(bits) __uint_as_float(bits)

/* Two floats, rounded to the nearest BF16 (ties to even): the first in the low half. */
XG_DEVICE unsigned xg_bf16x2(float low, float high)
{
    unsigned both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}

/*
 * A warp's product on tensor cores: sum = A * B + before, A 16 × 16 and B 16 × 8 in BF16, two in
 * a word. With g = lane / 4 and t = lane % 4 a thread has in a[0] A(g, 2t) and A(g, 2t + 1), in
 * a[1] the same of row g + 8, in a[2] and a[3] both at 8 further along k; in b[0] B(2t, g) and
 * B(2t + 1, g), in b[1] the same at 8 further; and of the sums rows g (0, 1) and g + 8 (2, 3),
 * columns 2t and 2t + 1.
 */
XG_DEVICE void xg_mma_bf16(float sum[4], const unsigned a[4], const unsigned b[2],
                           const float before[4])
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=f"(sum[0]), "=f"(sum[1]), "=f"(sum[2]), "=f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(before[0]),
          "f"(before[1]), "f"(before[2]), "f"(before[3]));
}

/* Stores what is not soon read again: it gives way first in the caches. */
#define xg_store_once(to, value) __stcs(to, value)

/*
 * Four values at a multiple of 16, read once by the multiprocessor: they take no room in its
 * cache from what is read again. Volatile: it stays behind xg_grid_wait.
 */
XG_DEVICE float4 xg_load_once(const float *from)
{
    float4 value;
    asm volatile("ld.global.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
                 : "l"(from));
    return value;
}

/* The same where "there" is set, else zeros, and nothing is read; and of one word, at any place. */
XG_DEVICE float4 xg_load_once_if(const float *from, int there)
{
    float4 value = {0.0f, 0.0f, 0.0f, 0.0f};
    asm volatile("{ .reg .pred there; setp.ne.b32 there, %5, 0;"
                 " @there ld.global.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4]; }"
                 : "+f"(value.x), "+f"(value.y), "+f"(value.z), "+f"(value.w)
                 : "l"(from), "r"(there));
    return value;
}

XG_DEVICE float xg_load_word_if(const float *from, int there)
{
    float value = 0.0f;
    asm volatile("{ .reg .pred there; setp.ne.b32 there, %2, 0;"
                 " @there ld.global.L1::no_allocate.f32 %0, [%1]; }"
                 : "+f"(value)
                 : "l"(from), "r"(there));
    return value;
}
#else
#define xg_load_once(from) (*(const float4 *)(from))
#define xg_load_once_if(from, there)                                                               \
    ((there) ? xg_load_once(from) : (float4){0.0f, 0.0f, 0.0f, 0.0f})
#define xg_load_word_if(from, there)      ((there) ? *(from) : 0.0f)
#define xg_store_once(to, value)          (*(to) = (value))
#define xg_store_words(to, first, second) ((void)(*(uint2 *)(to) = (uint2){first, second}))
#define xg_thread_again()                 (threadIdx.x)
#define xg_again(x)                       (x)
#define xg_found(x)                       (x)
#define xg_kept(shared)                   (shared)
#define xg_lane()                         ((unsigned)XG_SIM_LANE)
#define xg_prefetch(address)              ((void)(address))
#define xg_cp_async4(to, from, bytes)     XG_SIM_COPY_ASYNC(to, from, 4, bytes)
#define xg_cp_async16(to, from, bytes)    XG_SIM_COPY_ASYNC(to, from, 16, bytes)
#define xg_bits_set(x)                        __builtin_popcount(x)
#define xg_first_bit(x)                       __builtin_ctz(x)
#define xg_load_near(from)                    (*(const float4 *)(from))
#define xg_cp_async16_near(to, from, bytes)   XG_SIM_COPY_ASYNC(to, from, 16, bytes)
#define xg_cp_async16_near_at(to, base, index, step)                                               \
    XG_SIM_COPY_ASYNC(to, (const char *)(base) + (uint64_t)(index) * (step), 16, 16)
#define xg_cp_async16_at(to, base, index, step, bytes)                                             \
    XG_SIM_COPY_ASYNC(to, (const char *)(base) + (uint64_t)(index) * (step), 16, bytes)
#define xg_beside(from, bytes)        ((const float *)((const char *)(from) + (bytes)))
#define xg_step_by(from, step, index) ((from) + (int64_t)(step) * (index))
#define xg_store_four(to, x, y, z, w)                                                              \
    __extension__({                                                                                \
        const float4 xg_four = {x, y, z, w}; /* whole: one access to the trace */                  \
        *(float4 *)(to) = xg_four;                                                                 \
    })
#define XG_SIM_COPY_STEP(to, from, whole, step, bytes)                                             \
    __extension__({                                                                                \
        XG_SIM_COPY_ASYNC(to, *(from), whole, bytes);                                              \
        *(from) = (const float *)((uintptr_t) * (from) + (uintptr_t)(step));                       \
    })
#define xg_cp_async4_step(to, from, step, bytes)  XG_SIM_COPY_STEP(to, from, 4, step, bytes)
#define xg_cp_async16_step(to, from, step, bytes) XG_SIM_COPY_STEP(to, from, 16, step, bytes)
#define xg_cp_async_commit()                      xg_sim_copy_commit()
#define xg_cp_async_wait(n)                       xg_sim_copy_wait(n)
#endif

#endif
