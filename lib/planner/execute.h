/* SPDX-License-Identifier: BSD-3-Clause */
/* The executor: all launches are made here, and nothing is planned. */
#ifndef XGEMM_LIB_EXECUTE_H
#define XGEMM_LIB_EXECUTE_H

#include "plan/plan.h"

/*
 * Enqueues a plan's launches on a stream, for a problem that differs from the planned one in its
 * pointers alone, with a workspace of the plan's size. Kernels are loaded before the first launch;
 * once there was one, C may have been written, and a failure is XGEMM_ERROR_LAUNCH,
 * XGEMM_ERROR_DRIVER, or for want of the host's memory XGEMM_ERROR_OUT_OF_MEMORY.
 */
xgemm_status xg_execute(const xg_plan *plan, const xg_problem *problem, const xg_backend *backend,
                        xg_device *device, void *stream, void *workspace, xg_error *error);

/*
 * Of a backend that translates PTX. Begins to load a plan's kernels: the PTX of the longest one that
 * is not loaded, 0: all are; *begun: that of one began now.
 */
size_t xg_load_begin(const xg_plan *plan, const xg_backend *backend, xg_device *device,
                     bool *begun);

/* Waits for what was begun, for each kernel so many milliseconds at most; false: not all are done. */
bool xg_load_wait(const xg_plan *plan, const xg_backend *backend, xg_device *device,
                  int milliseconds);

/*
 * One launch of a plan without panels, for who runs it in another way; its arguments go to
 * "arguments", of XG_ARGUMENTS_BYTES.
 */
xg_launch xg_step_launch(const xg_plan *plan, int index, const xg_problem *problem, int64_t pass,
                         void *workspace, void *arguments);

#endif
