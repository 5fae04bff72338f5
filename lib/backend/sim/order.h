/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which of a thread's steps came before which of another's, for watched launches
 * whose threads wait for counted barriers. Each thread counts its moments, and
 * knows up to which of every other's all came before its own next step.
 */
#ifndef XGEMM_SIM_ORDER_H
#define XGEMM_SIM_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/* What those who passed something on there knew, for each thread; NULL: nobody did. */
typedef uint32_t *xg_order_news;

/* All that was done up to now came before all that follows. False: out of memory. */
bool xg_order_begin(int threads);
void xg_order_end(void);
/* Whether it has begun; without it the functions below do nothing, and it is moment 0. */
bool xg_order_is_kept(void);

uint32_t xg_order_moment(int thread);
bool xg_order_came_before(int other, uint32_t moment, int thread);

/* The thread passes on what it knows; its next moment is none of that. */
bool xg_order_pass_on(int thread, xg_order_news *news);
/* One moment of it alone, as a copy does that it sent then. */
bool xg_order_pass_on_moment(int thread, uint32_t moment, xg_order_news *news);
/* "to" is what "from" is now. */
bool xg_order_keep(xg_order_news from, xg_order_news *to);
void xg_order_learn(int thread, xg_order_news news);
/* The threads from first on, as many as "count" and those of the mask's bits if it is not 0. */
void xg_order_meet(int first, int count, uint32_t mask);

#endif
