/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which symbols of an assembly its code can come to from one of them: what a function calls, or
 * takes the address of, and what data points to. Of a file with several kernels the arrays in
 * shared memory that one of them has are found so.
 */
#ifndef XGEMM_SOURCE_REACH_H
#define XGEMM_SOURCE_REACH_H

#include <stdbool.h>
#include <stddef.h>

typedef struct xg_reach xg_reach;

/* From the symbol "root"; NULL: no memory. */
xg_reach *xg_reach_new(const char *root);
void xg_reach_free(xg_reach *reach);

/* A line of the assembly, in its order; false: no memory. */
bool xg_reach_take(xg_reach *reach, const char *line, size_t length);

/* After all lines: marks what is reached. */
bool xg_reach_mark(xg_reach *reach);
bool xg_reach_has(const xg_reach *reach, const char *name);

#endif
