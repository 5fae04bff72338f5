/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of operands in a device's memory, which the threads that multiply them share: a block is
 * copied there once, by the first that needs it, and stays until its place is needed for another.
 */
#ifndef XGEMM_LIB_HOST_BLOCKS_H
#define XGEMM_LIB_HOST_BLOCKS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    int operand;  /* 0: A, 1: B */
    int64_t i, l; /* which part of m or n, and of k */
    void *memory; /* of the device */
    enum { XG_BLOCK_FREE, XG_BLOCK_FILLING, XG_BLOCK_FILLED } state;
    int users;
    uint64_t used; /* when; the oldest goes first */
} xg_block;

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    xg_block *places;
    int count;
    uint64_t clock;
    atomic_bool is_stopped;
} xg_blocks;

/* So many places; false: the host has no memory. */
bool xg_blocks_init(xg_blocks *blocks, int count);
void xg_blocks_free(xg_blocks *blocks); /* not the device's memory */

/*
 * Waits for the block, which stays until it is given back. *is_new: the caller has to fill it and
 * to call xg_block_filled(); is_new is NULL: another thread does. NULL: all are to stop. There must
 * be two places for each thread, and a thread holds at most two.
 */
xg_block *xg_block_get(xg_blocks *blocks, int operand, int64_t i, int64_t l, bool *is_new);
void xg_block_filled(xg_blocks *blocks, xg_block *block);
void xg_block_release(xg_blocks *blocks, xg_block *block);

/* Ends all waiting. */
void xg_blocks_stop(xg_blocks *blocks);

#endif
