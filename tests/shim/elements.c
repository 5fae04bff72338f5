/* SPDX-License-Identifier: BSD-3-Clause */
#include "elements.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t element_bytes(element type)
{
    static const unsigned char bytes[] = {
        [F32] = 4, [F64] = 8, [C32] = 8, [C64] = 16, [F16] = 2, [BF16] = 2};
    return bytes[type];
}

int element_cuda_type(element type)
{
    static const unsigned char types[] = {
        [F32] = 0, [F64] = 1, [C32] = 4, [C64] = 5, [F16] = 2, [BF16] = 14};
    return types[type];
}

int element_compute(element type)
{
    return type == F64 || type == C64 ? 70 : 68;
}

bool element_is_complex(element type)
{
    return type == C32 || type == C64;
}

element element_scalar(element type)
{
    return type == F16 || type == BF16 ? F32 : type;
}

/* A number with at most 8 bits, and so a normal one in both. */
static uint16_t half_of(element type, double value)
{
    const uint16_t sign = value < 0 ? 0x8000 : 0;
    const int bits = type == F16 ? 10 : 7, bias = type == F16 ? 15 : 127;
    int exponent;
    const double fraction = frexp(fabs(value), &exponent); /* from 1/2 to 1 */
    if (value == 0)
        return 0;
    return (uint16_t)(sign | (exponent - 1 + bias) << bits | (int)ldexp(2 * fraction - 1, bits));
}

static double of_half(element type, uint16_t half)
{
    const int bits = type == F16 ? 10 : 7, bias = type == F16 ? 15 : 127;
    const int exponent = half >> bits & ((1 << (15 - bits)) - 1);
    const int fraction = half & ((1 << bits) - 1);
    const double size = exponent == 0 ? 0 : ldexp((1 << bits) + fraction, exponent - bias - bits);
    return half & 0x8000 ? -size : size;
}

void element_put(element type, void *matrix, int at, double real, double imaginary)
{
    char *const to = (char *)matrix + (size_t)at * element_bytes(type);
    const double wide[2] = {real, imaginary};
    const float narrow[2] = {(float)real, (float)imaginary};
    const uint16_t half = half_of(type, real);
    const void *const from = type == F64 || type == C64    ? (const void *)wide
                             : type == F16 || type == BF16 ? (const void *)&half
                                                           : (const void *)narrow;
    memcpy(to, from, element_bytes(type));
}

double element_get(element type, const void *matrix, int at, bool imaginary)
{
    const char *const from = (const char *)matrix + (size_t)at * element_bytes(type);
    double wide[2] = {0, 0};
    float narrow[2] = {0, 0};
    uint16_t half;
    switch (type) {
    case F64:
    case C64:
        memcpy(wide, from, element_bytes(type));
        return wide[imaginary];
    case F16:
    case BF16:
        memcpy(&half, from, sizeof half);
        return imaginary ? 0 : of_half(type, half);
    default:
        memcpy(narrow, from, element_bytes(type));
        return (double)narrow[imaginary];
    }
}

void *place_on(xgemm_handle *gpu, const void *from, size_t bytes)
{
    void *memory = gpu ? NULL : malloc(bytes);
    if (memory)
        return memcpy(memory, from, bytes);
    if (!gpu || xgemm_malloc(gpu, bytes, &memory) || xgemm_upload(gpu, memory, from, bytes)) {
        fputs("elements: there is no memory\n", stderr);
        exit(1);
    }
    return memory;
}

void release_on(xgemm_handle *gpu, void *memory)
{
    if (gpu)
        xgemm_free(gpu, memory);
    else
        free(memory);
}
