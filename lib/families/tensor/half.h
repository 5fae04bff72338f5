/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of F16 and BF16 operands in the family tensor/: no terms are split off. */
#ifndef XGEMM_LIB_HALF_H
#define XGEMM_LIB_HALF_H

#include "families/family.h"

/* The same as the members of xg_family. */
bool xg_half_applies(const xg_kernel *kernel, const xg_request *request);
xg_candidate xg_half_candidate(const xg_kernel *kernel, const xg_request *request);
double xg_half_workspace(const xg_candidate *of, const xg_request *request);
xgemm_status xg_half_build(const xg_candidate *of, const xg_request *request, xg_plan *plan,
                           xg_error *error);

#endif
