/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The utility in the process of its test, again and again. The linker's --wrap puts what is in
 * utility_limits.c between it and the functions that would end the process, start another program,
 * wait, compute for long or take much memory (tests/tests.am has the list).
 */
#ifndef XGEMM_TESTS_UTILITY_LIMITS_H
#define XGEMM_TESTS_UTILITY_LIMITS_H

#include <stddef.h>

/* In place of an exit status: what it was asked for takes long, and it was stopped. */
enum { UTILITY_STOPPED = -1 };

int utility_main(int argument_count, char **arguments);

/*
 * Runs it with a file as its standard input. What it printed to its two outputs is in texts that
 * last until the next call. What it leaves open, and large blocks of memory, are given back; small
 * ones that it leaves to the end of the process are not.
 */
int utility_run(int argument_count, char **arguments, const char *standard_input,
                const char **output, const char **messages);

#endif
