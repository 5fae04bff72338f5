/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small products of F16 and BF16 operands, with all of k in shared memory: for the kernel of simt/
 * whose row has programs of these types that are half_single_stage.inc's.
 */
#ifndef XGEMM_LIB_HALF_SINGLE_STAGE_H
#define XGEMM_LIB_HALF_SINGLE_STAGE_H

#include "families/family.h"

bool xg_half_is_single_stage(const xg_kernel *kernel);

/* The same as the members of xg_family; there is no workspace. */
bool xg_half_single_stage_applies(const xg_request *request);
xg_candidate xg_half_single_stage_candidate(const xg_kernel *kernel, const xg_request *request);
xgemm_status xg_half_single_stage_build(const xg_candidate *of, const xg_request *request,
                                        xg_plan *plan, xg_error *error);

#endif
