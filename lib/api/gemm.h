/* SPDX-License-Identifier: BSD-3-Clause */
/* How a handle's settings become the request for a plan. */
#ifndef XGEMM_LIB_GEMM_H
#define XGEMM_LIB_GEMM_H

#include "handle.h"
#include "problem/call.h"

/* Its workspace_limit: the caller's workspace in bytes, or SIZE_MAX for the library's own. */
xg_request xg_request_of(const xgemm_handle *handle, const xg_problem *problem);

/*
 * Whether the call is a batch given by pointers that the handle's kernel does not take, and the
 * host can read them: its products run one after the other, by any kernel.
 */
bool xg_runs_one_by_one(const xgemm_handle *handle, const xg_call *call);

/* Checks a call and runs it: all public functions of products end here. */
xgemm_status xg_multiply(xgemm_handle *handle, const xg_call *call, const char *function);

/* The same with ragged groups. */
xgemm_status xg_multiply_groups(xgemm_handle *handle, const xg_call *call, const int64_t *offsets,
                                int64_t groups, const char *function);

/* Logs a call that has ended, keeps its sentence, and gives its status back. */
xgemm_status xg_call_end(xgemm_handle *handle, const xg_call *call, xgemm_status status,
                         const char *function);

/* Checks a call and says what it would run. */
xgemm_status xg_plan_call(xgemm_handle *handle, const xg_call *call, xgemm_plan *plan,
                          const char *function);

#endif
