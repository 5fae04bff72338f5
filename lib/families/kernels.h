/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of kernels, of all families. */
#ifndef XGEMM_LIB_KERNELS_H
#define XGEMM_LIB_KERNELS_H

#include "family.h"

const xg_kernel *xg_kernel_at(int id);

/* NULL when there is none of that name. */
const xg_kernel *xg_kernel_named(const char *name);

/* Whether a kernel may serve in a math mode; and a sentence when it may not. */
bool xg_kernel_serves(const xg_kernel *kernel, xgemm_math math);
xgemm_status xg_kernel_check_math(const xg_kernel *kernel, xgemm_math math, xg_error *error);

/*
 * Whether the kernel runs on a device of that compute capability, with so many bytes of shared
 * memory for a block (0: no limit is known); and a sentence when it does not, in which the device
 * has that name.
 */
bool xg_kernel_fits(const xg_kernel *kernel, int compute_capability, int64_t shared_per_block);
xgemm_status xg_kernel_check_device(const xg_kernel *kernel, int compute_capability,
                                    int64_t shared_per_block, const char *device, xg_error *error);

/* Whether the kernel computes all of the problem's epilogue, or alpha and beta alone. */
bool xg_kernel_finishes(const xg_kernel *kernel, const xg_problem *problem);

/* Whether a kernel can compute a problem's types and epilogue; and a sentence when it cannot. */
bool xg_kernel_takes(const xg_kernel *kernel, const xg_problem *problem);
xgemm_status xg_kernel_check_problem(const xg_kernel *kernel, const xg_problem *problem,
                                     xg_error *error);

/*
 * Fails with a sentence that has the nearest names of kernels that the backend can run, and the
 * name of one that only others can if that is nearer; with NULL the nearest of all.
 */
xgemm_status xg_kernel_unknown(const char *name, const xg_backend *backend, xg_error *error);

#endif
