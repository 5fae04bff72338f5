/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists for --order, --transa, --transb and --math: layouts and math modes in turn. */
#ifndef XGEMM_BIN_SWEEP_H
#define XGEMM_BIN_SWEEP_H

#include "problem_options.h"

enum { SWEEP_ORDERS_MAX = 2, SWEEP_LETTERS_MAX = 3, SWEEP_MATHS_MAX = 3 };

typedef struct {
    xgemm_order orders[SWEEP_ORDERS_MAX];
    xgemm_transpose transa[SWEEP_LETTERS_MAX], transb[SWEEP_LETTERS_MAX];
    xgemm_math maths[SWEEP_MATHS_MAX];
    int order_count, transa_count, transb_count, math_count; /* 0: the option was not given */
} sweep;

/*
 * Takes one of these options, with its list; false when the key is another. Wrong text, and a value
 * that is there twice, end the program with 2.
 */
bool sweep_option(const command *which, sweep *to, int key, const char *value);

/* How many combinations there are, at least 1; and number index of them: the options with it. */
int sweep_count(const sweep *of);
problem_options sweep_at(const sweep *of, const problem_options *options, int index);

#endif
