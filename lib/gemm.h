/* SPDX-License-Identifier: BSD-3-Clause */
/* How a handle's settings become the request for a plan. */
#ifndef XGEMM_LIB_GEMM_H
#define XGEMM_LIB_GEMM_H

#include "handle.h"
#include "problem.h"

xg_request xg_request_of(const xgemm_handle *handle, const xg_args *problem, int64_t products,
                         size_t workspace_limit);

#endif
