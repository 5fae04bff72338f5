/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kinds of data draw from. */
#ifndef XGEMM_BIN_DATA_PARTS_H
#define XGEMM_BIN_DATA_PARTS_H

#include "data.h"
#include "random.h"

/*
 * Pools of precomputed samples. Rows copy blocks of a pool from random offsets: a logarithm
 * and a cosine for each element would take several seconds for a matrix of 8192 x 8192.
 */
typedef enum {
    POOL_NORMAL, /* mean 0, variance 1 */
    POOL_EXP,    /* the exponential of a normal sample */
    POOL_GELU,   /* gelu of a normal sample */
    POOLS
} data_pool;

/* Makes all pools; false when the host is out of memory. */
bool data_pools_open(void);

/* So many samples from random blocks of the pool, which data_pools_open() has made. */
void data_pool_draw(data_pool pool, random_source *source, float *values, int64_t count);

/* Random numbers for a row; salt tells several uses in one row apart. */
random_source data_source(const data_row *at, uint64_t salt);

/* The same for all rows of the operand. */
random_source data_operand_source(const data_row *at, uint64_t salt);

/* The table of kinds. */
extern const data_kind data_kinds[];
extern const int data_kind_count;

#endif
