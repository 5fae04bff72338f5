/* SPDX-License-Identifier: BSD-3-Clause */
#include "workspace.h"

#include <stdlib.h>

struct xg_workspace {
    xg_workspace *next;
    const void *stream; /* its identity */
    void *memory;
    size_t bytes;
    xg_arena *arena; /* NULL: a block of memory */
};

static xgemm_status grow_arena(xg_workspace *of, const xg_backend *backend, xg_device *device,
                               size_t bytes, xg_error *error)
{
    if (!backend->arena_grow)
        return XGEMM_ERROR_NOT_SUPPORTED;
    return backend->arena_grow(device, &of->arena, bytes, &of->memory, error);
}

/* The stream's, or a new one without memory at the end of the list; NULL: the host has none. */
static xg_workspace *workspace_of(xg_workspace **list, const void *stream)
{
    xg_workspace **at = list;
    while (*at && (*at)->stream != stream)
        at = &(*at)->next;
    if (!*at && (*at = calloc(1, sizeof **at)))
        (*at)->stream = stream;
    return *at;
}

/*
 * The block of a device with streams stays, in an entry of its own: queued or captured work may
 * still use it. Else a call has ended when it returns, and the block is released.
 */
static xgemm_status replace_block(xg_workspace *of, const xg_backend *backend, xg_device *device,
                                  size_t bytes, xg_error *error)
{
    void *memory;
    xg_workspace *kept = NULL;
    if (of->memory && backend->has_streams && !(kept = malloc(sizeof *kept)))
        return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "the host is out of memory");
    if (of->memory && !backend->has_streams) {
        backend->release(device, of->memory, NULL);
        of->memory = NULL;
        of->bytes = 0;
    }
    const xgemm_status status = backend->allocate(device, bytes, &memory, error);
    if (status) {
        free(kept);
        return status;
    }
    if (kept) {
        *kept = *of;
        of->next = kept; /* behind the one in use, which is found first */
    }
    of->memory = memory;
    of->bytes = bytes;
    return XGEMM_OK;
}

xgemm_status xg_workspace_get(xg_workspace **list, const xg_backend *backend, xg_device *device,
                              void *stream, size_t bytes, void **memory, xg_error *error)
{
    xg_workspace *const of =
        workspace_of(list, backend->stream_identity ? backend->stream_identity(stream) : stream);
    if (!of)
        return xg_fail(error, XGEMM_ERROR_OUT_OF_MEMORY, "the host is out of memory");
    if (!of->memory || of->bytes < bytes) {
        xgemm_status status = of->memory && !of->arena
                                  ? XGEMM_ERROR_NOT_SUPPORTED
                                  : grow_arena(of, backend, device, bytes, error);
        if (!status)
            of->bytes = bytes;
        if (status == XGEMM_ERROR_NOT_SUPPORTED)
            status = replace_block(of, backend, device, bytes, error);
        if (status)
            return status;
    }
    *memory = of->memory;
    return XGEMM_OK;
}

void xg_workspace_free(xg_workspace **list, const xg_backend *backend, xg_device *device,
                       bool is_done)
{
    while (*list) {
        xg_workspace *of = *list;
        *list = of->next;
        if (of->arena)
            (is_done ? backend->arena_free : backend->arena_keep)(device, of->arena);
        else if (of->memory)
            backend->release(device, of->memory, NULL);
        free(of);
    }
}
