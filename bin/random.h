/* SPDX-License-Identifier: BSD-3-Clause */
/* Repeatable random numbers: splitmix64 (Steele, Lea and Flood, 2014). */
#ifndef XGEMM_BIN_RANDOM_H
#define XGEMM_BIN_RANDOM_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t state;
} random_source;

static inline uint64_t random_bits(random_source *source)
{
    uint64_t z = source->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Uniform over [-1, 1), multiples of 2^-23. */
static inline float random_float(random_source *source)
{
    return (float)(int64_t)(random_bits(source) >> 40) * 0x1p-23f - 1.0f;
}

static inline void random_fill(random_source *source, float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = random_float(source);
}

#endif
