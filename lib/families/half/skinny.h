/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Skinny products of F16 and BF16 operands: for the kernel of gemv/ whose row has programs of these
 * types.
 */
#ifndef XGEMM_LIB_HALF_SKINNY_H
#define XGEMM_LIB_HALF_SKINNY_H

#include "families/family.h"

/* The same as the members of xg_family; there is no workspace. */
bool xg_half_skinny_applies(const xg_request *request);
xg_candidate xg_half_skinny_candidate(const xg_kernel *kernel, const xg_request *request);
xgemm_status xg_half_skinny_build(const xg_candidate *of, const xg_request *request, xg_plan *plan,
                                  xg_error *error);

#endif
