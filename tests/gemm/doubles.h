/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds of data for products of doubles. */
#ifndef XGEMM_TESTS_DOUBLES_H
#define XGEMM_TESTS_DOUBLES_H

#include "tests/support.h"

/* All 53 bits, between 0 and 1; and normal numbers of them. */
double doubles_uniform(generator *from);
double doubles_normal(generator *from);

/* An entry of op(A) by its row, or of op(B) by its column, and its k. */
typedef double doubles_fill(generator *from, int is_b, int line, int l);

doubles_fill doubles_normal_entry;

typedef struct {
    const char *name;
    doubles_fill *draw;
    int least, most; /* moduli that residues are to take for it; 0: none, as in FP64 */
} doubles_kind;

/* The kinds, from 0. */
int doubles_count(void);
const doubles_kind *doubles_kind_at(int index);

#endif
