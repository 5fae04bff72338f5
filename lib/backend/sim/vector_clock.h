/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Vector clocks, to find races in traced launches whose threads synchronise by more than barriers
 * of their block. Each thread counts epochs, and has a clock: up to which epoch of every thread all
 * happened before its own next access.
 */
#ifndef XGEMM_SIM_VECTOR_CLOCK_H
#define XGEMM_SIM_VECTOR_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* The clock of something that threads synchronise by, such as a barrier; NULL: all epochs 0. */
typedef uint32_t *xg_clock;

/* All accesses so far happened before all that follow. False: out of memory. */
bool xg_clocks_begin(int threads);
void xg_clocks_end(void);
/* Whether they have begun; without it the functions below do nothing, and it is epoch 0. */
bool xg_clocks_are_kept(void);

uint32_t xg_clock_epoch(int thread);
bool xg_clock_happens_before(int other, uint32_t epoch, int thread);

/* Joins the thread's clock into that one, and begins its next epoch. False: out of memory. */
bool xg_clock_release(int thread, xg_clock *to);
/* The same of one epoch of the thread alone: what its asynchronous operation of then releases. */
bool xg_clock_release_epoch(int thread, uint32_t epoch, xg_clock *to);
bool xg_clock_copy(xg_clock from, xg_clock *to);
/* Joins that clock into the thread's. */
void xg_clock_acquire(int thread, xg_clock from);
/* A barrier of the threads from first on: "count" of them, of the mask's bits if it is not 0. */
void xg_clock_synchronize(int first, int count, uint32_t mask);

#endif
