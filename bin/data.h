/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Named kinds of data for the operands of a product: benign and hard ones, as networks and
 * simulations have them. A kind says what an operand row is: a row of op(A) or a column of op(B),
 * k elements. A row depends on nothing but the seed, the operand and its number, so
 * rows can be made in any order.
 */
#ifndef XGEMM_BIN_DATA_H
#define XGEMM_BIN_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One row to make. */
typedef struct {
    uint64_t seed;
    bool is_b;         /* a column of op(B), not a row of op(A) */
    int64_t row, rows; /* its number, and how many the operand has */
    int64_t depth;     /* its length, k */
} data_row;

/* What a check of a product of the kind must know. */
enum {
    DATA_NOT_FINITE = 1, /* has Inf or NaN */
    DATA_CANCELS = 2,    /* where both operands are of the kind, C is zero but for rounding */
    DATA_OVERFLOWS = 4,  /* products or sums may exceed FP32's range */
    DATA_FIXED = 8,      /* does not depend on the seed */
};

typedef struct {
    const char *name;
    const char *text; /* one sentence */
    unsigned traits;  /* of the above */
    void (*fill)(const data_row *at, float *values);
} data_kind;

/* The kinds, from 0. */
int data_count(void);
const data_kind *data_at(int index);

/* The kind whose name is the first length characters; NULL when there is none. */
const data_kind *data_find(const char *name, size_t length);

/* An operand in memory: element l of row i is values[i * row_stride + l * k_stride]. */
typedef struct {
    float *values;
    bool is_b;
    int64_t rows, depth;
    int64_t row_stride, k_stride;
} data_operand;

/* Fills it with the kind; false when the host is out of memory. */
bool data_fill(const data_kind *kind, uint64_t seed, const data_operand *to);

#endif
