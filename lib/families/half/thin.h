/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thin products of F16 and BF16 operands, and small ones (single_stage.h): for the kernels of simt/
 * whose rows have programs of these types that are not those of mma.h.
 */
#ifndef XGEMM_LIB_HALF_THIN_H
#define XGEMM_LIB_HALF_THIN_H

#include "families/family.h"

/* Whether the kernel's programs of these types are those. */
bool xg_half_is_thin(const xg_kernel *kernel);

/* The same as the members of xg_family; there is no workspace. */
bool xg_half_thin_applies(const xg_kernel *kernel, const xg_request *request);
xg_candidate xg_half_thin_candidate(const xg_kernel *kernel, const xg_request *request);
xgemm_status xg_half_thin_build(const xg_candidate *of, const xg_request *request, xg_plan *plan,
                                xg_error *error);

#endif
