/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads from global memory under a condition: zeros without reading where "inside" is 0. In PTX,
 * since of a pointer that itself was loaded nvcc does not know that it is to global memory, and
 * since a branch for each load would keep them from being in flight together.
 */
#ifndef XGEMM_KERNELS_LOAD_H
#define XGEMM_KERNELS_LOAD_H

#include "ptx.h"

#ifdef __CUDACC__
XG_DEVICE unsigned xg_load_u16_if(const void *from, int inside)
{
    uint16_t value = 0;
    asm("{ .reg .pred inside; setp.ne.b32 inside, %2, 0; @inside ld.global.u16 %0, [%1]; }"
        : "+h"(value)
        : "l"(from), "r"(inside));
    return value;
}

XG_DEVICE float xg_load_f32_if(const void *from, int inside)
{
    float value = 0.0f;
    asm("{ .reg .pred inside; setp.ne.b32 inside, %2, 0; @inside ld.global.f32 %0, [%1]; }"
        : "+f"(value)
        : "l"(from), "r"(inside));
    return value;
}

XG_DEVICE double xg_load_f64_if(const void *from, int inside)
{
    double value = 0.0;
    asm("{ .reg .pred inside; setp.ne.b32 inside, %2, 0; @inside ld.global.f64 %0, [%1]; }"
        : "+d"(value)
        : "l"(from), "r"(inside));
    return value;
}

/* 16 bytes, at a multiple of as many. */
XG_DEVICE uint4 xg_load_16_bytes_if(const void *from, int inside)
{
    uint4 value = {0, 0, 0, 0};
    asm("{ .reg .pred inside; setp.ne.b32 inside, %5, 0;"
        " @inside ld.global.v4.u32 {%0, %1, %2, %3}, [%4]; }"
        : "+r"(value.x), "+r"(value.y), "+r"(value.z), "+r"(value.w)
        : "l"(from), "r"(inside));
    return value;
}

XG_DEVICE float4 xg_load_vec4_if(const void *from, int inside)
{
    float4 value = {0.0f, 0.0f, 0.0f, 0.0f};
    asm("{ .reg .pred inside; setp.ne.b32 inside, %5, 0;"
        " @inside ld.global.v4.f32 {%0, %1, %2, %3}, [%4]; }"
        : "+f"(value.x), "+f"(value.y), "+f"(value.z), "+f"(value.w)
        : "l"(from), "r"(inside));
    return value;
}

XG_DEVICE double2 xg_load_f64x2_if(const void *from, int inside)
{
    double2 value = {0.0, 0.0};
    asm("{ .reg .pred inside; setp.ne.b32 inside, %3, 0;"
        " @inside ld.global.v2.f64 {%0, %1}, [%2]; }"
        : "+d"(value.x), "+d"(value.y)
        : "l"(from), "r"(inside));
    return value;
}
#else
#define xg_load_u16_if(from, inside) ((inside) ? (unsigned)*(const uint16_t *)(from) : 0u)
#define xg_load_f32_if(from, inside) ((inside) ? *(const float *)(from) : 0.0f)
#define xg_load_f64_if(from, inside) ((inside) ? *(const double *)(from) : 0.0)
#define xg_load_16_bytes_if(from, inside)                                                          \
    ((inside) ? *(const uint4 *)(const void *)(from) : (uint4){0, 0, 0, 0})
#define xg_load_vec4_if(from, inside)                                                              \
    ((inside) ? *(const float4 *)(const void *)(from) : (float4){0.0f, 0.0f, 0.0f, 0.0f})
#define xg_load_f64x2_if(from, inside)                                                             \
    ((inside) ? *(const double2 *)(const void *)(from) : (double2){0.0, 0.0})
#endif

#endif
