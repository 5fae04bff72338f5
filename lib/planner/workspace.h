/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library's own device memory for intermediate results: a workspace for each stream, so that
 * calls on different streams never share it. It grows where it is, and what a graph may have
 * captured stays until the handle ends. Where the device cannot map memory, the block that it grew
 * out of stays, too.
 */
#ifndef XGEMM_LIB_WORKSPACE_H
#define XGEMM_LIB_WORKSPACE_H

#include "backend/backend.h"

typedef struct xg_workspace xg_workspace;

/* At least bytes (> 0) for the stream, in *memory; the list grows at *list. */
xgemm_status xg_workspace_get(xg_workspace **list, const xg_backend *backend, xg_device *device,
                              void *stream, size_t bytes, void **memory, xg_error *error);

/* Frees the workspaces of the list. is_done: no kernel uses them any more; else arenas, which would
   be freed at once, are kept until the device drains. */
void xg_workspace_free(xg_workspace **list, const xg_backend *backend, xg_device *device,
                       bool is_done);

#endif
