/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists for --order, --transa, --transb, --math and --type: each combination in turn. */
#ifndef XGEMM_BIN_SWEEP_H
#define XGEMM_BIN_SWEEP_H

#include "kernel_list.h"
#include "problem_options.h"

enum { SWEEP_ORDERS_MAX = 2, SWEEP_LETTERS_MAX = 3, SWEEP_MATHS_MAX = 3, SWEEP_TYPES_MAX = 6 };

typedef struct {
    xgemm_order orders[SWEEP_ORDERS_MAX];
    xgemm_transpose transa[SWEEP_LETTERS_MAX], transb[SWEEP_LETTERS_MAX];
    xgemm_math maths[SWEEP_MATHS_MAX];
    xgemm_type types[SWEEP_TYPES_MAX];
    int order_count, transa_count, transb_count, math_count, type_count; /* 0: it was not given */
} sweep;

/*
 * Takes one of these options, with its list; false when the key is another. Wrong text, and a value
 * that is there twice, end the program with 2.
 */
bool sweep_option(const command *which, sweep *to, int key, const char *value);

/* How many combinations there are, at least 1; and number index of them: the options with it. */
int sweep_count(const sweep *of);
problem_options sweep_at(const sweep *of, const problem_options *options, int index);

/*
 * Settings of them all have null where they differ: the rows say it then, and of C's type what
 * follows from theirs.
 */
void sweep_forget(json_t *members, const sweep *of, const problem_options *options);

/*
 * The kernels of each type, for a sweep of these alone: kernels_from() in their math modes, of
 * which the handle keeps one.
 */
void kernels_of_types(const command *which, xgemm_handle *handle, const char *text, const sweep *of,
                      const problem_options *options, kernel_list lists[SWEEP_TYPES_MAX]);

/* problem_check() of each of them. */
void sweep_check(const command *which, const sweep *of, const problem_options *options);

/* Ends the program with 2: a math mode was given beside a kernel that does not depend on it. */
_Noreturn void sweep_math_unused(const command *which, const char *kernel);

/*
 * The same where the text is the name of one kernel without tensor cores, which every mode allows,
 * and another mode than the default was given.
 */
void sweep_check_kernel(const command *which, const sweep *of, const problem_options *options,
                        const char *kernel);

#endif
