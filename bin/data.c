/* SPDX-License-Identifier: BSD-3-Clause */
#include "data_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POOL_SAMPLES ((size_t)1 << 22)
/* Samples from one offset; short enough that no two rows have much in common. */
enum { POOL_BLOCK = 1024 };
/* Rows that are made together and then transposed: a cache line of floats. */
enum { GROUP = 16 };

/* NULL until they are first needed; they last as long as the program. */
static float *pools[POOLS];

int data_count(void)
{
    return data_kind_count;
}

const data_kind *data_at(int index)
{
    return &data_kinds[index];
}

const data_kind *data_find(const char *name, size_t length)
{
    for (int i = 0; i < data_kind_count; i++)
        if (strlen(data_kinds[i].name) == length && memcmp(data_kinds[i].name, name, length) == 0)
            return &data_kinds[i];
    return NULL;
}

/* ---- Pools ---- */

/* By Box and Muller: two samples from two uniform ones. */
static void fill_normal(float *values)
{
    random_source source = {1};
    for (size_t i = 0; i < POOL_SAMPLES; i += 2) {
        const double u = ((double)(random_bits(&source) >> 11) + 0.5) * 0x1p-53;
        const double v = (double)(random_bits(&source) >> 11) * 0x1p-53;
        const double radius = sqrt(-2.0 * log(u)), angle = 6.283185307179586 * v;
        values[i] = (float)(radius * cos(angle));
        values[i + 1] = (float)(radius * sin(angle));
    }
}

bool data_pools_open(void)
{
    if (pools[0])
        return true;
    float *const all = malloc(POOLS * POOL_SAMPLES * sizeof *all);
    if (!all)
        return false;
    for (int pool = 0; pool < POOLS; pool++)
        pools[pool] = all + (size_t)pool * POOL_SAMPLES;
    fill_normal(pools[POOL_NORMAL]);
    for (size_t i = 0; i < POOL_SAMPLES; i++) {
        const double x = (double)pools[POOL_NORMAL][i];
        pools[POOL_EXP][i] = (float)exp(x);
        pools[POOL_GELU][i] = (float)(0.5 * x * (1.0 + erf(x * 0.7071067811865476)));
    }
    return true;
}

void data_pool_draw(data_pool pool, random_source *source, float *values, int64_t count)
{
    while (count > 0) {
        const int64_t block = count < POOL_BLOCK ? count : POOL_BLOCK;
        const size_t offset = random_bits(source) % (POOL_SAMPLES - POOL_BLOCK);
        memcpy(values, pools[pool] + offset, (size_t)block * sizeof *values);
        values += block;
        count -= block;
    }
}

/* ---- Random numbers ---- */

/* Seeds that differ in one bit give unrelated numbers. */
static random_source mixed(uint64_t seed, uint64_t salt, uint64_t number)
{
    random_source source = {seed};
    source.state = random_bits(&source) + salt;
    source.state = random_bits(&source) + number;
    return (random_source){random_bits(&source)};
}

random_source data_source(const data_row *at, uint64_t salt)
{
    return mixed(at->seed, 2 * salt + at->is_b, (uint64_t)at->row + 1);
}

random_source data_operand_source(const data_row *at, uint64_t salt)
{
    return mixed(at->seed, 2 * salt + at->is_b, 0);
}

/* ---- Operands ---- */

/* Rows that are not contiguous: GROUP at a time, so that each cache line is written once. */
static bool fill_transposed(const data_kind *kind, data_row at, const data_operand *to)
{
    float *const group = malloc((size_t)to->depth * GROUP * sizeof *group);
    for (int64_t first = 0; group && first < to->rows; first += GROUP) {
        const int64_t count = to->rows - first < GROUP ? to->rows - first : GROUP;
        for (int64_t i = 0; i < count; i++) {
            at.row = first + i;
            kind->fill(&at, group + i * to->depth);
        }
        float *values = to->values + first * to->row_stride;
        for (int64_t l = 0; l < to->depth; l++, values += to->k_stride)
            for (int64_t i = 0; i < count; i++)
                values[i * to->row_stride] = group[i * to->depth + l];
    }
    free(group);
    return group != NULL;
}

bool data_fill(const data_kind *kind, uint64_t seed, const data_operand *to)
{
    data_row at = {.seed = seed, .is_b = to->is_b, .rows = to->rows, .depth = to->depth};
    if (to->rows == 0 || to->depth == 0)
        return true;
    if (!data_pools_open())
        return false;
    if (to->k_stride != 1)
        return fill_transposed(kind, at, to);
    for (at.row = 0; at.row < to->rows; at.row++)
        kind->fill(&at, to->values + at.row * to->row_stride);
    return true;
}
