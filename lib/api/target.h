/* SPDX-License-Identifier: BSD-3-Clause */
/* A GPU that need not be there, as the target of a plan. */
#ifndef XGEMM_LIB_API_TARGET_H
#define XGEMM_LIB_API_TARGET_H

#include "planner/planner.h"

/*
 * The target of plans for a GPU (xg_device_complete()), which the simulator can run. The kernel is
 * one that was asked for, or NULL: it must be one of this GPU's. Constants that are scaled for the
 * GPU go to *scaled, which must live as long as the target.
 */
xgemm_status xg_target_of_gpu(const xgemm_device *gpu, const xg_kernel *kernel, xg_target *to,
                              xg_costs *scaled, xg_error *error);

/* Whether the GPU can run the kernel; a sentence when it cannot. */
xgemm_status xg_target_check_kernel(const xgemm_device *gpu, const xg_kernel *kernel,
                                    xg_error *error);

/* Whether it is a GPU of an older compute capability than the kernels are compiled for. */
bool xg_is_older_gpu(const xgemm_device *gpu);

#endif
