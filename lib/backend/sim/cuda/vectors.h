/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUDA's vector types, as aligned as there. They are plain structs: gcc leaves a copy of one whole,
 * as one access of its size, which is what nvcc makes of it.
 */
#ifndef XGEMM_CUDA_VECTORS_H
#define XGEMM_CUDA_VECTORS_H

#define XG_VECTOR1(name, element)                                                                  \
    struct name##1                                                                                 \
    {                                                                                              \
        element x;                                                                                 \
    };                                                                                             \
    XG_INLINE name##1 make_##name##1(element x)                                                    \
    {                                                                                              \
        return {x};                                                                                \
    }
#define XG_VECTOR2(name, element, alignment)                                                       \
    struct __attribute__((aligned(alignment))) name##2                                             \
    {                                                                                              \
        element x, y;                                                                              \
    };                                                                                             \
    XG_INLINE name##2 make_##name##2(element x, element y)                                         \
    {                                                                                              \
        return {x, y};                                                                             \
    }
#define XG_VECTOR3(name, element)                                                                  \
    struct name##3                                                                                 \
    {                                                                                              \
        element x, y, z;                                                                           \
    };                                                                                             \
    XG_INLINE name##3 make_##name##3(element x, element y, element z)                              \
    {                                                                                              \
        return {x, y, z};                                                                          \
    }
#define XG_VECTOR4(name, element, alignment)                                                       \
    struct __attribute__((aligned(alignment))) name##4                                             \
    {                                                                                              \
        element x, y, z, w;                                                                        \
    };                                                                                             \
    XG_INLINE name##4 make_##name##4(element x, element y, element z, element w)                   \
    {                                                                                              \
        return {x, y, z, w};                                                                       \
    }
/* Of two and of four elements of so many bytes; at most 16 bytes are one access. */
#define XG_VECTORS(name, element, bytes)                                                           \
    XG_VECTOR1(name, element)                                                                      \
    XG_VECTOR2(name, element, 2 * (bytes))                                                         \
    XG_VECTOR3(name, element)                                                                      \
    XG_VECTOR4(name, element, (bytes) < 8 ? 4 * (bytes) : 16)

XG_VECTORS(char, signed char, 1)
XG_VECTORS(uchar, unsigned char, 1)
XG_VECTORS(short, short, 2)
XG_VECTORS(ushort, unsigned short, 2)
XG_VECTORS(int, int, 4)
XG_VECTORS(uint, unsigned, 4)
XG_VECTORS(long, long, 8)
XG_VECTORS(ulong, unsigned long, 8)
XG_VECTORS(longlong, long long, 8)
XG_VECTORS(ulonglong, unsigned long long, 8)
XG_VECTORS(float, float, 4)
XG_VECTORS(double, double, 8)

struct dim3 {
    unsigned x, y, z;
    XG_INLINE_MEMBER constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1)
        : x(x_), y(y_), z(z_)
    {
    }
    XG_INLINE_MEMBER constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z)
    {
    }
    XG_INLINE_MEMBER constexpr operator uint3() const
    {
        return {x, y, z};
    }
};

#endif
