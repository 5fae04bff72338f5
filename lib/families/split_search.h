/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Split-K's search space, for the families that cost each number of splits: no split; all tiles of
 * C split; and, of a single product, those split that would not fill the last wave. It ends with
 * more splits than fill the GPU.
 */
#ifndef XGEMM_LIB_SPLIT_SEARCH_H
#define XGEMM_LIB_SPLIT_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    int64_t tiles;       /* of C */
    int64_t last_wave;   /* tiles that do not fill it, to be split alone; 0: not considered */
    int64_t held;        /* CTAs, or clusters, that the GPU holds at once */
    int64_t steps;       /* of k: a split has whole ones, */
    int64_t least_steps; /* and at least so many */
    int64_t most_splits; /* 1: k is not split */
    int64_t splits;      /* what is to be costed; 0 at first */
    int64_t split_tiles; /* the last ones of C, which have these splits; 0: none is split */
} xg_split_search;

/* Finds what is to be costed next; false: there is nothing left. */
bool xg_next_splits(xg_split_search *search);

#endif
