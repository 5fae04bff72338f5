/* SPDX-License-Identifier: BSD-3-Clause */
/* GEMV of F16 and BF16 operands (half_gemv.inc): a way of the kernel "skinny", for one product. */
#ifndef XGEMM_LIB_HALF_GEMV_H
#define XGEMM_LIB_HALF_GEMV_H

#include "families/family.h"

/* Of a product that "skinny" computes: whether this way does, too; then *of, if it is faster. */
void xg_half_gemv_consider(const xg_request *request, xg_candidate *of);

/* Whether the candidate is computed this way. */
bool xg_half_is_gemv(const xg_candidate *of);

xgemm_status xg_half_gemv_build(const xg_candidate *of, const xg_request *request, xg_plan *plan,
                                xg_error *error);

#endif
