/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the elements of a product have the same bits in random parts of it. */
#ifndef XGEMM_BIN_ELEMENTS_H
#define XGEMM_BIN_ELEMENTS_H

#include "problem_options.h"

typedef struct {
    int64_t parts, elements; /* compared */
    int64_t different;       /* elements whose bits differ */
    char first[256];         /* what the first of them is, in a sentence; empty: there is none */
} elements_result;

/*
 * Runs a product of random numbers, and then so many random parts of it (some rows and columns of
 * C) in random layouts, with random leading dimensions and alignment, alone and in batches, and
 * compares each element's bits with those of the whole. The handle is set to
 * XGEMM_REPRODUCIBLE_ELEMENT and to no kernel. Of the options it takes the types, the epilogue and
 * the math mode.
 * Adds to the result; false when a call fails: why is in message.
 */
bool elements_compare(xgemm_handle *handle, const problem_options *options, shape size, int parts,
                      uint64_t seed, elements_result *result, char *message, size_t message_size);

#endif
