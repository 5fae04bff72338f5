/* SPDX-License-Identifier: BSD-3-Clause */
#include "workspace.h"

#include <stdlib.h>

struct xg_workspace {
    xg_workspace *next;
    void *stream, *memory;
    size_t bytes;
};

xgemm_status xg_workspace_get(xg_workspace **list, const xg_backend *backend, xg_device *device,
                              void *stream, size_t bytes, void **memory, xg_error *error)
{
    for (xg_workspace *block = *list; block; block = block->next)
        if (block->stream == stream && block->bytes >= bytes) {
            *memory = block->memory;
            return XGEMM_OK;
        }

    xg_workspace *block = malloc(sizeof *block);
    if (!block)
        return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "the host is out of memory");
    const xgemm_status status = backend->allocate(device, bytes, &block->memory, error);
    if (status) {
        free(block);
        return status;
    }
    block->stream = stream;
    block->bytes = bytes;
    block->next = *list;
    *list = block;
    *memory = block->memory;
    return XGEMM_OK;
}

void xg_workspace_free(xg_workspace **list, const xg_backend *backend, xg_device *device)
{
    while (*list) {
        xg_workspace *block = *list;
        *list = block->next;
        backend->release(device, block->memory, NULL);
        free(block);
    }
}
