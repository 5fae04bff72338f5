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

/* A fiber whose body is called once every time it is resumed anew; NULL: out of memory. */
xg_fiber *xg_fiber_new(void (*body)(void));

/* From the scheduler into a fiber, until it pauses. */
void xg_fiber_resume(xg_fiber *fiber);

/* From a fiber back to the scheduler. When the body returns, the fiber pauses by itself. */
void xg_fiber_pause(void);

/* Whether an address is on the fiber's stack. */
bool xg_fiber_owns(const xg_fiber *fiber, uintptr_t address);

void xg_fiber_free(xg_fiber *fiber);

#endif
