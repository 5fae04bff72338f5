/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A product of matrices in host memory: C in tiles, each computed by one thread from blocks of A
 * and B. Threads are several so that tiles are multiplied while others are copied.
 */
#ifndef XGEMM_LIB_HOST_JOB_H
#define XGEMM_LIB_HOST_JOB_H

#include "handle.h"
#include "host_blocks.h"
#include "host_copy.h"
#include "problem/call.h"

#include <stdatomic.h>

typedef struct {
    xg_call call;                      /* in row order, one product, its matrices on the host */
    size_t bytes, c_bytes, bias_bytes; /* of an element */
    int64_t tile_m, tile_n, tile_k;    /* of a tile of C; of k in a block */
    int64_t tiles_m, tiles_n, panels;
    size_t a_block, b_block, c_tile, bias_part; /* bytes */
    int lanes, places;                          /* of a device */
    bool by_element;                            /* k is not divided */
    bool is_transposed;                         /* the caller's product is in column order */
    bool is_ahead;                              /* a thread copies all blocks, and no other does */

    const xgemm_handle *settings; /* kernel and math mode */
    const char *function;
    xg_host_device *host; /* of each device */
    xg_blocks *blocks;    /* the same */
    char **memory;        /* the same: for each thread a tile of C and a part of the bias */
    int devices;
    _Atomic int64_t next; /* the first tile that no thread has */

    pthread_mutex_t lock; /* of what follows */
    xgemm_status status;
    xg_error error; /* of the first failure */
    const char *kernel;
    int64_t recomputed, fallbacks; /* of all tiles */
} xg_host_job;

/*
 * Copies all blocks of A and B to the one device, in the order in which tiles need them, whatever
 * the products do meanwhile; there must be a place for each.
 */
void xg_host_run_ahead(xg_host_job *job);

/* The same product in the other order: C = A B in one is C^T = B^T A^T in the other. */
xg_call xg_host_transposed(const xg_call *call);

/* Computes tiles on one device, as its thread number "lane", until there are none or one failed. */
void xg_host_run_lane(xg_host_job *job, int device_index, int lane, int ordinal);

#endif
