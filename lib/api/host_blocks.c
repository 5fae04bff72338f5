/* SPDX-License-Identifier: BSD-3-Clause */
#include "host_blocks.h"

#include <stdlib.h>

bool xg_blocks_init(xg_blocks *blocks, int count)
{
    *blocks = (xg_blocks){.count = count, .places = calloc((size_t)count, sizeof(xg_block))};
    if (!blocks->places)
        return false;
    pthread_mutex_init(&blocks->lock, NULL);
    pthread_cond_init(&blocks->changed, NULL);
    return true;
}

void xg_blocks_free(xg_blocks *blocks)
{
    if (!blocks->places)
        return;
    free(blocks->places);
    pthread_mutex_destroy(&blocks->lock);
    pthread_cond_destroy(&blocks->changed);
    blocks->places = NULL;
}

static xg_block *find(const xg_blocks *blocks, int operand, int64_t i, int64_t l)
{
    for (int at = 0; at < blocks->count; at++) {
        xg_block *const block = &blocks->places[at];
        if (block->state != XG_BLOCK_FREE && block->operand == operand && block->i == i &&
            block->l == l)
            return block;
    }
    return NULL;
}

/* A free place, or the one that was used last the longest ago; NULL: all are in use. */
static xg_block *spare(const xg_blocks *blocks)
{
    xg_block *oldest = NULL;
    for (int at = 0; at < blocks->count; at++) {
        xg_block *const block = &blocks->places[at];
        if (block->state == XG_BLOCK_FREE)
            return block;
        if (block->state == XG_BLOCK_FILLED && block->users == 0 &&
            (!oldest || block->used < oldest->used))
            oldest = block;
    }
    return oldest;
}

/* With the lock; NULL: it has to wait. */
static xg_block *take(xg_blocks *blocks, int operand, int64_t i, int64_t l, bool *is_new)
{
    xg_block *block = find(blocks, operand, i, l);
    if (block ? block->state == XG_BLOCK_FILLING : !is_new)
        return NULL;
    const bool is_absent = !block;
    if (is_new)
        *is_new = is_absent;
    if (is_absent)
        block = spare(blocks);
    if (!block)
        return NULL;
    if (is_absent) {
        block->operand = operand;
        block->i = i;
        block->l = l;
        block->state = XG_BLOCK_FILLING;
    }
    block->users++;
    block->used = ++blocks->clock;
    return block;
}

xg_block *xg_block_get(xg_blocks *blocks, int operand, int64_t i, int64_t l, bool *is_new)
{
    xg_block *block = NULL;
    pthread_mutex_lock(&blocks->lock);
    while (!blocks->is_stopped && !(block = take(blocks, operand, i, l, is_new)))
        pthread_cond_wait(&blocks->changed, &blocks->lock);
    pthread_mutex_unlock(&blocks->lock);
    return block;
}

void xg_block_filled(xg_blocks *blocks, xg_block *block)
{
    pthread_mutex_lock(&blocks->lock);
    block->state = XG_BLOCK_FILLED;
    pthread_cond_broadcast(&blocks->changed);
    pthread_mutex_unlock(&blocks->lock);
}

void xg_block_release(xg_blocks *blocks, xg_block *block)
{
    pthread_mutex_lock(&blocks->lock);
    block->users--;
    pthread_cond_broadcast(&blocks->changed);
    pthread_mutex_unlock(&blocks->lock);
}

void xg_blocks_stop(xg_blocks *blocks)
{
    pthread_mutex_lock(&blocks->lock);
    blocks->is_stopped = true;
    pthread_cond_broadcast(&blocks->changed);
    pthread_mutex_unlock(&blocks->lock);
}
