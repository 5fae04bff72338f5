/* SPDX-License-Identifier: BSD-3-Clause */
/* How a handle's settings become the request for a plan. */
#ifndef XGEMM_LIB_GEMM_H
#define XGEMM_LIB_GEMM_H

#include "handle.h"
#include "problem/call.h"

/* The workspace is the handle's, or as large as it takes. */
xg_request xg_request_of(const xgemm_handle *handle, const xg_problem *problem);

#endif
