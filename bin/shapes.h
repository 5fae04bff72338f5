/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of problem sizes: from numbers, ranges and files. */
#ifndef XGEMM_BIN_SHAPES_H
#define XGEMM_BIN_SHAPES_H

#include "options.h"

typedef struct {
    int64_t m, n, k;
} shape;

typedef struct {
    shape *items;
    size_t count, room;
} shape_list;

/* The texts of the options; NULL where one was not given. */
typedef struct {
    const char *m, *n, *k, *size, *file;
} shape_options;

/* The rows that a command which takes sizes has in its table, and their keys. */
#define SHAPE_ROWS                                                                                 \
    OPTION_ROW('m', NULL, "SPEC", "rows of C: a number, FIRST:LAST:STEP, or a list with commas"),  \
        OPTION_ROW('n', NULL, "SPEC", "columns of C"),                                             \
        OPTION_ROW('k', NULL, "SPEC", "the inner size"),                                           \
        OPTION_ROW('s', "size", "SPEC", "m = n = k"),                                              \
        OPTION_ROW('f', "shapes", "FILE", "lines of \"m n k\", - from standard input")

/* Takes one of SHAPE_ROWS; false when the key is another. */
bool shape_option(shape_options *options, int key, const char *value);

/*
 * Every combination of -m, -n and -k (one that is missing is like the first of
 * them that is there), then the squares of --size, then the file's shapes.
 * Wrong text ends the program with 2. The list is the caller's, for
 * shape_list_free(); it is empty when no option was given.
 */
shape_list shapes_from(const command *which, const shape_options *options);

/* Ends the program with 2 when an operand is left on the command line of a command of sizes. */
void shapes_no_operand(const command *which, int argc, char **argv);

/* Adds one; ends the program when memory is out. */
void shape_add(shape_list *list, int64_t m, int64_t n, int64_t k);
void shape_list_free(shape_list *list);

/* Its m, n or k: dimension 0, 1 or 2. */
int64_t shape_extent(const shape *s, int dimension);

/* m n k, half of the product's operations. */
double shape_work(const shape *s);

/* The order of increasing work, for qsort() and bsearch(); of the same work, by m, n, then k. */
int shape_by_work(const void *left, const void *right);

bool shape_is_square(const shape *s);

/* "4096", or "4096x2048x64"; returns text. */
const char *shape_text(const shape *s, char text[64]);

/* A number with the unit it wants: "12.5 MiB". Static text, until the next call. */
const char *bytes_text(double bytes);

#endif
