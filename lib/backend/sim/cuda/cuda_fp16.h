/* SPDX-License-Identifier: BSD-3-Clause */
/* half and half2: stored in 16 bits, computed in FP32 and rounded. */
#ifndef XGEMM_CUDA_FP16_H
#define XGEMM_CUDA_FP16_H

#include "device.h"

namespace xg
{
/* FP16's bits as FP32, exactly. */
XG_INLINE float float_of_half(unsigned short bits)
{
    const unsigned sign = (bits & 0x8000u) << 16, rest = bits & 0x7fffu;
    if (rest >= 0x7c00u)
        return bits_of<float>(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
    if (rest >= 0x400u)
        return bits_of<float>(sign | ((rest << 13) + 0x38000000u));
    if (rest == 0)
        return bits_of<float>(sign);
    const unsigned shift = (unsigned)__builtin_clz(rest) - 21; /* no operation that is counted */
    return bits_of<float>(sign | (113 - shift) << 23 | (rest << shift & 0x3ffu) << 13);
}
/* Rounded to the nearest, ties to even. */
XG_INLINE unsigned short half_of_float(float x)
{
    const unsigned all = bits_of<unsigned>(x), sign = all >> 16 & 0x8000u, rest = all & 0x7fffffffu;
    if (rest > 0x7f800000u)
        return (unsigned short)(sign | 0x7fffu);
    if (rest >= 0x477ff000u)
        return (unsigned short)(sign | 0x7c00u);
    if (rest < 0x38800000u) /* to multiples of 2^-24: those of 1 for FP32's last bit of 0.5 */
        return (unsigned short)(sign |
                                (bits_of<unsigned>(bits_of<float>(rest) + 0.5f) - 0x3f000000u));
    return (unsigned short)(sign | ((rest - 0x38000000u + 0xfffu + (rest >> 13 & 1)) >> 13));
}
XG_INLINE float float_of_bfloat(unsigned short bits)
{
    return bits_of<float>((unsigned)bits << 16);
}
XG_INLINE unsigned short bfloat_of_float(float x)
{
    const unsigned all = bits_of<unsigned>(x);
    if ((all & 0x7fffffffu) > 0x7f800000u)
        return 0x7fffu;
    return (unsigned short)((all + 0x7fffu + (all >> 16 & 1)) >> 16);
}
} // namespace xg

/* A 16-bit type and its pair; "to" and "from" convert FP32's bits. */
#define XG_SHORT_FLOAT(type, pair, to, from)                                                       \
    struct type {                                                                                  \
        unsigned short bits;                                                                       \
        type() = default;                                                                          \
        XG_INLINE_MEMBER type(float x) : bits(xg::from(x))                                         \
        {                                                                                          \
        }                                                                                          \
        XG_INLINE_MEMBER type(double x) : bits(xg::from((float)x))                                 \
        {                                                                                          \
        }                                                                                          \
        XG_INLINE_MEMBER type(int x) : bits(xg::from((float)x))                                    \
        {                                                                                          \
        }                                                                                          \
        XG_INLINE_MEMBER operator float() const                                                    \
        {                                                                                          \
            return xg::to(bits);                                                                   \
        }                                                                                          \
        XG_INLINE_MEMBER type &operator+=(type o)                                                  \
        {                                                                                          \
            return *this = type((float)*this + (float)o);                                          \
        }                                                                                          \
        XG_INLINE_MEMBER type &operator-=(type o)                                                  \
        {                                                                                          \
            return *this = type((float)*this - (float)o);                                          \
        }                                                                                          \
        XG_INLINE_MEMBER type &operator*=(type o)                                                  \
        {                                                                                          \
            return *this = type((float)*this * (float)o);                                          \
        }                                                                                          \
        XG_INLINE_MEMBER type &operator/=(type o)                                                  \
        {                                                                                          \
            return *this = type((float)*this / (float)o);                                          \
        }                                                                                          \
    };                                                                                             \
    struct __attribute__((aligned(4))) pair {                                                      \
        type x, y;                                                                                 \
    };                                                                                             \
    XG_INLINE type operator+(type a, type b)                                                       \
    {                                                                                              \
        return type((float)a + (float)b);                                                          \
    }                                                                                              \
    XG_INLINE type operator-(type a, type b)                                                       \
    {                                                                                              \
        return type((float)a - (float)b);                                                          \
    }                                                                                              \
    XG_INLINE type operator*(type a, type b)                                                       \
    {                                                                                              \
        return type((float)a * (float)b);                                                          \
    }                                                                                              \
    XG_INLINE type operator/(type a, type b)                                                       \
    {                                                                                              \
        return type((float)a / (float)b);                                                          \
    }                                                                                              \
    XG_INLINE type operator-(type a)                                                               \
    {                                                                                              \
        return type(-(float)a);                                                                    \
    }                                                                                              \
    XG_INLINE pair operator+(pair a, pair b)                                                       \
    {                                                                                              \
        return {a.x + b.x, a.y + b.y};                                                             \
    }                                                                                              \
    XG_INLINE pair operator-(pair a, pair b)                                                       \
    {                                                                                              \
        return {a.x - b.x, a.y - b.y};                                                             \
    }                                                                                              \
    XG_INLINE pair operator*(pair a, pair b)                                                       \
    {                                                                                              \
        return {a.x * b.x, a.y * b.y};                                                             \
    }                                                                                              \
    XG_INLINE type __hadd(type a, type b)                                                          \
    {                                                                                              \
        return a + b;                                                                              \
    }                                                                                              \
    XG_INLINE type __hsub(type a, type b)                                                          \
    {                                                                                              \
        return a - b;                                                                              \
    }                                                                                              \
    XG_INLINE type __hmul(type a, type b)                                                          \
    {                                                                                              \
        return a * b;                                                                              \
    }                                                                                              \
    XG_INLINE type __hdiv(type a, type b)                                                          \
    {                                                                                              \
        return a / b;                                                                              \
    }                                                                                              \
    XG_INLINE type __hfma(type a, type b, type c)                                                  \
    {                                                                                              \
        return type((float)a * (float)b + (float)c);                                               \
    }                                                                                              \
    XG_INLINE type __hneg(type a)                                                                  \
    {                                                                                              \
        return -a;                                                                                 \
    }                                                                                              \
    XG_INLINE type __hmax(type a, type b)                                                          \
    {                                                                                              \
        return (float)a < (float)b ? b : a;                                                        \
    }                                                                                              \
    XG_INLINE type __hmin(type a, type b)                                                          \
    {                                                                                              \
        return (float)b < (float)a ? b : a;                                                        \
    }                                                                                              \
    XG_INLINE bool __hgt(type a, type b)                                                           \
    {                                                                                              \
        return (float)a > (float)b;                                                                \
    }                                                                                              \
    XG_INLINE bool __hlt(type a, type b)                                                           \
    {                                                                                              \
        return (float)a < (float)b;                                                                \
    }                                                                                              \
    XG_INLINE pair __hadd2(pair a, pair b)                                                         \
    {                                                                                              \
        return a + b;                                                                              \
    }                                                                                              \
    XG_INLINE pair __hsub2(pair a, pair b)                                                         \
    {                                                                                              \
        return a - b;                                                                              \
    }                                                                                              \
    XG_INLINE pair __hmul2(pair a, pair b)                                                         \
    {                                                                                              \
        return a * b;                                                                              \
    }                                                                                              \
    XG_INLINE pair __hfma2(pair a, pair b, pair c)                                                 \
    {                                                                                              \
        return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};                                     \
    }

XG_SHORT_FLOAT(__half, __half2, float_of_half, half_of_float)
typedef __half half;
typedef __half2 half2;

XG_INLINE half __float2half(float x)
{
    return half(x);
}
XG_INLINE half __float2half_rn(float x)
{
    return half(x);
}
XG_INLINE float __half2float(half x)
{
    return (float)x;
}
XG_INLINE half __int2half_rn(int x)
{
    return half((float)x);
}
XG_INLINE half __ushort_as_half(unsigned short bits)
{
    return xg::bits_of<half>(bits);
}
XG_INLINE unsigned short __half_as_ushort(half x)
{
    return x.bits;
}
XG_INLINE half2 make_half2(half x, half y)
{
    return {x, y};
}
XG_INLINE half2 __halves2half2(half x, half y)
{
    return {x, y};
}
XG_INLINE half2 __half2half2(half x)
{
    return {x, x};
}
XG_INLINE half2 __float2half2_rn(float x)
{
    return {half(x), half(x)};
}
XG_INLINE half2 __floats2half2_rn(float x, float y)
{
    return {half(x), half(y)};
}
XG_INLINE half2 __float22half2_rn(float2 v)
{
    return {half(v.x), half(v.y)};
}
XG_INLINE float2 __half22float2(half2 v)
{
    return {(float)v.x, (float)v.y};
}
XG_INLINE half __low2half(half2 v)
{
    return v.x;
}
XG_INLINE half __high2half(half2 v)
{
    return v.y;
}
XG_INLINE float __low2float(half2 v)
{
    return (float)v.x;
}
XG_INLINE float __high2float(half2 v)
{
    return (float)v.y;
}
XG_INLINE half hexp(half x)
{
    return half(expf((float)x));
}
XG_INLINE half hsqrt(half x)
{
    return half(sqrtf((float)x));
}

#endif
