/* SPDX-License-Identifier: BSD-3-Clause */
#include "element.h"

#include "half.h"

#include <math.h>
#include <string.h>

/* By the values of xgemm_type. */
static const struct {
    const char *word, *product;
    size_t bytes;
    xgemm_type part, sums;
} types[] = {
    {.product = "GEMM"},
    [XGEMM_F32] = {"f32", "SGEMM", 4, XGEMM_F32, XGEMM_F32},
    [XGEMM_F64] = {"f64", "DGEMM", 8, XGEMM_F64, XGEMM_F64},
    [XGEMM_F16] = {"f16", "GEMM of f16", 2, XGEMM_F16, XGEMM_F32},
    [XGEMM_BF16] = {"bf16", "GEMM of bf16", 2, XGEMM_BF16, XGEMM_F32},
    [XGEMM_C32] = {"c32", "CGEMM", 8, XGEMM_F32, XGEMM_C32},
    [XGEMM_C64] = {"c64", "ZGEMM", 16, XGEMM_F64, XGEMM_C64},
};
enum { TYPES = sizeof types / sizeof *types };

static const char *const activations[] = {
    [XGEMM_ACTIVATION_NONE] = "none", [XGEMM_RELU] = "relu", [XGEMM_GELU] = "gelu",
    [XGEMM_GELU_TANH] = "gelu-tanh",  [XGEMM_SILU] = "silu",
};

/* ---- Words ---- */

const char *type_word(xgemm_type type)
{
    return types[type].word;
}

const char *type_product_word(xgemm_type type)
{
    return types[type].product;
}

xgemm_type type_of_word(const char *word)
{
    for (int type = XGEMM_F32; type < TYPES; type++)
        if (strcmp(word, types[type].word) == 0)
            return (xgemm_type)type;
    return (xgemm_type)0;
}

const char *activation_word(xgemm_activation activation)
{
    return activations[activation];
}

/* ---- What a type is ---- */

size_t type_bytes(xgemm_type type)
{
    return types[type].bytes;
}

bool type_is_complex(xgemm_type type)
{
    return type == XGEMM_C32 || type == XGEMM_C64;
}

bool type_is_half(xgemm_type type)
{
    return type == XGEMM_F16 || type == XGEMM_BF16;
}

xgemm_type type_part(xgemm_type type)
{
    return types[type].part;
}

xgemm_type type_of_sums(xgemm_type type)
{
    return types[type].sums;
}

double type_unit(xgemm_type type)
{
    const xgemm_type part = type_part(type);
    return part == XGEMM_F64   ? 0x1p-53
           : part == XGEMM_F16 ? 0x1p-11
           : part == XGEMM_F32 ? 0x1p-24
                               : 0x1p-8;
}

double type_least(xgemm_type type)
{
    const xgemm_type part = type_part(type);
    return part == XGEMM_F64   ? 0x1p-1074
           : part == XGEMM_F16 ? 0x1p-24
           : part == XGEMM_F32 ? 0x1p-149
                               : 0x1p-133;
}

double type_limit(xgemm_type type)
{
    const xgemm_type part = type_part(type);
    return part == XGEMM_F64   ? (double)INFINITY
           : part == XGEMM_F16 ? 65520.0
           : part == XGEMM_F32 ? 0x1.ffffffp127
                               : 0x1.ffp127;
}

/* ---- Numbers ---- */

double type_round(xgemm_type type, double x)
{
    switch (type_part(type)) {
    case XGEMM_F16:
        return (double)float_of_f16(f16_of_double(x));
    case XGEMM_BF16:
        return (double)float_of_bf16(bf16_of_double(x));
    case XGEMM_F32:
        return (double)(float)x;
    default:
        return x;
    }
}

scalar scalar_round(xgemm_type type, scalar x)
{
    return (scalar){type_round(type, x.re), type_round(type, x.im)};
}

bool scalar_is_zero(scalar x)
{
    return x.re == 0.0 && x.im == 0.0;
}

/* Multiples of 2^-52 for doubles, else of 2^-23 and rounded. */
static double part_random(xgemm_type type, random_source *source)
{
    if (type_part(type) == XGEMM_F64)
        return (double)(int64_t)(random_bits(source) >> 11) * 0x1p-52 - 1.0;
    return type_round(type, (double)random_float(source));
}

scalar scalar_random(xgemm_type type, random_source *source)
{
    const double re = part_random(type, source);
    return (scalar){re, type_is_complex(type) ? part_random(type, source) : 0.0};
}

scalar element_load(xgemm_type type, const void *memory, int64_t index)
{
    const float *const floats = memory;
    const double *const doubles = memory;
    const uint16_t *const halves = memory;
    switch (type) {
    case XGEMM_F32:
        return (scalar){(double)floats[index], 0.0};
    case XGEMM_F64:
        return (scalar){doubles[index], 0.0};
    case XGEMM_F16:
        return (scalar){(double)float_of_f16(halves[index]), 0.0};
    case XGEMM_BF16:
        return (scalar){(double)float_of_bf16(halves[index]), 0.0};
    case XGEMM_C32:
        return (scalar){(double)floats[2 * index], (double)floats[2 * index + 1]};
    case XGEMM_C64:
        break;
    }
    return (scalar){doubles[2 * index], doubles[2 * index + 1]};
}

void element_store(xgemm_type type, void *memory, int64_t index, scalar value)
{
    float *const floats = memory;
    double *const doubles = memory;
    uint16_t *const halves = memory;
    switch (type) {
    case XGEMM_F32:
        floats[index] = (float)value.re;
        break;
    case XGEMM_F64:
        doubles[index] = value.re;
        break;
    case XGEMM_F16:
        halves[index] = f16_of_double(value.re);
        break;
    case XGEMM_BF16:
        halves[index] = bf16_of_double(value.re);
        break;
    case XGEMM_C32:
        floats[2 * index] = (float)value.re;
        floats[2 * index + 1] = (float)value.im;
        break;
    case XGEMM_C64:
        doubles[2 * index] = value.re;
        doubles[2 * index + 1] = value.im;
        break;
    }
}

double activated(xgemm_activation activation, double x)
{
    switch (activation) {
    case XGEMM_RELU:
        return x < 0.0 ? 0.0 : x;
    case XGEMM_GELU:
        return x * erfc(-x / 1.4142135623730951) / 2.0;
    case XGEMM_GELU_TANH:
        return x * (1.0 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))) / 2.0;
    case XGEMM_SILU:
        return x / (1.0 + exp(-x));
    case XGEMM_ACTIVATION_NONE:
        break;
    }
    return x;
}
