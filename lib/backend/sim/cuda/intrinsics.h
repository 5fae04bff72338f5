/* SPDX-License-Identifier: BSD-3-Clause */
/* Intrinsics on one thread's values: loads by way of caches, bits, conversions. */
#ifndef XGEMM_CUDA_INTRINSICS_H
#define XGEMM_CUDA_INTRINSICS_H

#define XG_LOAD(name)                                                                              \
    template <class T> XG_INLINE T name(const T *from)                                             \
    {                                                                                              \
        return *from;                                                                              \
    }
XG_LOAD(__ldg)
XG_LOAD(__ldca)
XG_LOAD(__ldcg)
XG_LOAD(__ldcs)
XG_LOAD(__ldlu)
XG_LOAD(__ldcv)
#define XG_STORE(name)                                                                             \
    template <class T> XG_INLINE void name(T *to, T value)                                         \
    {                                                                                              \
        *to = value;                                                                               \
    }
XG_STORE(__stwb)
XG_STORE(__stcg)
XG_STORE(__stcs)
XG_STORE(__stwt)

/* The bits of one type as another. */
namespace xg
{
template <class To, class From> XG_INLINE To bits_of(From from)
{
    static_assert(sizeof(To) == sizeof(From), "");
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}
} // namespace xg
XG_INLINE int __float_as_int(float x)
{
    return xg::bits_of<int>(x);
}
XG_INLINE unsigned __float_as_uint(float x)
{
    return xg::bits_of<unsigned>(x);
}
XG_INLINE float __int_as_float(int x)
{
    return xg::bits_of<float>(x);
}
XG_INLINE float __uint_as_float(unsigned x)
{
    return xg::bits_of<float>(x);
}
XG_INLINE long long __double_as_longlong(double x)
{
    return xg::bits_of<long long>(x);
}
XG_INLINE double __longlong_as_double(long long x)
{
    return xg::bits_of<double>(x);
}

XG_INLINE int __popc(unsigned x)
{
    return __builtin_popcount(x);
}
XG_INLINE int __popcll(unsigned long long x)
{
    return __builtin_popcountll(x);
}
XG_INLINE int __clz(int x)
{
    return x ? __builtin_clz((unsigned)x) : 32;
}
XG_INLINE int __clzll(long long x)
{
    return x ? __builtin_clzll((unsigned long long)x) : 64;
}
XG_INLINE int __ffs(int x)
{
    return __builtin_ffs(x);
}
XG_INLINE int __ffsll(long long x)
{
    return __builtin_ffsll(x);
}
XG_INLINE unsigned __brev(unsigned x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
XG_INLINE int __mul24(int x, int y)
{
    return x * y;
}
XG_INLINE unsigned __umul24(unsigned x, unsigned y)
{
    return x * y;
}
XG_INLINE int __mulhi(int x, int y)
{
    return (int)(((long long)x * y) >> 32);
}
XG_INLINE unsigned __umulhi(unsigned x, unsigned y)
{
    return (unsigned)(((unsigned long long)x * y) >> 32);
}
XG_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by)
{
    return (unsigned)(((unsigned long long)high << 32 | low) << (by & 31) >> 32);
}
XG_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by)
{
    return (unsigned)(((unsigned long long)high << 32 | low) >> (by & 31));
}
XG_INLINE unsigned __byte_perm(unsigned x, unsigned y, unsigned selector)
{
    const unsigned long long both = (unsigned long long)y << 32 | x;
    unsigned result = 0;
    for (int i = 0; i < 4; i++)
        result |= (unsigned)(both >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
    return result;
}

XG_INLINE int __float2int_rn(float x)
{
    return (int)rintf(x);
}
XG_INLINE int __float2int_rz(float x)
{
    return (int)x;
}
XG_INLINE int __float2int_ru(float x)
{
    return (int)ceilf(x);
}
XG_INLINE int __float2int_rd(float x)
{
    return (int)floorf(x);
}
XG_INLINE unsigned __float2uint_rn(float x)
{
    return (unsigned)rintf(x);
}
XG_INLINE unsigned __float2uint_rz(float x)
{
    return (unsigned)x;
}
XG_INLINE float __int2float_rn(int x)
{
    return (float)x;
}
XG_INLINE float __uint2float_rn(unsigned x)
{
    return (float)x;
}
XG_INLINE int __double2int_rn(double x)
{
    return (int)rint(x);
}
XG_INLINE float __double2float_rn(double x)
{
    return (float)x;
}

/* Time does not pass in the simulator. */
XG_INLINE long long clock64()
{
    return 0;
}
XG_INLINE void __nanosleep(unsigned)
{
}
XG_INLINE void __trap(xg::here at = xg::here())
{
    xg_fail(&at, "traps");
}
XG_INLINE void __brkpt()
{
}
#define __builtin_assume(condition) ((void)0)

/* Which memory a pointer is of is not asked of the host; shared memory is given as an address. */
XG_INLINE size_t __cvta_generic_to_shared(const void *pointer)
{
    return (size_t)pointer;
}
XG_INLINE size_t __cvta_generic_to_global(const void *pointer)
{
    return (size_t)pointer;
}

#endif
