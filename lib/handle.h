/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef XGEMM_LIB_HANDLE_H
#define XGEMM_LIB_HANDLE_H

#include "backend.h"
#include "kernels.h"
#include "plans.h"
#include "workspace.h"

struct xgemm_handle {
    int ordinal;
    const xg_backend *backend;
    xg_device *device;
    int64_t block_shared; /* see xg_request */
    int processors;       /* of the device, for the plan */
    void *stream;
    xgemm_math math;
    const xg_kernel *kernel; /* NULL: chosen for every call */
    const char *last_kernel;
    xg_plans plans;
    xg_workspace *workspaces;
    void *given_workspace; /* the caller's; NULL: the library's own */
    size_t given_bytes;
    xg_error error;
};

/* For a public function's end: keeps the sentence with the function's name before it. */
xgemm_status xg_handle_done(xgemm_handle *handle, xgemm_status status, const char *function);

/* A function was given a NULL handle. */
xgemm_status xg_no_handle(const char *function);

#endif
