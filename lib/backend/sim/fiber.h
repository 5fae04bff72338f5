/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fibers: functions with stacks of their own that take turns on one thread.
 * A fiber that ended is kept and starts again with another job.
 */
#ifndef XGEMM_SIM_FIBER_H
#define XGEMM_SIM_FIBER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct xg_fiber xg_fiber;

/*
 * A fiber whose body is called again each time it returns: it pauses, or hands
 * over, by itself before it does. NULL: out of memory.
 */
xg_fiber *xg_fiber_new(void (*body)(void));

/* From the scheduler into a fiber, until it pauses. */
void xg_fiber_resume(xg_fiber *fiber);

/* From a fiber back to the scheduler. */
void xg_fiber_pause(void);

/* From a fiber to another one, past the scheduler. */
void xg_fiber_hand_over(xg_fiber *to);

/* Whether an address is on the running fiber's stack. */
bool xg_fiber_owns(uintptr_t address);

void xg_fiber_free(xg_fiber *fiber);

/*
 * Fibers made from now on change stacks by ucontext, as they do where the machine is not x86-64
 * and under a shadow stack, whose second stack the C library then changes too; false: by what
 * suits the machine. For tests; while there are no fibers.
 */
void xg_fiber_use_ucontext(bool use);

#endif
